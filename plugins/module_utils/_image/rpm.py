# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Packages of Amazon Linux, RHEL and its relatives: dnf or yum, and rpm. Standard library, Python 3.7 and newer."""

from __future__ import annotations

import fnmatch
import os
import re
from typing import Any, Dict, Iterable, List, Mapping, Sequence

from .._node.errors import ApplyRefused
from .package_files import Package, PackageFile, Run, output_of, write_files
from .tree import digest_of

_FIELDS = "%{NAME}\\t%{EPOCH}\\t%{VERSION}-%{RELEASE}\\t%{ARCH}\\n"
_REPOSITORIES = "/etc/yum.repos.d"
_CHANGE = re.compile(r"^ (?P<name>\S+) +\S+ +\S+ +\S+ +[0-9.]+ [kMG]? *$", re.MULTILINE)
_OFFLINE = "--disablerepo=*"
_HELD = {"dnf": "/etc/dnf/plugins/versionlock.list", "yum": "/etc/yum/pluginconf.d/versionlock.list"}
_TIMES = r"/^# Added locks\{0,1\} on /d"


class Rpm:
    """The package manager of a machine. C(run): runs a program. C(name): dnf or yum."""

    def __init__(self, run: Run, name: str) -> None:
        self._run = run
        self._name = name
        # The plugin local adds a repository with packages of earlier installations.
        self._quiet = [name, "-y", "-q", "--disableplugin=local"]
        # The lock of versions must not hide the files that replace them.
        self._install = [*self._quiet, "--disableplugin=versionlock"] + (["--setopt=install_weak_deps=False"] if name == "dnf" else [])

    def installed(self) -> List[Package]:
        """The installed packages."""
        return _packages(output_of(self._run, ["rpm", "-qa", "--qf", _FIELDS], "reading the installed packages"))

    @staticmethod
    def matches(spec: str, package: Package) -> bool:
        """Whether a package is what C(NAME), C(NAME-VERSION) or C(NAME-VERSION-RELEASE) asks for."""
        version = package.version.rpartition(":")[2]
        forms = [
            package.name,
            f"{package.name}-{version.rpartition('-')[0]}",
            f"{package.name}-{version}",
            f"{package.name}-{package.version}",
        ]
        return any(fnmatch.fnmatchcase(form, spec) for form in (*forms, *(f"{form}.{package.architecture}" for form in forms)))

    def resolve(self, specs: Sequence[str], repositories: Sequence[Mapping[str, Any]], folder: str) -> List[PackageFile]:
        """The files that an installation of these packages would fetch. They are fetched to C(folder), to compute their digests."""
        for name in ("repositories", "packages"):
            os.makedirs(os.path.join(folder, name))
        options = [f"--setopt={name}={os.path.join(folder, name)}" for name in ("cachedir", "persistdir", "logdir")]
        write_files(repositories, os.path.join(folder, "repositories"))
        options.append(f"--setopt=reposdir={_REPOSITORIES},{os.path.join(folder, 'repositories')}")
        packages = os.path.join(folder, "packages")
        command = [*self._install, *options, "install", "--downloadonly", f"--downloaddir={packages}", *specs]
        output_of(self._run, command, "resolving the packages")
        files = sorted(os.listdir(packages))
        if not files:
            return []
        paths = [os.path.join(packages, file) for file in files]
        query = output_of(self._run, ["rpm", "-qp", "--nosignature", "--qf", _FIELDS, *paths], "reading the packages")
        found = _packages(query)
        if len(found) != len(files):
            raise ApplyRefused("rpm does not read all of the fetched packages", evidence=query.splitlines()[-12:])
        urls = self._urls(found, options)
        return [
            PackageFile(package, file, _url_of(file, urls), digest_of(path), os.path.getsize(path))
            for package, file, path in zip(found, files, paths)
        ]

    def _urls(self, packages: Iterable[Package], options: Sequence[str]) -> Dict[str, str]:
        """The URLs of packages by the names of their files."""
        names = [f"{one.name}-{one.version}.{one.architecture}" for one in packages]
        # yum has repoquery as a program of its own.
        query = [*self._quiet, "repoquery"] if self._name == "dnf" else ["repoquery", "-q"]
        lines = output_of(self._run, [*query, *options, "--location", *names], "reading the URLs of the packages").split()
        return {os.path.basename(line): line for line in lines if "://" in line}

    def refresh(self) -> None:
        """dnf and yum read the indexes themselves."""

    def would_install(self, specs: Sequence[str]) -> List[str] | None:
        """The names of the packages that an installation would change, None if the repositories cannot be read or do not have them."""
        command = [word for word in self._install if word not in ("-y", "-q")]
        done = self._run([*command, "--assumeno", "install", *specs])
        changed = sorted({match.group("name") for match in _CHANGE.finditer(done.output)})
        return changed if changed or not done.status else None

    def repair(self) -> None:
        """An interrupted transaction is completed by the next one."""

    def install(self, specs: Sequence[str], files: Sequence[str] = (), folder: str = "") -> None:
        """Install packages. folder: if it is given, C(files) are the only source."""
        offline = [_OFFLINE] if folder else []
        output_of(self._run, [*self._install, *offline, "install", *specs, *files], "installing the packages")

    def mark_automatic(self, names: Iterable[str]) -> None:
        """dnf and yum do not remove packages of this kind by themselves."""

    def missing_holds(self, names: Iterable[str], installed: Iterable[Package]) -> List[str]:
        """The packages that are not held at their version yet."""
        done = self._run([*self._quiet, _OFFLINE, "versionlock", "list"])
        # Without the plugin, nothing is held.
        held = set(done.output.split()) if not done.status else set()
        wanted = set(names)
        return sorted(wanted - {one.name for one in installed if one.name in wanted and held.intersection(_entries(one))})

    def hold(self, names: Sequence[str], installed: Iterable[Package]) -> None:
        """Keep the version of packages. An older entry would hide the version that is installed."""
        listed = output_of(self._run, [*self._quiet, _OFFLINE, "versionlock", "list"], "reading the held packages").split()
        old = [entry for entry in listed if any(_is_entry_of(name, entry) for name in names)]
        if old:
            output_of(self._run, [*self._quiet, _OFFLINE, "versionlock", "delete", *old], "releasing the packages")
        output_of(self._run, [*self._quiet, _OFFLINE, "versionlock", "add", *names], "holding the packages")
        # The plugin writes the time above each entry. Without it, two images from one lock are equal. The settings may name another list.
        self._run(["sed", "-i", _TIMES, _HELD[self._name]])


def _packages(output: str) -> List[Package]:
    rows = [row.split("\t") for row in output.splitlines()]
    found = []
    for row in rows:
        # Keys of repositories are packages, too.
        if len(row) == 4 and row[0] != "gpg-pubkey":
            name, epoch, version, architecture = row
            found.append(Package(name, version if epoch in ("(none)", "0") else f"{epoch}:{version}", architecture))
    return found


def _url_of(file: str, urls: Mapping[str, str]) -> str:
    if file not in urls:
        raise ApplyRefused(f"the repositories do not tell the URL of {file}", "make the lock again")
    return urls[file]


def _entries(package: Package) -> List[str]:
    """The entry of versionlock for a package, as dnf and as yum write it."""
    epoch, version = package.version.split(":", 1) if ":" in package.version else ("0", package.version)
    return [f"{package.name}-{epoch}:{version}.*", f"{epoch}:{package.name}-{version}.*"]


def _is_entry_of(name: str, entry: str) -> bool:
    return re.match(rf"(?:{re.escape(name)}-[0-9]+:|[0-9]+:{re.escape(name)}-[0-9][^-]*-[^-]*\.\*\Z)", entry) is not None

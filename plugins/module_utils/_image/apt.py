# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Packages of Debian and Ubuntu: apt-get, apt-mark and dpkg. Standard library, Python 3.7 and newer."""

from __future__ import annotations

import fnmatch
import os
import re
import shutil
from typing import Any, Dict, Iterable, List, Mapping, Sequence
from urllib.parse import unquote

from .._node.errors import ApplyRefused
from .._node.redaction import redact_string
from .package_files import Package, PackageFile, Run, output_of, write_files

_SOURCES = "/etc/apt/sources.list.d"
_LINE = re.compile(r"'(?P<url>[^']+)' (?P<file>\S+) (?P<size>[0-9]+) SHA256:(?P<sha256>[0-9a-f]{64})\Z")
_INSTALL = re.compile(r"^(?:Inst|Remv) (?P<name>\S+)", re.MULTILINE)

_OPTIONS = (
    *("-o", "APT::Install-Recommends=false"),
    *("-o", "APT::Sandbox::User=root"),
    *("-o", "DPkg::Lock::Timeout=300"),
    *("-o", "Dpkg::Options::=--force-confdef"),
    *("-o", "Dpkg::Options::=--force-confold"),
)
"""No recommended packages. Configuration files that were changed stay. Another run of apt, such as at boot, is waited for."""


class Apt:
    """The package manager of a machine. C(run): runs a program."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def installed(self) -> List[Package]:
        """The packages that are installed completely."""
        fields = "${Package}\\t${Version}\\t${Architecture}\\t${db:Status-Abbrev}\\n"
        rows = output_of(self._run, ["dpkg-query", "-W", "-f", fields], "reading the installed packages").splitlines()
        found = [row.split("\t") for row in rows]
        return [Package(*row[:3]) for row in found if len(row) == 4 and row[3][1:3] == "i "]

    @staticmethod
    def matches(spec: str, package: Package) -> bool:
        """Whether a package is what C(NAME) or C(NAME=VERSION) asks for."""
        name, _equals, version = spec.partition("=")
        name, _colon, architecture = name.partition(":")
        has_version = not version or fnmatch.fnmatchcase(package.version, version)
        return package.name == name and has_version and architecture in ("", package.architecture)

    def resolve(self, specs: Sequence[str], repositories: Sequence[Mapping[str, Any]], folder: str) -> List[PackageFile]:
        """The files that an installation of these packages would fetch. Everything that apt writes is below C(folder)."""
        for name in ("sources", "lists/partial", "cache/archives/partial"):
            os.makedirs(os.path.join(folder, name))
        sources = os.path.join(folder, "sources")
        for name in os.listdir(_SOURCES) if os.path.isdir(_SOURCES) else ():
            shutil.copy(os.path.join(_SOURCES, name), sources)
        write_files(repositories, sources)
        own = {
            "Dir::Etc::SourceParts": sources,
            "Dir::State::Lists": os.path.join(folder, "lists"),
            "Dir::Cache": os.path.join(folder, "cache"),
            "Acquire::ForceHash": "SHA256",
            "Debug::NoLocking": "true",
        }
        options = [*_OPTIONS, *(word for name, value in own.items() for word in ("-o", f"{name}={value}"))]
        output_of(self._run, ["apt-get", *options, "-o", "APT::Update::Error-Mode=any", "update"], "reading the indexes of the packages")
        command = ["apt-get", *options, "-qq", "-y", "--print-uris", "--no-remove", "install", *specs]
        lines = output_of(self._run, command, "resolving the packages").splitlines()
        return [_package_file(line) for line in lines if line.startswith("'")]

    def refresh(self) -> None:
        """Read the indexes of the configured repositories."""
        output_of(self._run, ["apt-get", *_OPTIONS, "-qq", "update"], "reading the indexes of the packages")

    def would_install(self, specs: Sequence[str]) -> List[str] | None:
        """The names of the packages that an installation would change, None if the indexes do not have them."""
        done = self._run(["apt-get", *_OPTIONS, "-qq", "-s", "install", *specs])
        return None if done.status else sorted(set(_INSTALL.findall(done.output)))

    def repair(self) -> None:
        """Finish an installation that was interrupted."""
        if self._run(["dpkg", "--audit"]).output.strip() or _is_interrupted():
            output_of(self._run, ["dpkg", "--configure", "-a", "--force-confdef", "--force-confold"], "finishing an earlier installation")

    def install(self, specs: Sequence[str], files: Sequence[str] = (), folder: str = "") -> None:
        """Install packages. folder: if it is given, an empty directory; then C(files) are the only source."""
        options = list(_OPTIONS)
        if folder:
            for name in ("sources", "lists/partial"):
                os.makedirs(os.path.join(folder, name))
            own = {
                "Dir::Etc::SourceList": "/dev/null",
                "Dir::Etc::SourceParts": os.path.join(folder, "sources"),
                "Dir::State::Lists": os.path.join(folder, "lists"),
                "Dir::Cache::pkgcache": "",
                "Dir::Cache::srcpkgcache": "",
            }
            options += [word for name, value in own.items() for word in ("-o", f"{name}={value}")]
        allowed = ("--no-remove", "--allow-change-held-packages")
        output_of(self._run, ["apt-get", *options, "-q", "-y", *allowed, "install", *specs, *files], "installing the packages")

    def mark_automatic(self, names: Iterable[str]) -> None:
        """Record that packages were installed only because others need them."""
        listed = sorted(set(names))
        if listed:
            output_of(self._run, ["apt-mark", "-qq", "auto", *listed], "marking the dependencies")

    def missing_holds(self, names: Iterable[str], installed: Iterable[Package]) -> List[str]:
        """The packages that are not held at their version yet."""
        held = set(output_of(self._run, ["apt-mark", "showhold"], "reading the held packages").split())
        return sorted(set(names) - held)

    def hold(self, names: Sequence[str], installed: Iterable[Package]) -> None:
        """Keep the version of packages."""
        output_of(self._run, ["apt-mark", "-qq", "hold", *names], "holding the packages")


def _is_interrupted() -> bool:
    """Whether dpkg has a journal of an interrupted run, with which apt refuses to start."""
    folder = "/var/lib/dpkg/updates"
    return os.path.isdir(folder) and any(name.isdigit() for name in os.listdir(folder))


def _package_file(line: str) -> PackageFile:
    match = _LINE.match(line)
    if match is None:
        raise ApplyRefused(f"the index has no SHA-256 digest for a package: {redact_string(line)}", "use a repository with SHA-256 digests")
    found: Dict[str, str] = match.groupdict()
    if not found["url"].startswith(("http://", "https://", "file:")):
        raise ApplyRefused(f"{redact_string(found['url'])} cannot be fetched later", "use a repository with an http, https or file URL")
    # A repository without suites has a dot as the directory of its packages.
    url = re.sub(r"^file:/+", "file:///", found["url"]).replace("/./", "/")
    name, version, architecture = (unquote(part) for part in found["file"][: -len(".deb")].split("_"))
    return PackageFile(Package(name, version, architecture), found["file"], url, found["sha256"], int(found["size"]))

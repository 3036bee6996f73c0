# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Locks and installs the packages of an image. Standard library, Python 3.7 and newer."""

from __future__ import annotations

import os
from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, Sequence, Union

from .._node.errors import ApplyRefused
from .apt import Apt
from .package_files import Package, PackageFile, Run, check_files, of_lock, to_lock
from .rpm import Rpm

Manager = Union[Apt, Rpm]

_DIRECTORY = "packages"
"""The directory with the package files, in the folder of a lock."""

_MAKE_AGAIN = "make the lock again on this machine (tasks_from: lock)"


class Request(NamedTuple):
    """What an image has. C(specs): names, and names with versions. C(held): packages that keep their version.

    C(lock): the document of a lock, None without one. C(folder): the directory with the files of the lock.
    """

    specs: Sequence[str]
    held: Sequence[str]
    lock: Mapping[str, Any] | None
    folder: str


class Outcome(NamedTuple):
    """C(installed): what was or would be installed. C(missing): the files of the lock for it. C(held): the packages that were held."""

    changed: bool
    installed: List[str]
    missing: List[str]
    held: List[str]


def manager_of(family: str, run: Run) -> Manager:
    """The package manager of a family."""
    return Apt(run) if family == "ubuntu" else Rpm(run, "yum" if family == "al2" else "dnf")


def lock(manager: Manager, specs: Sequence[str], repositories: Sequence[Mapping[str, Any]], folder: str) -> List[Dict[str, Any]]:
    """The entries of a lock for packages and everything that they need and the machine lacks. Changes only C(folder)."""
    return [to_lock(one) for one in manager.resolve(specs, repositories, folder)]


def apply(manager: Manager, request: Request, system: Mapping[str, str], scratch: str, check_mode: bool) -> Outcome:
    """Install what is missing, and hold it. Raises ApplyRefused.

    system: of the machine, as in a lock. scratch: an empty directory.
    """
    files = [] if request.lock is None else _files_for(request.lock, system)
    before = manager.installed()
    missing = [one for one in files if one.package not in set(before)]
    unknown = _unmatched(manager, request.specs, [*before, *(one.package for one in files)])
    if request.lock is None:
        installed = _from_repositories(manager, unknown, check_mode)
    else:
        installed = [str(one.package) for one in missing]
        if not check_mode and (missing or unknown):
            _from_files(manager, request, missing, unknown, scratch)
    after = before if check_mode else manager.installed()
    if not check_mode and set(after) != set(before):
        installed = sorted(map(str, set(after) - set(before)))
    held = manager.missing_holds(request.held, after)
    if held and not check_mode:
        manager.hold(held, after)
    return Outcome(bool(installed or held or set(after) != set(before)), installed, [f"{_DIRECTORY}/{one.file}" for one in missing], held)


def _unmatched(manager: Manager, specs: Iterable[str], packages: Sequence[Package]) -> List[str]:
    """What no package matches by its name. It may still be what a package provides."""
    return [spec for spec in specs if not any(manager.matches(spec, package) for package in packages)]


def _files_for(document: Mapping[str, Any], system: Mapping[str, str]) -> List[PackageFile]:
    """The package files of a lock that was made on this system. Raises ApplyRefused for another one."""
    if dict(document["system"]) != dict(system):
        names = ("id", "version_id", "architecture")
        made, here = (" ".join(one[name] for name in names) for one in (document["system"], system))
        raise ApplyRefused(f"the lock was made on {made}, and this machine is {here}", f"use the system of the lock, or {_MAKE_AGAIN}")
    return [of_lock(entry) for entry in document["packages"]]


def _from_repositories(manager: Manager, specs: Sequence[str], check_mode: bool) -> List[str]:
    """Install from the configured repositories. Returns what check mode knows of the changes."""
    if not specs:
        return []
    if check_mode:
        names = manager.would_install(specs)
        # A machine that has never read the indexes cannot find any package.
        return list(specs) if names is None else names
    manager.repair()
    manager.refresh()
    manager.install(specs)
    return []


def _from_files(manager: Manager, request: Request, missing: Sequence[PackageFile], unknown: Sequence[str], scratch: str) -> None:
    """Install from files of a lock, and from nothing else. Raises ApplyRefused before anything changes if a file is not right."""
    packages = os.path.join(request.folder, _DIRECTORY)
    problems = check_files(packages, missing)
    if problems:
        raise ApplyRefused("files of the lock are missing or damaged; nothing is installed", "copy them again", problems)
    manager.repair()
    try:
        manager.install(unknown, [os.path.join(packages, one.file) for one in missing], scratch)
    except ApplyRefused as error:
        fix = f"if a package is missing, the machine differs from the one of the lock: {_MAKE_AGAIN}"
        raise ApplyRefused(f"{error.cause}; only the files of the lock are used", fix, error.evidence) from None
    left = {one.package for one in missing} - set(manager.installed())
    if left:
        raise ApplyRefused(
            "packages of the lock are not installed",
            f"see whether the machine is the one of the lock, or {_MAKE_AGAIN}",
            sorted(map(str, left)),
        )
    manager.mark_automatic(one.package.name for one in missing if not any(manager.matches(spec, one.package) for spec in request.specs))

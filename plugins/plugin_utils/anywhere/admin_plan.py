# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of an admin machine: what the tasks of the role eks_anywhere_admin_machine do, as plain data. Nothing is read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..errors import Problems, SpecError, joined, nearest
from .admin_tools import ToolSource, check_tools
from .clusterctl_config import PROVIDERS
from .preflight_machine import INSTANCES, WATCHES
from .schema import check_type, is_rejected

INSTALL, CHECK = "install", "check"
PATH, SYSTEM = "admin_machine", "system"
"""What paths in messages begin with."""

SYSCTL_FILE = "/etc/sysctl.d/99-eks-anywhere.conf"
CERT_MANAGER = "cert-manager"
_LIMITS = {"max_user_watches": WATCHES, "max_user_instances": INSTANCES}
_LARGEST_LIMIT = 2**31 - 1
_FILES = {one.label: one.components for one in PROVIDERS}
_KINDS = ("bootstrap", "control-plane", "infrastructure")
_DOCKER_GROUP = "docker"

_APT, _DNF, _YUM = "ubuntu", "al2023", "al2"
"""How the module image_packages names the package managers."""

_SYSTEMS: Mapping[str, tuple[str, str | None]] = {
    "debian": (_APT, "docker.io"),
    "ubuntu": (_APT, "docker.io"),
    "amzn": (_DNF, "docker"),
    "fedora": (_DNF, "moby-engine"),
    **dict.fromkeys(("almalinux", "centos", "ol", "rhel", "rocky"), (_DNF, None)),
}
"""C(ID) of os-release → the package manager and the package of Docker. Red Hat and its relatives have Podman only."""

_USER = re.compile(r"[a-z_][a-z0-9_-]{0,31}", re.ASCII)
_PACKAGE = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9+._:~=-]*", re.ASCII)
_LABEL = re.compile(r"[a-z][a-z0-9-]*[a-z0-9]", re.ASCII)
_VERSION = re.compile(r"v\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?", re.ASCII)
_FOLDER = re.compile(r"(?:~|/)[^\x00-\x1f\x7f]*")


def admin_plan(machine: Any, system: Any) -> dict[str, Any]:
    """The plan of an admin machine. Raises C(SpecError) with all problems.

    machine: the variables of the role. system: what the machine is: id and version_id of os-release, and the limits of inotify that are
    in force.
    """
    problems = Problems()
    given, facts = check_type(machine, "@admin_machine", PATH, problems), check_type(system, "@admin_system", SYSTEM, problems)
    if not isinstance(given, dict) or not isinstance(facts, dict):
        raise SpecError(problems)
    user = given.get("user") or "root"
    if not _USER.fullmatch(user) and not problems.touches(f"{PATH}.user"):
        problems.add("anywhere.admin_machine", f"{PATH}.user", "is not the name of a user", value=user, allowed="such as admin")
    folders = {name: _folder(given.get(name), name, user, problems) for name in ("work_dir", "tools_dir", "repository")}
    plan = {
        **_docker(given, facts, problems),
        "user": user,
        # root may use Docker without the group.
        "groups": [] if user == "root" else [_DOCKER_GROUP],
        "sysctl": _sysctl(given, facts, problems),
        "tools_dir": folders["tools_dir"],
        "tools": [_tool(one) for one in check_tools(given.get("tools") or (), f"{PATH}.tools", problems)],
        **_repository(given, folders["repository"], user, problems),
    }
    work_dir = {"path": folders["work_dir"], "mode": "0700", "owner": user}
    plan["directories"] = [work_dir, *plan["directories"]]
    problems.raise_any()
    return plan


def _folder(text: str | None, name: str, user: str, problems: Problems) -> str | None:
    """The path of a folder. A path that begins with C(~/) is in the home of the user, which modules find on the machine."""
    path = f"{PATH}.{name}"
    if not text:
        if name != "repository" and not problems.touches(path):
            problems.add("input.missing_field", path, "is required", fix="add the path of the folder")
        return None
    is_path = _FOLDER.fullmatch(text) and (text.startswith(("/", "~/"))) and ".." not in text.split("/")
    if not is_path or not text.strip("/"):
        allowed = "an absolute path, or a path such as ~/eks-anywhere, without .. and control characters"
        problems.add("anywhere.admin_machine", path, "is not the path of a folder", value=text, allowed=allowed)
        return None
    return (f"~{user}{text[1:]}" if text.startswith("~") else text).rstrip("/")


def _docker(given: Mapping[str, Any], facts: Mapping[str, Any], problems: Problems) -> dict[str, Any]:
    mode = given.get("docker", INSTALL)
    path = f"{PATH}.docker"
    named = [one for one in given.get("docker_packages") or () if one]
    for index, one in enumerate(given.get("docker_packages") or ()):
        place = joined(f"{PATH}.docker_packages", index)
        if not _PACKAGE.fullmatch(one) and not problems.touches(place):
            problems.add("anywhere.admin_machine", place, "is not the name of a package", value=one, allowed="a name such as docker.io")
    if mode not in (INSTALL, CHECK):
        if not problems.touches(path):
            guess, allowed = nearest(mode, (INSTALL, CHECK)), f"{INSTALL}, {CHECK}"
            problems.add("input.unknown_value", path, "is not a known value", value=mode, allowed=allowed, nearest=guess)
        return _no_docker(is_checked=False)
    if mode == CHECK:
        if named:
            message = f"has packages, and docker is {CHECK}, so that nothing is installed"
            problems.add("input.conflict", f"{PATH}.docker_packages", message, fix=f"remove them, or set docker to {INSTALL}")
        return _no_docker(is_checked=True)
    manager, package = _packages_of(facts)
    distribution = facts.get("id") or "the distribution"
    if is_rejected(SYSTEM, problems) or problems.touches(SYSTEM):
        return _no_docker(is_checked=False)
    if manager is None:
        message = f"is {INSTALL}, and the collection does not know the packages of {distribution}"
        problems.add("anywhere.admin_machine", path, message, fix=f"install Docker, and set docker to {CHECK}")
    elif package is None and not named:
        message = f"is {INSTALL}, and {distribution} has no package of Docker"
        fix = f"add the repository of Docker and set docker_packages, such as [docker-ce], or install Docker and set docker to {CHECK}"
        problems.add("anywhere.admin_machine", path, message, fix=fix)
    packages = named or ([package] if package else [])
    return {"package_family": manager, "packages": packages, "docker_service": "docker.service", "checks_docker": False}


def _no_docker(*, is_checked: bool) -> dict[str, Any]:
    return {"package_family": None, "packages": [], "docker_service": None, "checks_docker": is_checked}


def _packages_of(facts: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """The package manager of a system, and the name of its package of Docker."""
    system = facts.get("id") or ""
    manager, package = _SYSTEMS.get(system, (None, None))
    return (_YUM if system == "amzn" and facts.get("version_id") == "2" else manager), package


def _sysctl(given: Mapping[str, Any], facts: Mapping[str, Any], problems: Problems) -> dict[str, Any]:
    """The limits of inotify. A limit that is higher already is kept, so that other programs of the machine do not lose theirs."""
    limits, current = given.get("inotify") or {}, facts.get("inotify") or {}
    values = {}
    for name, default in _LIMITS.items():
        wanted = _limit(limits.get(name, default), f"{PATH}.inotify.{name}", problems)
        values[name] = max(wanted, _limit(current.get(name, 0), f"{SYSTEM}.inotify.{name}", problems))
    lines = ["# Written by Ansible: nodes of kind run out of inotify watches with the defaults of distributions."]
    lines += [f"fs.inotify.{name} = {value}" for name, value in values.items()]
    return {"path": SYSCTL_FILE, "content": "\n".join(lines) + "\n", "limits": values}


def _limit(value: Any, path: str, problems: Problems) -> int:
    number = int(value) if isinstance(value, int) or (isinstance(value, str) and value.isascii() and value.isdecimal()) else -1
    if not 0 <= number <= _LARGEST_LIMIT:
        problems.add("input.out_of_range", path, "is not a limit", value=value, allowed=f"0 to {_LARGEST_LIMIT}")
        return 0
    return number


def _tool(one: ToolSource) -> dict[str, Any]:
    return {name: value for name, value in vars(one).items() if value is not None}


def _repository(given: Mapping[str, Any], folder: str | None, user: str, problems: Problems) -> dict[str, Any]:
    """The files of the providers in the layout LABEL/VERSION/FILE, which clusterctl reads."""
    rows = given.get("providers") or []
    if rows and folder is None and not problems.touches(f"{PATH}.repository"):
        problems.add("input.missing_field", f"{PATH}.repository", "is required for providers", fix="add the folder for their files")
    files: list[dict[str, str]] = []
    directories = [folder or ""] if folder else []
    seen: set[tuple[str, str]] = set()
    for index, row in enumerate(rows):
        path = joined(f"{PATH}.providers", index)
        if problems.touches(path):
            continue
        label, version = row["name"], row["version"]
        name = _components(label, joined(path, "name"), problems)
        if not _VERSION.fullmatch(version):
            problems.add("anywhere.admin_machine", joined(path, "version"), "is not a version", value=version, allowed="such as v1.13.4")
            continue
        if (label, version) in seen:
            problems.add("anywhere.admin_machine", path, "is there twice", value=f"{label} {version}", fix="remove one of the two")
        seen.add((label, version))
        if label == CERT_MANAGER and row.get("metadata"):
            problems.add("anywhere.admin_machine", joined(path, "metadata"), f"is not read for {CERT_MANAGER}", fix="remove it")
        elif label != CERT_MANAGER and not row.get("metadata"):
            fix = "add the path of the metadata.yaml of the release: clusterctl refuses a provider without it"
            problems.add("input.missing_field", joined(path, "metadata"), "is required", fix=fix)
        if name is None or folder is None:
            continue
        below = f"{folder}/{label}/{version}"
        directories += [f"{folder}/{label}", below]
        files.append({"source": row["components"], "path": f"{below}/{name}"})
        if row.get("metadata"):
            files.append({"source": row["metadata"], "path": f"{below}/metadata.yaml"})
    return {
        "directories": [{"path": one, "mode": "0755", "owner": user} for one in dict.fromkeys(directories)],
        "files": [{**one, "mode": "0644", "owner": user} for one in files],
    }


def _components(label: str, path: str, problems: Problems) -> str | None:
    """The name of the file with the objects of a provider. Its folder has the label that clusterctl gives the provider."""
    if label == CERT_MANAGER:
        return f"{CERT_MANAGER}.yaml"
    if label in _FILES:
        return _FILES[label]
    kind = next((one for one in _KINDS if label.startswith(f"{one}-")), None)
    if kind is None or not _LABEL.fullmatch(label):
        known = (*_FILES, CERT_MANAGER)
        allowed = f"{', '.join(known)}, or another provider such as infrastructure-vsphere"
        message = "is not the label of a provider of clusterctl"
        problems.add("anywhere.admin_machine", path, message, value=label, allowed=allowed, nearest=nearest(label, known))
        return None
    return f"{kind}-components.yaml"

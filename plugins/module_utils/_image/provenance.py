# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an image was built from, and what the build put there. Standard library, Python 3.7 and newer.

The same inputs give the same document: it contains no time, no random values, and nothing about the builder and the controller.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import tarfile
from contextlib import suppress
from typing import Any, Dict, Iterable, Iterator, List, Mapping, NamedTuple

from .._node import program_versions, redaction
from .._node.errors import ApplyRefused
from .._node.host import Host, read_os_release
from .tree import digest_of

COLLECTION = {"name": "nodebootstrap.eks", "version": "0.1.0"}
"""The version is that of galaxy.yml: a test compares them."""

PROVENANCE = "/etc/eks/image-provenance.json"
SBOM = "/etc/eks/image-sbom.cdx.json"
FORMAT = 1

CACHE = "/var/cache/eks-node-image/downloads"
IMAGE_FILES = (
    "/etc/systemd/system/eks-node-image-import.service",
    "/usr/libexec/eks-node-image/import-images",
    "/var/lib/eks-node-image/images/images.list",
)
"""The files that import container images at boot."""

_IMAGES = "/var/lib/eks-node-image/images"
Entry = Dict[str, Any]


class Package(NamedTuple):
    """An installed package. C(architecture): as the package manager calls it."""

    name: str
    version: str
    architecture: str


class _Lock(NamedTuple):
    """What a lock adds to a plan. C(packages): the names of the packages of the plan and of their dependencies. C(urls): by digest."""

    packages: List[str]
    urls: Dict[str, str]


def document(host: Host, plan: Mapping[str, Any], lock: str | None, previous: Mapping[str, Any]) -> Entry:
    """The content of C(PROVENANCE). C(lock): the text of inputs.lock. C(previous): the content of an earlier run, or {}."""
    release = read_os_release(host)
    locked = _read_lock(lock)
    programs = [_program(host, download, locked.urls, previous) for download in plan["downloads"]]
    files = [*_paths(plan), *(path for program in programs for path in program["files"])]
    return {
        "format": FORMAT,
        "collection": dict(COLLECTION),
        "family": plan["family"],
        "kubernetes_version": plan["kubernetes_version"],
        "system": {"id": release.get("ID", ""), "version_id": release.get("VERSION_ID", ""), "architecture": plan["architecture"]},
        "lock": None if lock is None else hashlib.sha256(lock.encode("utf-8")).hexdigest(),
        "programs": sorted(programs, key=lambda program: str(program["name"])),
        "packages": [package._asdict() for package in installed_packages(host, plan["family"], [*plan["packages"], *locked.packages])],
        "container_images": [_container_image(image, plan["image_import"]) for image in plan["images"]],
        "files": [entry for path in sorted(set(files)) for entry in [describe(host, path)] if entry],
    }


def text(content: Mapping[str, Any]) -> str:
    """A document as the text of a file."""
    return json.dumps(content, indent=2, sort_keys=True) + "\n"


def read(host: Host, path: str = PROVENANCE) -> Dict[str, Any]:
    """The document of an earlier run, {} without one."""
    with suppress(ValueError):
        found = json.loads(host.text(path) or "null")
        return found if isinstance(found, dict) else {}
    return {}


# --- what was installed ------------------------------------------------------------------------------------------------------------------


def _program(host: Host, download: Mapping[str, Any], urls: Mapping[str, str], previous: Mapping[str, Any]) -> Entry:
    """A program of the plan. C(files): the paths that it was installed to."""
    version = {"containerd": program_versions.of_containerd, "kubelet": program_versions.of_kubelet}.get(download["name"])
    found = version(host) if version else None
    return {
        "name": download["name"],
        "file": download["file"],
        "url": redaction.public_url(urls.get(download["sha256"]) or download["url"] or ""),
        "sha256": download["sha256"],
        "version": found.version if found else None,
        "files": [download["dest"]] if download["kind"] == "file" else _unpacked(host, download, previous),
    }


def _unpacked(host: Host, download: Mapping[str, Any], previous: Mapping[str, Any]) -> List[str]:
    """The files of an archive on the machine. After the first run, the archive is not there any more."""
    path = host.path(f"{CACHE}/{download['file']}")
    wanted = {os.path.normpath(name) for name in download["members"]}
    try:
        with tarfile.open(path) as archive:
            names = sorted({os.path.normpath(member.name) for member in archive if not member.isdir()})
        return [f"{download['dest']}/{name}" for name in names if not wanted or name in wanted]
    except FileNotFoundError:
        programs = previous.get("programs") or []
        same = [one for one in programs if (one.get("name"), one.get("sha256")) == (download["name"], download["sha256"])]
        return list(same[0].get("files") or []) if same else []
    except (OSError, tarfile.TarError) as error:
        raise ApplyRefused(f"{CACHE}/{download['file']} cannot be read: {error}") from error


def _container_image(image: Mapping[str, Any], how: str) -> Entry:
    return {"name": image["name"], "file": image["file"], "sha256": image["sha256"], "pinned": image["pinned"], "import": how}


def _read_lock(lock: str | None) -> _Lock:
    try:
        content = json.loads(lock or "{}")
        urls = {str(one["sha256"]): str(one["url"]) for one in content.get("downloads", [])}
        return _Lock([str(package["name"]) for package in content.get("packages", [])], urls)
    except (ValueError, AttributeError, KeyError, TypeError) as error:
        raise ApplyRefused("the lock does not have the form of inputs.lock", "make the lock again (tasks_from: lock)") from error


def installed_packages(host: Host, family: str, specs: Iterable[str]) -> List[Package]:
    """The installed packages among those of a plan, which may have versions."""
    names = sorted({spec.partition("=")[0] for spec in specs})
    if not names:
        return []
    if family == "ubuntu":
        command = ["dpkg-query", f"--admindir={host.path('/var/lib/dpkg')}", "-W", "-f", "${Package}\\t${Version}\\t${Architecture}\\n"]
    else:
        command = ["rpm", "--root", host.path("") or "/", "-q", "--qf", "%{NAME}\\t%{EVR}\\t%{ARCH}\\n"]
    # The status is not 0 if one of the packages is not installed.
    rows = [line.split("\t") for line in host.run_program([*command, *names]).output.splitlines()]
    return sorted({Package(*row) for row in rows if len(row) == 3 and row[1]})


def _paths(plan: Mapping[str, Any]) -> Iterator[str]:
    """The paths that the plan writes, without those of archives."""
    for name in ("repositories", "certificates", "files", "links", "version_files"):
        yield from (entry["path"] for entry in plan.get(name, ()))
    if plan["image_import"] == "boot" and plan["images"]:
        yield from IMAGE_FILES
        yield from (f"{_IMAGES}/{image['file']}" for image in plan["images"])


# --- files -------------------------------------------------------------------------------------------------------------------------------


def describe(host: Host, path: str) -> Entry:
    """The mode and digest of a file, or the target of a link. {} if there is neither, for example in check mode."""
    real = host.path(path)
    try:
        found = os.lstat(real)
        if stat.S_ISLNK(found.st_mode):
            return {"path": path, "link": os.readlink(real)}
        if not stat.S_ISREG(found.st_mode):
            return {}
        return {"path": path, "mode": f"{stat.S_IMODE(found.st_mode):04o}", "sha256": digest_of(real)}
    except OSError:
        return {}

# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of an image: what the tasks of the role eks_node_image install, as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ..artifacts import trust
from ..artifacts.model import File
from ..errors import Problems, SpecError
from ..model.checks import shows_secret
from . import files, packages
from .model import Builder, ContainerImage, Image, Source, check_builder, parse, parse_builder

_PROGRAMS = {
    "aws_iam_authenticator": "/usr/bin/aws-iam-authenticator",
    "ecr_credential_provider": f"{files.CREDENTIAL_PROVIDER}/ecr-credential-provider",
    "kubelet": "/usr/bin/kubelet",
    "nodeadm": "/usr/bin/nodeadm",
    "runc": "/usr/sbin/runc",
}
"""The path of each program."""

_ARCHIVES: dict[str, tuple[str, list[str]]] = {
    "cni_plugins": ("/opt/cni/bin", []),
    "containerd": ("/usr", []),
    "crictl": ("/usr/bin", ["crictl"]),
}
"""Where each archive is unpacked, and its members; an empty list means all."""

_RECORDS = "/var/lib/nodebootstrap/image"
"""Files that say which archive is unpacked."""

_DIRECTORIES = ("/etc/cni/net.d", "/etc/containerd/certs.d", "/etc/eks", "/etc/kubernetes/pki", "/opt/cni/bin", "/var/lib/kubelet")
_EXISTING = {
    "",
    "/etc",
    "/etc/apt/sources.list.d",
    "/etc/modules-load.d",
    "/etc/pki/rpm-gpg",
    "/etc/sysctl.d",
    "/etc/systemd/system",
    "/etc/yum.repos.d",
    "/usr",
    "/usr/bin",
    "/usr/sbin",
}
"""Directories that every system with a given package manager has."""

_VERSION_FILES = {"containerd": "/usr/bin/containerd", "kubelet": "/usr/bin/kubelet"}


def image_plan(image: Any, builder: Any, inputs: Any = None) -> dict[str, Any]:
    """Return the plan of the description C(image) on C(builder) (id, version_id, architecture). Raises C(SpecError).

    inputs: a directory on the controller with all downloads, below C(downloads). By default they come from their places.
    """
    problems = Problems()
    parsed, machine = parse(image, problems), parse_builder(builder, problems)
    if inputs is not None and not isinstance(inputs, str):
        problems.add("input.wrong_type", "inputs", "must be the path of a directory", fix="write the directory that was fetched")
    if parsed is not None and machine is not None:
        check_builder(parsed, machine, problems)
    problems.withhold_values(shows_secret)
    problems.raise_any()
    if parsed is None or machine is None:
        raise SpecError(problems)
    return _plan(parsed, machine, inputs)


def _plan(image: Image, builder: Builder, inputs: str | None) -> dict[str, Any]:
    texts = files.files(image, builder)
    kept = packages.held(image, builder)
    repositories = list(packages.repository_files(image))
    downloads = [_download(name, source, inputs) for name, source in image.programs.items()]
    certificates = files.certificates(image)
    return {
        "family": image.family,
        "kubernetes_version": image.kubernetes_version,
        "architecture": builder.architecture,
        "environment": image.build_proxy.variables_for_commands() if image.build_proxy else {},
        "repositories": [_file(one) for one in repositories],
        "certificates": [_file(one) for one in certificates],
        "packages": packages.packages(image, builder),
        "held": kept,
        "directories": _directories([*texts, *repositories, *certificates], downloads),
        "downloads": downloads,
        "files": [_file(one) for one in texts],
        "has_secrets": any(file.mode.endswith("00") for file in texts),
        "links": _links(image),
        "modules": files.modules(image),
        "trust_command": list(trust.update_command(image.family)) if image.trust else [],
        "version_files": [
            {"command": [path, "--version"], "path": f"/etc/eks/{name}-version.txt"}
            for name, path in _VERSION_FILES.items()
            if name in {*image.programs, *kept}
        ],
        "services": _services(image),
        "images": [_container_image(one, inputs) for one in _images(image)],
        "image_import": image.image_import,
    }


def _download(name: str, source: Source, inputs: str | None) -> dict[str, Any]:
    is_archive = source.is_archive
    dest, members = _ARCHIVES[name] if is_archive else (_PROGRAMS.get(name, f"/usr/bin/{name}"), [])
    return {
        "name": name,
        **_place(source, inputs),
        "kind": "archive" if is_archive else "file",
        "dest": dest,
        "mode": "0755",
        "members": members,
        "record": f"{_RECORDS}/{name}.sha256" if is_archive else None,
    }


def _place(source: Source, inputs: str | None) -> dict[str, Any]:
    found = {"file": source.file, "url": source.url, "path": source.path, "sha256": source.sha256}
    return found if inputs is None else {**found, "url": None, "path": f"{inputs}/downloads/{source.file}"}


def _file(file: File) -> dict[str, Any]:
    return {"path": file.path, "content": file.content, "mode": file.mode}


def _directories(texts: Iterable[File], downloads: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The directories that may be missing, parents first. C(mode) is None if the directory only needs to exist."""
    parents = {file.path.rpartition("/")[0] for file in texts}
    parents |= {one["dest"] if one["kind"] == "archive" else one["dest"].rpartition("/")[0] for one in downloads}
    modes = {**dict.fromkeys(parents - _EXISTING), **dict.fromkeys(_DIRECTORIES, "0755")}
    return [{"path": path, "mode": modes[path]} for path in sorted(modes)]


def _links(image: Image) -> list[dict[str, str]]:
    if image.family != "al2023":
        return []
    # The rules of amazon-ec2-net-utils for more interfaces conflict with the VPC CNI, which has rules of its own.
    return [{"path": "/etc/udev/rules.d/99-vpc-policy-routes.rules", "target": "/dev/null"}]


def _services(image: Image) -> list[dict[str, Any]]:
    enabled = ["chrony.service" if image.family == "ubuntu" else "chronyd.service", "containerd.service"]
    if "nodeadm" in image.programs:
        enabled += ["nodeadm-boot-hook.service", "nodeadm-config.service", "nodeadm-run.service"]
    found = {name: True for name in enabled}
    if "kubelet" in image.programs:
        # The bootstrap of a node starts it when its configuration is complete.
        found["kubelet.service"] = False
    return [{"name": name, "enabled": is_enabled, "masked": False} for name, is_enabled in sorted(found.items())]


def _images(image: Image) -> Iterator[ContainerImage]:
    if image.pause_image:
        yield image.pause_image
    yield from image.images


def _container_image(image: ContainerImage, inputs: str | None) -> dict[str, Any]:
    return {"name": image.name, **_place(image.archive, inputs), "pinned": image.pinned}

# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The description of an image: frozen, complete and checked. The plan reads nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..artifacts.model import File
from ..errors import Problems, joined
from ..kubernetes import parse_version
from ..model import registries
from ..model.plain import INVALID, plain
from ..model.spec import Mirror, Proxy
from ..network import no_proxy_entries
from ..nodeconfig import schema as nodeconfig
from ..versions import family_version_problem
from .fields import IMAGE_KIND, VOLATILE, is_archive

PATH = "image"
"""What paths in messages begin with."""

RELEASE = frozenset({"ARCHITECTURE", "FAMILY", "KUBERNETES_VERSION"})
"""What the collection writes to /etc/eks/release."""

PAUSE_IMAGE = "localhost/kubernetes/pause:latest"
"""The name under which nodeadm expects the pause image (amazon-eks-ami, July 2026)."""

_SYSTEMS = {
    "al2": (("amzn",), "Amazon Linux 2"),
    "al2023": (("amzn", "almalinux", "centos", "fedora", "ol", "rhel", "rocky"), "Amazon Linux 2023, or RHEL or one of its relatives"),
    "ubuntu": (("ubuntu",), "Ubuntu"),
}
"""The systems of each family: C(ID) of os-release, and their names."""

_RESERVED_SECTIONS = ("DEFAULT", "main")
"""Sections that dnf or yum does not read as a repository."""

_ARCHITECTURES = ("aarch64", "x86_64")


@dataclass(frozen=True)
class Source:
    """A file with its checksum: C(url), or C(path) on the controller."""

    sha256: str
    url: str | None = None
    path: str | None = None

    @property
    def base_name(self) -> str:
        """The last part of the place."""
        return str(self.path or self.url).partition("?" if self.url else "\0")[0].rpartition("/")[2]

    @property
    def file(self) -> str:
        """A name of its own in a directory with other downloads, which may have the same base name."""
        return f"{self.sha256[:12]}-{re.sub('[^0-9A-Za-z._+-]', '_', self.base_name)}"

    @property
    def is_archive(self) -> bool:
        """Whether the file is an archive."""
        return is_archive(self.base_name)


@dataclass(frozen=True)
class Repository:
    """A package repository. C(key): the public key as text, None if signatures are not checked."""

    name: str
    url: str
    key: str | None
    suite: str | None
    components: tuple[str, ...]


@dataclass(frozen=True)
class ContainerImage:
    """A container image in an archive."""

    name: str
    archive: Source
    pinned: bool = True


@dataclass(frozen=True)
class Builder:
    """The machine on which the image is built: C(ID) and C(VERSION_ID) of os-release, and the architecture as C(uname -m) prints it."""

    id: str
    version_id: str
    architecture: str

    @property
    def is_amazon_linux(self) -> bool:
        """Whether the system is Amazon Linux."""
        return self.id == "amzn"


@dataclass(frozen=True)
class Image:
    """The description of an image."""

    family: str
    kubernetes_version: str
    programs: Mapping[str, Source] = field(default_factory=dict)
    packages: tuple[str, ...] = ()
    repositories: tuple[Repository, ...] = ()
    files: tuple[File, ...] = ()
    modules: tuple[str, ...] = ()
    sysctls: Mapping[str, str] = field(default_factory=dict)
    nodeadm_defaults: tuple[Mapping[str, Any], ...] = ()
    images: tuple[ContainerImage, ...] = ()
    pause_image: ContainerImage | None = None
    image_import: str = "bake"
    mirrors: Mapping[str, tuple[Mirror, ...]] = field(default_factory=dict)
    trust: tuple[str, ...] = ()
    build_proxy: Proxy | None = None
    proxy: Proxy | None = None
    release: Mapping[str, str] = field(default_factory=dict)


def parse(image: Any, problems: Problems) -> Image | None:
    """Return the description C(image), in the form users write. Problems are added to C(problems). None without a family or a version."""
    given = IMAGE_KIND(plain(image, PATH, problems), PATH, problems)
    if given is INVALID:
        return None
    _check(given, problems)
    if not {"family", "kubernetes_version"} <= given.keys():
        return None
    return Image(
        family=given["family"],
        kubernetes_version=given["kubernetes_version"].removeprefix("v"),
        programs={name: Source(**source) for name, source in sorted(given.get("programs", {}).items())},
        packages=tuple(dict.fromkeys(given.get("packages", ()))),
        repositories=tuple(_repositories(given)),
        files=tuple(File(one["path"], one["content"], one.get("mode", "0644")) for one in given.get("files", ()) if _is_complete(one)),
        modules=tuple(given.get("modules", ())),
        sysctls={_dotted(name): value for name, value in given.get("sysctls", {}).items()},
        nodeadm_defaults=tuple(given.get("nodeadm_defaults", ())),
        images=tuple(_container_image(one) for one in given.get("images", ()) if _has_archive(one)),
        pause_image=_container_image(given["pause_image"]) if _has_archive(given.get("pause_image", {})) else None,
        image_import=given.get("image_import", "bake"),
        mirrors=_mirrors(given),
        trust=tuple(given.get("trust", ())),
        build_proxy=_proxy(given, "build"),
        proxy=_proxy(given, "image"),
        release=given.get("release", {}),
    )


def _is_complete(file: Mapping[str, Any]) -> bool:
    return {"path", "content"} <= file.keys()


def _has_archive(image: Mapping[str, Any]) -> bool:
    return {"name", "archive"} <= image.keys()


def _container_image(values: Mapping[str, Any]) -> ContainerImage:
    return ContainerImage(values["name"], Source(**values["archive"]), values.get("pinned", True))


def _repositories(given: Mapping[str, Any]) -> Iterator[Repository]:
    for one in given.get("repositories", ()):
        if {"name", "url"} <= one.keys():
            yield Repository(one["name"], one["url"], one.get("key"), one.get("suite"), tuple(one.get("components", ("main",))))


def _mirrors(given: Mapping[str, Any]) -> dict[str, tuple[Mirror, ...]]:
    listed = given.get("registry", {}).get("mirrors", {})
    return {host: tuple(registries.mirror_of(item) for item in items) for host, items in sorted(listed.items())}


def _proxy(given: Mapping[str, Any], name: str) -> Proxy | None:
    values = given.get("proxy", {}).get(name)
    if values is None:
        return None
    return Proxy(values.get("http"), values.get("https"), tuple(no_proxy_entries(None, None, values.get("no_proxy", []))))


def _dotted(name: str) -> str:
    """A kernel setting with dots. systemd takes slashes, too, and then dots belong to the names."""
    return name if "." in name else name.replace("/", ".")


# --- combinations of fields --------------------------------------------------------------------------------------------------------------


def _check(given: Mapping[str, Any], problems: Problems) -> None:
    _check_family(given, problems)
    _check_files(given, problems)
    _check_repositories(given, problems)
    _check_documents(given, problems)
    _check_images(given, problems)
    _check_proxies(given, problems)
    for name in RELEASE & given.get("release", {}).keys():
        problems.add("input.conflict", f"{PATH}.release.{name}", "is written by this collection", fix="rename it, or remove it")


def _check_family(given: Mapping[str, Any], problems: Problems) -> None:
    if "nodeadm_defaults" in given:
        _refuse_foreign("nodeadm_defaults", "al2023", given, problems)
    if "nodeadm" in given.get("programs", {}):
        _refuse_foreign("programs.nodeadm", "al2023", given, problems)
    for index, one in enumerate(given.get("repositories", ())):
        for name in ("suite", "components"):
            if name in one:
                _refuse_foreign(f"repositories[{index}].{name}", "ubuntu", given, problems)


def _refuse_foreign(field: str, only: str, given: Mapping[str, Any], problems: Problems) -> None:
    family = given.get("family", only)
    if family != only:
        problems.add("family.foreign_field", f"{PATH}.{field}", f"is a field of {only}, and the family is {family}", fix="remove it")


def _check_files(given: Mapping[str, Any], problems: Problems) -> None:
    seen: set[str] = set()
    for index, file in enumerate(given.get("files", ())):
        place = f"{PATH}.files[{index}].path"
        path = file.get("path")
        if path in seen:
            problems.add("input.conflict", place, "is the path of an earlier file, too", value=path, fix="remove one of the two")
        elif path is not None:
            seen.add(path)
            if path.startswith(tuple(f"{directory}/" for directory in VOLATILE)):
                message = "is in a directory that does not become part of an image"
                problems.add("bake.volatile_path", place, message, value=path, fix="use a path outside of " + ", ".join(VOLATILE))


def _check_repositories(given: Mapping[str, Any], problems: Problems) -> None:
    names = [one.get("name") for one in given.get("repositories", ())]
    for index, one in enumerate(given.get("repositories", ())):
        place = f"{PATH}.repositories[{index}]"
        if names.index(one.get("name")) < index:
            problems.add(
                "input.conflict", f"{place}.name", "is the name of an earlier repository, too", value=one.get("name"), fix="rename it"
            )
        if one.get("name") in _RESERVED_SECTIONS and given.get("family", "ubuntu") != "ubuntu":
            message = "is a section that dnf and yum do not read as a repository"
            problems.add("input.conflict", f"{place}.name", message, value=one["name"], fix="rename it")
        if "key" not in one and not one.get("unsigned") and not problems.touches(f"{place}.key"):
            message, allowed = "is required, so that packages are checked", "an OpenPGP public key as text"
            problems.add("input.missing_field", f"{place}.key", message, allowed=allowed, fix="add key, or set unsigned: true")
        if "key" in one and one.get("unsigned"):
            problems.add("input.conflict", f"{place}.unsigned", "is true, and key is set, too", fix="remove one of the two")
        if "components" in one and "suite" not in one and not problems.touches(f"{place}.suite"):
            problems.add(
                "input.missing_field", f"{place}.suite", "is required with components", allowed="a suite such as noble", fix="add suite"
            )


def _check_documents(given: Mapping[str, Any], problems: Problems) -> None:
    version = parse_version(given.get("kubernetes_version"))
    for index, document in enumerate(given.get("nodeadm_defaults", ())):
        place = f"{PATH}.nodeadm_defaults[{index}]"
        nodeconfig.document_problems(document, place, problems, version)
        spec = document.get("spec")
        if isinstance(spec, Mapping) and "cluster" in spec:
            fix = "remove it: user data names the cluster, so that the image fits all clusters"
            problems.add("nodeadm.cluster_field", f"{place}.spec.cluster", "cannot be set here", fix=fix)


def _check_images(given: Mapping[str, Any], problems: Problems) -> None:
    pause = given.get("pause_image", {}).get("name")
    names = [*([pause] if pause else []), *(one.get("name") for one in given.get("images", ()))]
    for index, one in enumerate(given.get("images", ())):
        name = one.get("name")
        if name is not None and names.index(name) < index + bool(pause):
            problems.add(
                "input.conflict", f"{PATH}.images[{index}].name", "is the name of another image, too", value=name, fix="remove one"
            )


def _check_proxies(given: Mapping[str, Any], problems: Problems) -> None:
    for name, values in given.get("proxy", {}).items():
        place = joined(f"{PATH}.proxy", name)
        if not {"http", "https"} & values.keys() and not problems.touches(place):
            problems.add("proxy.empty", place, "has no address", fix="set http, https or both")


# --- the builder -------------------------------------------------------------------------------------------------------------------------


def parse_builder(builder: Any, problems: Problems) -> Builder | None:
    """Return the facts of the builder. None if they are invalid."""
    given = plain(builder, "builder", problems)
    names = ("id", "version_id", "architecture")
    if not isinstance(given, dict) or not all(isinstance(given.get(name), str) for name in names):
        message = "must be a mapping with the texts id, version_id and architecture"
        problems.add("input.wrong_type", "builder", message, fix="pass the result `system` of the module nodebootstrap.eks.image_verify")
        return None
    found = Builder(*(given[name] for name in names))
    if found.architecture not in _ARCHITECTURES:
        problems.add(
            "input.unknown_value", "builder.architecture", "is not supported", value=found.architecture, allowed=", ".join(_ARCHITECTURES)
        )
    return found


def check_builder(image: Image, builder: Builder, problems: Problems) -> None:
    """Report a family or a version that does not fit the system of the builder."""
    ids, name = _SYSTEMS[image.family]
    is_al2 = builder.is_amazon_linux and builder.version_id == "2"
    if builder.id not in ids or (builder.is_amazon_linux and is_al2 is not (image.family == "al2")):
        message = f"is {image.family} ({name}), and the builder runs {builder.id} {builder.version_id}"
        fix = "use a builder with this system, or change family"
        problems.add("bake.wrong_system", f"{PATH}.family", message, fix=fix)
        return
    version = parse_version(image.kubernetes_version)
    release = builder.version_id if image.family == "ubuntu" else None
    problem = family_version_problem(image.family, release, version) if version else None
    if problem:
        problems.add("family.not_in_version", f"{PATH}.kubernetes_version", problem[0], value=image.kubernetes_version, fix=problem[1])
    if image.family == "al2023" and not builder.is_amazon_linux:
        _check_rhel(image, builder, problems)


def _check_rhel(image: Image, builder: Builder, problems: Problems) -> None:
    message = f"is required: {builder.id} has no package of it"
    if "nodeadm" not in image.programs and not problems.touches(f"{PATH}.programs.nodeadm"):
        fix = "build nodeadm from awslabs/amazon-eks-ami, and add programs.nodeadm"
        problems.add("bake.missing_program", f"{PATH}.programs.nodeadm", message, fix=fix)
    has_package = any(name.startswith("containerd") for name in image.packages)
    if "containerd" not in image.programs and not has_package and not problems.touches(f"{PATH}.programs.containerd"):
        fix = "add programs.containerd, or the package containerd.io and its repository"
        problems.add("bake.missing_program", f"{PATH}.programs.containerd", message, fix=fix)

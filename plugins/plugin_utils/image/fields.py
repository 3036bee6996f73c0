# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fields of C(image), the description of an image, each with its description and its allowed values."""

from __future__ import annotations

from typing import Any

from ..errors import Problems, joined
from ..model import registries, values
from ..model.fields import NODE_GROUP, REGISTRY_MIRRORS
from ..model.plain import INVALID
from ..model.schema import Kind, boolean, choice, field, list_of, map_of, mapping, record, text

FAMILIES = ("al2", "al2023", "ubuntu")
ARCHIVES = (".tar.gz", ".tgz")
VOLATILE = ("/dev", "/proc", "/run", "/sys", "/tmp")
"""Directories whose content does not become part of an image."""

_LINE = text()
_SHA256_FORM = "64 hexadecimal digits, as sha256sum prints them"
_SHA256_DIGITS = text(pattern="[0-9A-Fa-f]{64}", what="a SHA-256 checksum", allowed=_SHA256_FORM)
_URL = text(pattern=r"https?://[^\s/]+/\S+", what="the URL of a file", allowed="a URL such as https://example.com/kubelet", scheme="https")
_PATH = text(
    pattern=r"(/(?!\.{1,2}(/|$))[^/\s]+)+", what="an absolute path", allowed="a path such as /etc/example.conf, without spaces, // and .."
)
_MODE = text(pattern="0[0-7]{3}", what="a mode", allowed='four octal digits in quotes, such as "0644"')
_SUITE = text(pattern=r"\S+", what="a suite", allowed="one suite, without spaces")
_COMPONENT = text(pattern=r"\S+", what="a component", allowed="a component without spaces, or a list of them")
_IMAGE_NAME = text(
    pattern=r"[0-9a-z][0-9A-Za-z._:/-]*[:@][0-9A-Za-z._:-]+",
    what="the name of an image",
    allowed="HOST/PATH:TAG, such as registry.k8s.io/pause:3.10",
)


def _sha256(value: Any, path: str, problems: Problems) -> Any:
    if isinstance(value, str) and value.lower().startswith("sha256:"):
        fix = "remove sha256: before the digits"
        problems.add("input.invalid_text", path, "contains the name of the algorithm", value=value, allowed=_SHA256_FORM, fix=fix)
        return INVALID
    return _SHA256_DIGITS(value, path, problems)


_SOURCE = record(
    {
        "url": field(_URL, "URL that the builder downloads the file from."),
        "path": field(_LINE, "Path of the file on the controller."),
        "sha256": field(_sha256, "SHA-256 checksum of the file.", type="string"),
    },
    required={"sha256": _SHA256_FORM},
    unknown={"checksum": "write sha256, with the digits only", "src": "write url, or path for a file on the controller"},
)


def _source(value: Any, path: str, problems: Problems) -> Any:
    checked = _SOURCE(value, path, problems)
    if checked is INVALID:
        return INVALID
    places = [joined(path, name) for name in ("url", "path")]
    given = [name for name in ("url", "path") if value.get(name) is not None]
    if not given and not any(map(problems.touches, places)):
        allowed = "url, or path for a file on the controller"
        problems.add("input.missing_field", places[0], "is required if there is no path", allowed=allowed, fix="add one of the two")
    if len(given) == 2:
        problems.add("input.conflict", places[1], "is set, and url is set, too", fix="remove one of the two")
    is_complete = len(given) == 1 and {given[0], "sha256"} <= checked.keys()
    return {**checked, "sha256": checked["sha256"].lower()} if is_complete else INVALID


def is_archive(base_name: str) -> bool:
    """Whether a file is an archive, by its name."""
    return base_name.endswith(ARCHIVES)


def _program(value: Any, path: str, problems: Problems, must_be_archive: bool) -> Any:
    source = _source(value, path, problems)
    if source is INVALID or is_archive(str(source.get("path") or source["url"].partition("?")[0])) is must_be_archive:
        return source
    name = "url" if "url" in source else "path"
    if must_be_archive:
        message, fix = "is not an archive", f"use the archive of the release, whose name ends in {' or '.join(ARCHIVES)}"
    else:
        message, fix = "is an archive, not a program", "unpack the archive, and use the program and its own checksum"
    problems.add("input.invalid_text", joined(path, name), message, value=source[name], fix=fix)
    return INVALID


def _binary(value: Any, path: str, problems: Problems) -> Any:
    return _program(value, path, problems, must_be_archive=False)


def _archive(value: Any, path: str, problems: Problems) -> Any:
    return _program(value, path, problems, must_be_archive=True)


def _declared(check: Any, description: str, only: tuple[str, ...] = ()) -> Kind:
    return field(check, description, only=only, type="object")


PROGRAMS: dict[str, Kind] = {
    "aws_iam_authenticator": _declared(_binary, "aws-iam-authenticator, installed as `/usr/bin/aws-iam-authenticator`."),
    "cni_plugins": _declared(_archive, "Archive of the CNI plugins, unpacked to `/opt/cni/bin`."),
    "containerd": _declared(_archive, "Archive of containerd, unpacked to `/usr`. Without it, the package is installed."),
    "crictl": _declared(_source, "crictl, or its archive, installed as `/usr/bin/crictl`."),
    "ecr_credential_provider": _declared(
        _binary, "Credential provider for ECR, installed as `/etc/eks/image-credential-provider/ecr-credential-provider`."
    ),
    "kubelet": _declared(
        _binary, "kubelet, installed as `/usr/bin/kubelet` with its unit. Without it, kubelet must be part of the base image."
    ),
    "nodeadm": _declared(
        _binary, "nodeadm, installed as `/usr/bin/nodeadm` with its units. Without it, nodeadm must be part of the base image.", ("al2023",)
    ),
    "runc": _declared(_binary, "runc, installed as `/usr/sbin/runc`. Without it, the package is installed."),
}

_REPOSITORY: dict[str, Kind] = {
    "name": field(
        text(pattern="[0-9A-Za-z][0-9A-Za-z_-]{0,62}", what="the name of a repository", allowed="1 to 63 letters, digits, - and _"),
        "Name of the repository and of its file.",
    ),
    "url": field(
        text(
            # dnf and yum read a list, with commas between URLs.
            pattern=r"(https?://[^\s,/?#@]+([/?#][^\s,]*)?|file://[^\s,]+)",
            what="a URL of a repository",
            allowed="a URL such as https://example.com/packages, without user name, password and comma",
            scheme="https",
        ),
        "URL of the repository, without user name and password, because the image keeps it.",
    ),
    "suite": field(
        _SUITE, "Suite of a repository for apt, for example `noble`. The default is a repository without suites.", only=("ubuntu",)
    ),
    "components": field(list_of(_COMPONENT, single=True, filled=True), "Components of the suite. The default is `main`.", only=("ubuntu",)),
    "key": field(
        text(
            pattern=r"\s*-----BEGIN PGP PUBLIC KEY BLOCK-----\s(?s:.*)-----END PGP PUBLIC KEY BLOCK-----\s*",
            what="an OpenPGP public key",
            allowed="the text of a key: -----BEGIN PGP PUBLIC KEY BLOCK----- and what follows",
            multiline=True,
            secret=True,
        ),
        "Public key that signs the repository, as text. Without it, `unsigned` is required.",
    ),
    "unsigned": field(boolean, "Whether signatures of the repository are not checked.", default=False),
}

_TEXT_FILE: dict[str, Kind] = {
    "path": field(_PATH, "Absolute path of the file in the image."),
    "content": field(text(multiline=True, empty=True, secret=True), "Content of the file."),
    "mode": field(_MODE, "Mode of the file, as octal digits in quotes.", default="0644"),
}

_CONTAINER_IMAGE = record(
    {
        "name": field(_IMAGE_NAME, "Name of the image, as pods use it."),
        "archive": field(_source, "Archive of the image (`docker save`, or an OCI layout as tar), a file.", type="object"),
        "pinned": field(boolean, "Whether kubelet never removes the image to free disk space.", default=True),
    },
    required={"name": "HOST/PATH:TAG", "archive": "url or path, and sha256"},
)

_PROXY = NODE_GROUP["proxy"]

IMAGE: dict[str, Kind] = {
    "family": field(
        choice(*FAMILIES),
        "How nodes of the image boot. `al2023` is everything that boots with nodeadm: Amazon Linux 2023, and RHEL and its relatives. "
        "`ubuntu` and `al2` boot with `strategy: static`.",
    ),
    "kubernetes_version": field(
        values.kubernetes_version, 'Version of Kubernetes of the clusters, in quotes, for example "1.34".', type="string"
    ),
    "programs": field(record(PROGRAMS), "Programs that are not packages, each a file with its checksum."),
    "packages": field(
        list_of(
            text(
                pattern=r"[0-9A-Za-z][0-9A-Za-z.+_:~^=-]*",
                what="a package",
                allowed='a name, or a name with a version: "jq=1.7.1-3build1" for apt, "jq-1.7.1" for dnf and yum',
            ),
            single=True,
        ),
        "More packages. A package with a version is held at it.",
    ),
    "repositories": field(list_of(record(_REPOSITORY, required={"name": "a name", "url": "a URL"})), "More package repositories."),
    "files": field(
        list_of(record(_TEXT_FILE, required={"path": "an absolute path", "content": "text"})),
        "More files. A file with the path of a file of this collection replaces it.",
    ),
    "modules": field(
        list_of(text(pattern="[0-9A-Za-z_-]{1,64}", what="the name of a kernel module", allowed="letters, digits, - and _"), single=True),
        "More kernel modules that are loaded at boot.",
    ),
    "sysctls": field(
        map_of(
            field(values.scalar_text, "Value of the setting.", type=["string", "integer", "boolean"]),
            key=text(
                pattern=r"[a-z0-9_]+([./][0-9A-Za-z_*-]+)+", what="the name of a kernel setting", allowed="a name such as vm.max_map_count"
            ),
            allowed='names and values such as {vm.max_map_count: "524288"}',
        ),
        "More kernel settings. They replace settings of this collection.",
    ),
    "nodeadm_defaults": field(
        list_of(mapping),
        "NodeConfig documents, written to `/etc/eks/nodeadm.d`. nodeadm reads them after the user data, so their values win.",
        only=("al2023",),
    ),
    "images": field(list_of(_CONTAINER_IMAGE), "Container images that every node has from the start."),
    "pause_image": field(_CONTAINER_IMAGE, "Pause image, which holds the namespaces of a pod."),
    "image_import": field(
        choice("bake", "boot"),
        "When containerd imports the container images: `bake` while the image is built, `boot` before kubelet starts.",
        default="bake",
    ),
    "registry": field(
        record({"mirrors": field(REGISTRY_MIRRORS, "Registry hosts (or `_default`), each mapped to its mirrors, as in a node group.")}),
        "Settings of container registries.",
    ),
    "trust": field(
        registries.trust,
        "Certificates of your own certificate authorities, in PEM, which the image and its builder trust.",
    ),
    "proxy": field(
        record(
            {
                "build": field(_PROXY, "Proxy while the image is built. It is not part of the image."),
                "image": field(_PROXY, "Proxy of containerd, kubelet and nodeadm on the nodes."),
            }
        ),
        "Proxies for outgoing requests.",
    ),
    "release": field(
        map_of(
            field(values.scalar_text, "Value.", type=["string", "integer", "boolean"]),
            key=text(pattern="[A-Z][A-Z0-9_]*", what="a name", allowed="capital letters, digits and _"),
            allowed="names and values such as {TEAM: platform}",
        ),
        "More lines of `/etc/eks/release`.",
    ),
}

UNKNOWN = {
    "kubelet": "write programs.kubelet",
    "nodeadm": "write programs.nodeadm, and its documents as nodeadm_defaults",
    "containerd": "write programs.containerd for the program, and registry.mirrors for mirrors",
    "version": "write kubernetes_version",
    "registry_mirrors": "write registry.mirrors",
}

IMAGE_KIND = record(IMAGE, required={"family": ", ".join(FAMILIES), "kubernetes_version": 'a version such as "1.34"'}, unknown=UNKNOWN)

# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Own certificate authorities on the Linux families: files in the folder of the system's trust store, and the program that reads them.

containerd, kubelet and the credential provider are Go programs: they read the system's bundle once, when they first need it. The AWS CLI
brings a bundle of its own and needs a variable.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..formats import shell, systemd
from ..model.spec import NodeSpec
from .model import File


@dataclass(frozen=True)
class _Store:
    """folder: where the system looks for own certificates. bundle: the file with all certificates, which C(update) writes."""

    folder: str
    bundle: str
    update: tuple[str, ...]


_AMAZON_LINUX = _Store("/etc/pki/ca-trust/source/anchors", "/etc/pki/tls/certs/ca-bundle.crt", ("update-ca-trust", "extract"))
_STORES: Mapping[str, _Store] = {
    "al2": _AMAZON_LINUX,
    "al2023": _AMAZON_LINUX,
    "ubuntu": _Store("/usr/local/share/ca-certificates", "/etc/ssl/certs/ca-certificates.crt", ("update-ca-certificates",)),
}
_DROP_IN = "40-nodebootstrap-trust.conf"


def certificate_files(spec: NodeSpec) -> tuple[File, ...]:
    """One file for each certificate: update-ca-certificates skips files with several, and names without .crt."""
    return stored(spec.family, spec.trust, "nodebootstrap")


def stored(family: str, certificates: Iterable[str], name: str) -> tuple[File, ...]:
    """The files of certificates in the trust store of a family. C(name): what the names of the files begin with."""
    folder = _STORES[family].folder
    return tuple(File(f"{folder}/{name}-{number}.crt", text) for number, text in enumerate(certificates, 1))


def update(spec: NodeSpec) -> str:
    """A shell line that makes the system read the files."""
    return shell.command(update_command(spec.family)) + "\n"


def update_command(family: str) -> tuple[str, ...]:
    """The program that makes the system read the files, and its arguments."""
    return _STORES[family].update


def install(spec: NodeSpec) -> str:
    """Shell lines that write the files and make the system and a running containerd read them. Empty without certificates."""
    if not spec.trust:
        return ""
    written = "".join(shell.write_file(file.path, file.content, file.mode) for file in certificate_files(spec))
    return f"{written}{update(spec)}systemctl try-restart containerd\n"


def variables(spec: NodeSpec) -> dict[str, str]:
    """What programs of the image need besides the system's trust store: the bundle for the AWS CLI."""
    return _bundle(spec.family) if spec.trust else {}


def _bundle(family: str) -> dict[str, str]:
    return {"AWS_CA_BUNDLE": _STORES[family].bundle}


def variables_drop_in(family: str, unit: str) -> File:
    """A drop-in that gives the variables of a system with own certificates to one unit of systemd."""
    pairs = [("Environment", systemd.environment_assignment(name, value)) for name, value in _bundle(family).items()]
    return File(drop_in_path(unit), systemd.unit({"Service": pairs}))


def update_drop_in(spec: NodeSpec, unit: str) -> File:
    """A drop-in that makes the system read the files before a unit starts, for nodes where no script of ours runs."""
    program, *words = _STORES[spec.family].update
    return File(drop_in_path(unit), systemd.unit({"Service": [("ExecStartPre", " ".join([f"/usr/bin/{program}", *words]))]}))


def drop_in_path(unit: str) -> str:
    """The path of the drop-in for a unit."""
    return f"/etc/systemd/system/{unit}.d/{_DROP_IN}"

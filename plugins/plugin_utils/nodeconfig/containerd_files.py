# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The containerd configuration that nodeadm writes: its own (version 2 or 3), merged with the user's TOML (amazon-eks-ami, July 2026)."""

from __future__ import annotations

from typing import Any

from .. import kubelet
from .merge import merge_toml
from .read import NodeConfigError

RUNTIME_SPEC = "/etc/containerd/base-runtime-spec.json"
OF_SOCI = (
    kubelet.CONTAINERD_CONFIG,
    "/etc/soci-snapshotter-grpc/config.toml",
    "/etc/systemd/system/containerd.service.d/10-soci-snapshotter.conf",
)

_PAUSE_IMAGE = "localhost/kubernetes/pause:latest"
IMAGES, RUNTIME = "io.containerd.cri.v1.images", "io.containerd.cri.v1.runtime"


def is_version_3(config: str) -> bool:
    """Whether nodeadm treats the TOML of the user as version 3. The names in the TOML decide."""
    return IMAGES in config or RUNTIME in config


def migrates(config: str, containerd_version: str) -> bool:
    """Whether nodeadm lets containerd migrate the result: the TOML is not version 3, but containerd uses version 3."""
    return _is_2(containerd_version) and bool(config) and not is_version_3(config)


def config(user: str, containerd_version: str, *, cdi: bool) -> str:
    """The TOML before any migration.

    user: C(containerd.config) of the NodeConfig, or "". cdi: whether the Container Device Interface is used.
    Raises a fatal C(NodeConfigError) for invalid TOML, and for version 3 with a containerd that supports only version 2.
    """
    from ..formats import toml

    if not _is_2(containerd_version) and is_version_3(user):
        raise NodeConfigError("containerd 1.x does not support version 3 of its configuration", fatal=True)
    version_3 = _is_2(containerd_version) and not migrates(user, containerd_version)
    own = toml.dump(_version_3(cdi) if version_3 else _version_2(cdi), quoted_headers=True)
    return merge_toml(own, user) if user else own


def template(*, version_3: bool) -> dict[str, Any]:
    """What the user's TOML is merged into."""
    return _version_3(cdi=True) if version_3 else _version_2(cdi=True)


def _is_2(containerd_version: str) -> bool:
    return containerd_version.lstrip("v").partition(".")[0] not in ("0", "1")


def _version_2(cdi: bool) -> dict[str, Any]:
    runc = {"base_runtime_spec": RUNTIME_SPEC, "options": {"BinaryName": "/usr/sbin/runc"}}
    cri = {"enable_cdi": cdi, "containerd": {"runtimes": {"runc": runc}}}
    return kubelet.deep_merge(kubelet.containerd_config(_PAUSE_IMAGE), {"plugins": {kubelet.CRI: cri}})


def _version_3(cdi: bool) -> dict[str, Any]:
    """The same in other places."""
    config = _version_2(cdi)
    cri = config["plugins"][kubelet.CRI]
    runtimes = dict(cri["containerd"])
    images = {
        "discard_unpacked_layers": runtimes.pop("discard_unpacked_layers"),
        "pinned_images": {"sandbox": cri["sandbox_image"]},
        "registry": cri["registry"],
    }
    runtime = {"enable_cdi": cri["enable_cdi"], "containerd": runtimes, "cni": cri["cni"]}
    return config | {"version": 3, "plugins": {IMAGES: images, RUNTIME: runtime}}

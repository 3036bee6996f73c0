# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finished files for kubelet and containerd, as the images' scripts would have left them."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from .. import kubelet
from ..errors import Problems, SpecError
from ..formats import json, systemd
from ..model.merge import place_path, report_twice, value_at
from ..model.plain import INVALID
from ..model.spec import NodeSpec

CONFIG_FILE = "/etc/kubernetes/kubelet/kubelet-config.json"
KUBELET_UNIT = "/etc/systemd/system/kubelet.service"
SANDBOX_UNIT = "/etc/systemd/system/sandbox-image.service"
BPF_UNIT = "/etc/systemd/system/sys-fs-bpf.mount"
PAUSE_PLACEHOLDER = "SANDBOX_IMAGE"
"""What the AL2 image's script replaces by the pause image, in whatever containerd configuration it is given."""

_CRI_VERSION_3 = ("io.containerd.cri.v1.images", "io.containerd.cri.v1.runtime")

_OF_FAMILY: Mapping[str, Mapping[str, Any]] = {
    "al2": kubelet.AMAZON_LINUX,
    # Canonical's images set neither the kernel's parameters that protectKernelDefaults insists on, nor the reserved cgroups;
    # and /etc/resolv.conf there names systemd-resolved's own address, which no pod reaches.
    "ubuntu": {"resolvConf": "/run/systemd/resolve/resolv.conf"},
}


def kubelet_config(spec: NodeSpec) -> str:
    """The complete KubeletConfiguration as JSON: what the image sets, then what is computed, then the user's fields."""
    base = kubelet.deep_merge(kubelet.CONFIG, _OF_FAMILY[spec.family])
    version = spec.cluster.kubernetes_version
    if version is not None and version < (1, 27):
        base |= {"kubeAPIQPS": 10, "kubeAPIBurst": 20}
    if spec.family == "al2" and "reservedSystemCPUs" not in spec.kubelet_config and "reserved-cpus" not in spec.kubelet_flags:
        base |= kubelet.RESERVED_CGROUPS
    computed = {key: value for key, value in spec.kubelet_document("maxPods", "clusterDNS").items() if key not in spec.kubelet_config}
    return json.dump(_without_nulls(kubelet.deep_merge(kubelet.deep_merge(base, computed), spec.kubelet_config)), indent=1)


def kubelet_unit(wanted: Sequence[str], start: Sequence[tuple[str, str]] = (), iptables: str = "/sbin/iptables") -> str:
    """The whole unit: the one that images of Amazon Linux 2 contain requires Docker, which no drop-in can take back.

    wanted: units that start before kubelet. start: directives with the command of kubelet, which otherwise comes from a drop-in.
    """
    return systemd.unit(
        {
            "Unit": [
                ("Description", "kubelet, the node agent of Kubernetes"),
                ("Documentation", "https://kubernetes.io/docs/"),
                ("Wants", " ".join(wanted)),
                ("After", " ".join(wanted)),
            ],
            "Service": [
                ("Slice", "runtime.slice"),
                ("CPUAccounting", "true"),
                ("MemoryAccounting", "true"),
                ("ExecStartPre", f"{iptables} -P FORWARD ACCEPT -w 5"),
                *start,
                ("Restart", "on-failure"),
                ("RestartForceExitStatus", "SIGPIPE"),
                ("RestartSec", "5"),
                ("KillMode", "process"),
            ],
            "Install": [("WantedBy", "multi-user.target")],
        }
    )


def _without_nulls(config: Mapping[str, Any]) -> dict[str, Any]:
    """Null takes a field away, as in kubelet's drop-ins; in a finished file kubelet's decoder would refuse it as a duration."""
    return {key: _without_nulls(value) if isinstance(value, Mapping) else value for key, value in config.items() if value is not None}


def kubeconfig(spec: NodeSpec, authenticator: str) -> str:
    """kubelet's way to the API server: a token of the instance's role, made by C(authenticator) each time it is needed."""
    from ..formats import yaml

    cluster = spec.cluster
    return yaml.dump(
        kubelet.kubeconfig(str(cluster.endpoint), authenticator, ["token", "-i", str(cluster.name), "--region", str(cluster.region)])
    )


def certificate_authority(spec: NodeSpec) -> str:
    """The cluster's CA certificates as PEM."""
    return base64.b64decode(spec.cluster.certificate_authority or "").decode("ascii", "replace")


def containerd_config(spec: NodeSpec, pause_image: str) -> str:
    """A complete containerd configuration in version 2, which containerd 1.x and 2.x read, with the user's mapping on top.

    The images find the pause image in it as a line that begins with C(sandbox_image).
    """
    from ..formats import toml

    base = kubelet.containerd_config(pause_image) | {"imports": ["/etc/containerd/config.d/*.toml"]}
    return toml.dump(kubelet.deep_merge(base, spec.containerd.config), "node_group.containerd.config", quoted_headers=True)


def check_containerd_config(spec: NodeSpec, problems: Problems) -> None:
    """Report a containerd mapping that TOML cannot carry or that is not of version 2."""
    config, path = spec.containerd.config, "node_group.containerd.config"
    if not config:
        return
    place = ("plugins", kubelet.CRI, "sandbox_image")
    sandbox, pause = value_at(config, place), spec.containerd.pause_image
    if pause is not None and sandbox not in (INVALID, pause):
        report_twice(place_path(("containerd", "config", *place)), sandbox, "node_group.containerd.pause_image", pause, problems)
    from ..formats import toml

    plugins = config.get("plugins")
    newer = [name for name in _CRI_VERSION_3 if isinstance(plugins, Mapping) and name in plugins]
    if config.get("version", 2) != 2 or newer:
        where = f"{path}.plugins" if newer else f"{path}.version"
        problems.add(
            "containerd.wrong_config_version",
            where,
            f"is not 2, the only version that {spec.family} reads",
            fix=f'write version 2: plugins."{kubelet.CRI}"',
        )
    try:
        toml.dump(config, path)
    except SpecError as error:
        problems.extend(error.problems)
    from . import containerd_config

    containerd_config.check(config, path, problems, has_mirrors=bool(spec.containerd.registry_mirrors))

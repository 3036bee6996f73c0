# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""C(override): a command instead of the image's script, with the variables that eksctl gives to overrideBootstrapCommand.

Names and meaning: eksctl 0.231, nodes of Amazon Linux 2 and Ubuntu. An override written for eksctl runs unchanged: it finds
the variables in its environment, and the helper at the path from which it may C(source) them.
"""

from __future__ import annotations

from ..formats import shell
from ..kubernetes import node_labels_flag, taints_flag
from ..model.existing import HELPER
from ..model.spec import NodeSpec
from . import boot_labels
from .bootstrap_script import Image, extra_args
from .cloud_init import with_newline
from .model import File

OVERRIDE = "/etc/nodebootstrap/override"

_FROM_IMDS = ("instance_id", "instance_lifecycle")


def files(spec: NodeSpec, image: Image) -> tuple[File, ...]:
    """The helper and the command."""
    if spec.override is None:
        return ()
    text = with_newline(spec.override)
    command = text if text.startswith("#!") else f"#!/bin/bash\n{text}"
    return (File(HELPER, _helper(spec, extra_args(spec, image)), mode="0755"), File(OVERRIDE, command, mode="0755"))


def start() -> str:
    """Lines that run the command with the variables in its environment."""
    return f". {HELPER}\n{OVERRIDE}\n"


def variables(spec: NodeSpec) -> dict[str, str | None]:
    """The variables whose values come from the specification alone. Labels and kubelet's arguments may depend on the node."""
    cluster = spec.cluster
    return {
        "API_SERVER_URL": cluster.endpoint,
        "B64_CLUSTER_CA": cluster.certificate_authority,
        "CLUSTER_DNS": ",".join(spec.dns_ips),
        "CLUSTER_NAME": cluster.name,
        "MAX_PODS": "" if spec.max_pods is None else str(spec.max_pods),
        "NODE_TAINTS": taints_flag(spec.taints),
    }


def outpost_variables(spec: NodeSpec) -> dict[str, str | None]:
    """The variables of a local cluster on Outposts."""
    return {"CLUSTER_ID": spec.cluster.id, "ENABLE_LOCAL_OUTPOST": "true"} if spec.cluster.outpost else {}


def _helper(spec: NodeSpec, extra: str) -> str:
    known = dict(sorted({**variables(spec), "CONTAINER_RUNTIME": "containerd"}.items())) | outpost_variables(spec)
    lines = [f"export {name}={shell.quote(value) if value else ''}\n" for name, value in known.items()]
    labels = boot_labels.shell_text(node_labels_flag(spec.labels))
    wanted = {*_FROM_IMDS, *boot_labels.placeholders(spec.labels)}
    # Sourced with the variables set already, it asks nothing again; and it leaves nothing behind but the variables.
    return (
        "#!/bin/bash\n"
        + "".join(lines)
        + 'if [ -z "${INSTANCE_LIFECYCLE-}" ]; then\n'
        + boot_labels.shell_lookups(wanted)
        + '[ -n "$INSTANCE_ID" ] && [ -n "$INSTANCE_LIFECYCLE" ] || exit 1\n'
        + f'export INSTANCE_ID INSTANCE_LIFECYCLE NODE_LABELS="{labels}" KUBELET_EXTRA_ARGS={extra}\n'
        + "unset -f imds\nunset TOKEN AVAILABILITY_ZONE\nfi\n"
    )

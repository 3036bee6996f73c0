# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes the settings of a call of C(/etc/eks/bootstrap.sh) into the form of the input."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..artifacts.bootstrap_script import CONFIG_DIR
from ..bootstrap_calls import KUBELET_MAX_PODS, Call
from ..formats.systemd import SPECIFIER
from .meaning import Meaning
from .model import NotUnderstood, ReadPart
from .places import place_of

_REGION = re.compile(r"https://.*\.([a-z]{2}(?:-[a-z]+)+-\d)\.eks\.amazonaws\.com/?")


def _flags(call: Call, part: ReadPart, found: Meaning) -> dict[str, list[str]]:
    """kubelet's flags. The image of Amazon Linux 2 writes them into a unit, where systemd replaces C(%%) and its specifiers."""
    flags = {}
    for name, values in call.flags.items():
        plain = values if found.family == "ubuntu" else [value.replace("%%", "") for value in values]
        if found.family != "ubuntu" and (any(SPECIFIER.search(value) for value in plain) or (found.family is None and plain != values)):
            reason = "contains a percent sign, which systemd can replace on Amazon Linux 2"
            text = f"--{name}={','.join(values)}"
            found.not_understood.append(NotUnderstood(place_of(part, f"--{name}"), text, reason, "argument"))
        else:
            flags[name] = [value if found.family == "ubuntu" else value.replace("%%", "%") for value in values]
    return flags


def read_call(call: Call, config: Mapping[str, Any], part: ReadPart, found: Meaning) -> None:
    """Take the settings of a call. config: of kubelet, from a file that the script writes."""
    options = dict(call.options)
    flags = _flags(call, part, found)
    found.state("name", call.cluster_name)
    found.state("endpoint", options.pop("--apiserver-endpoint", None))
    found.state("certificate_authority", options.pop("--b64-cluster-ca", None))
    for option in ("--service-ipv4-cidr", "--service-ipv6-cidr"):
        found.state("service_cidr", options.pop(option, None))
    if options.get("--ip-family") == ("ipv6" if ":" in found.cluster.get("service_cidr", "") else "ipv4"):
        options.pop("--ip-family")
    if "--dns-cluster-ip" in options:
        found.read_dns(options.pop("--dns-cluster-ip").split(","))
    if options.get("--enable-local-outpost") == "true":
        found.state("outpost", options.pop("--enable-local-outpost") == "true")
        found.state("id", options.pop("--cluster-id", None))
    if options.get("--use-max-pods") in ("true", "false") and (options.pop("--use-max-pods") == "false" and "max-pods" not in flags):
        flags["max-pods"] = [str(KUBELET_MAX_PODS)]
    if options.get("--container-runtime") == "containerd":
        # The only runtime since Kubernetes 1.24.
        del options["--container-runtime"]
    region = _REGION.fullmatch(found.cluster.get("endpoint", ""))
    if region and {"--pause-container-account", "--pause-container-version"} <= options.keys():
        account, version = options.pop("--pause-container-account"), options.pop("--pause-container-version")
        found.put("containerd.pause_image", f"{account}.dkr.ecr.{region[1]}.amazonaws.com/eks/pause:{version}")
        found.state("region", region[1])
    if options.get("--local-disks") in ("raid0", "raid10", "mount"):
        found.put("local_storage", {"strategy": options.pop("--local-disks")})
    if config and flags.get("config-dir") == [CONFIG_DIR]:
        del flags["config-dir"]
    found.read_kubelet(config, flags)
    for name, value in options.items():
        place = place_of(part, name)
        reason = "is an option of /etc/eks/bootstrap.sh without a field"
        found.not_understood.append(NotUnderstood(place, f"{name} {value}", reason, "argument"))

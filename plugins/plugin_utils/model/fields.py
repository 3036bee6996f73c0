# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The public fields: every name a user may write under C(cluster) and C(node_group), and what it may hold."""

from __future__ import annotations

import base64
import binascii
import ipaddress
import re
from typing import Any

from ..errors import Problems, joined, nearest
from ..kubernetes import label_key_problem, label_value_problem, taint_effects
from ..network import cidr_problem
from ..quantities import parse_quantity
from .plain import INVALID
from .schema import Kind, boolean, choice, free, integer, list_of, map_of, mapping, record, text, type_name, wrong_type

FAMILY_ALIASES: dict[str, tuple[str, dict[str, dict[str, str]]]] = {
    "AmazonLinux2": ("al2", {}),
    "AmazonLinux2023": ("al2023", {}),
    "Bottlerocket": ("bottlerocket", {}),
    "BottlerocketFips": ("bottlerocket", {}),
    **{
        f"Ubuntu{pro}{release.replace('.', '')}": ("ubuntu", {"ubuntu": {"release": release}})
        for pro in ("", "Pro")
        for release in ("20.04", "22.04", "24.04", "26.04")
    },
    **{
        f"WindowsServer{version}{edition.title()}Container": ("windows", {"windows": {"version": version, "edition": edition}})
        for version in ("2019", "2022", "2025")
        for edition in ("core", "full")
    },
}
"""eksctl's C(amiFamily) names: the family each one means, and the fields it fills in."""

FAMILIES = ("al2", "al2023", "bottlerocket", "ubuntu", "windows")
MODES = ("self_managed", "managed_custom_ami", "managed")
RESERVABLE = ("cpu", "memory", "ephemeral-storage", "pid")
"""What kubelet can reserve (KubeletConfiguration v1beta1, C(kubeReserved) and C(systemReserved))."""

LABEL_PLACEHOLDERS = {
    "instance_id": "i-0123456789abcdef0",
    "instance_lifecycle": "on-demand",
    "availability_zone": "us-gov-west-1a",
}
"""Label values that only the booting node knows, each with a value of the form IMDS answers, for syntax checks."""


def _certificate_authority(value: Any, path: str, problems: Problems) -> Any:
    fix = "copy certificateAuthority.data of `aws eks describe-cluster` as it stands"
    if isinstance(value, str) and "-----BEGIN" in value:
        problems.add(
            "cluster.invalid_certificate_authority",
            path,
            "is PEM, not base64 of PEM",
            allowed="base64 of PEM",
            fix="encode it, for example with the filter b64encode",
        )
        return INVALID
    value = text(allowed="base64 of PEM", fix=fix)(value, path, problems)
    if value is INVALID:
        return INVALID
    try:
        pem = base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        problems.add("cluster.invalid_certificate_authority", path, "is not valid base64", allowed="base64 of PEM", fix=fix)
        return INVALID
    armour = re.fullmatch(rb"\s*(-----BEGIN CERTIFICATE-----\s[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----\s*)+", pem)
    if not armour:
        problems.add(
            "cluster.invalid_certificate_authority",
            path,
            "decodes to something that is not a PEM certificate",
            allowed="base64 of PEM",
            fix=fix,
        )
        return INVALID
    return value


def cidr(value: Any, path: str, problems: Problems) -> Any:
    """A network in CIDR notation without host bits."""
    value = text(allowed="a CIDR such as 10.100.0.0/16")(value, path, problems)
    if value is INVALID:
        return INVALID
    reason = cidr_problem(value)
    if reason:
        fix = _network_meant(value)
        problems.add(
            "input.invalid_cidr", path, reason, value=value, allowed="a CIDR such as 10.100.0.0/16 or fd40:6404:f93b::/108", fix=fix
        )
        return INVALID
    return value


def _network_meant(text: str) -> str | None:
    """What to write instead of C(10.100.0.1/16) or C(10.100.0.0/255.255.0.0)."""
    try:
        return f"write {ipaddress.ip_network(text, strict=False)}" if "/" in text else None
    except ValueError:
        return None


def ip_address(value: Any, path: str, problems: Problems) -> Any:
    """One IPv4 or IPv6 address, in its shortest spelling."""
    value = text(allowed="an IP address")(value, path, problems)
    if value is INVALID:
        return INVALID
    try:
        address = ipaddress.ip_address(value)
    except ValueError:
        problems.add("input.invalid_ip", path, "is not an IP address", value=value, allowed="an IPv4 or IPv6 address")
        return INVALID
    if "%" in value:
        problems.add(
            "input.invalid_ip", path, "has a zone, which means nothing on another machine", value=value, allowed="an address without %zone"
        )
        return INVALID
    return str(address)


def scalar_text(value: Any, path: str, problems: Problems) -> Any:
    """Text, or an integer or boolean that is written the one way a flag spells it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else text(empty=True, allowed="one line of text")(value, path, problems)


def quantity(value: Any, path: str, problems: Problems) -> Any:
    """A Kubernetes quantity such as 100m, 1.5 or 574Mi."""
    value = str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value
    value = text(allowed="a quantity such as 100m or 574Mi")(value, path, problems)
    if value is INVALID or value == "auto":
        return value
    amount = parse_quantity(value)
    if amount is None or amount < 0:
        reason = "is not a Kubernetes quantity" if amount is None else "is negative"
        problems.add("input.invalid_quantity", path, reason, value=value, allowed="a quantity such as 100m or 574Mi")
        return INVALID
    return value


_LABEL_VALUE = "at most 63 letters, digits, - _ . beginning and ending with a letter or digit"


def _label_key(value: Any, path: str, problems: Problems) -> Any:
    reason = label_key_problem(value)
    if reason:
        problems.add("labels.invalid_key", path, reason, allowed="[prefix/]name, as Kubernetes spells label keys")
    return INVALID if reason else value


def _label_value(value: Any, path: str, problems: Problems) -> Any:
    if isinstance(value, (bool, int, float)):
        return wrong_type(value, "text", path, problems, fix="quote it: label values are text")
    value = text(empty=True, allowed=_LABEL_VALUE)(value, path, problems)
    if value is INVALID:
        return INVALID
    sample = value
    for name, example in LABEL_PLACEHOLDERS.items():
        sample = sample.replace(f"{{{name}}}", example)
    leftover = re.search(r"\{([^{}]*)\}", sample)
    if leftover:
        problems.add(
            "labels.unknown_placeholder",
            path,
            "names a value that no node knows",
            value=value,
            allowed=", ".join(f"{{{name}}}" for name in LABEL_PLACEHOLDERS),
            nearest=nearest(leftover.group(1), LABEL_PLACEHOLDERS),
        )
        return INVALID
    reason = label_value_problem(sample)
    if reason:
        problems.add("labels.invalid_value", path, reason, value=value, allowed=_LABEL_VALUE)
    return INVALID if reason else value


def _flag_name(value: Any, path: str, problems: Problems) -> Any:
    if re.fullmatch(r"[a-z0-9][a-z0-9-]*", value):
        return value
    fix = f"write {value.lstrip('-')} without the dashes" if re.fullmatch(r"-+[a-z0-9][a-z0-9-]*", value) else None
    problems.add(
        "kubelet.invalid_flag_name", path, "is not a flag name", allowed="lower-case letters, digits and -, without leading dashes", fix=fix
    )
    return INVALID


def _flag_value(value: Any, path: str, problems: Problems) -> Any:
    if isinstance(value, list):
        return list_of(scalar_text, filled=True)(value, path, problems)
    if isinstance(value, (dict, float)):
        return wrong_type(value, "text, an integer, a boolean or a list of them", path, problems)
    return scalar_text(value, path, problems)


def _max_pods(value: Any, path: str, problems: Problems) -> Any:
    if value == "auto":
        return value
    if isinstance(value, dict):
        return _MAX_PODS_RULE(value, path, problems)
    if isinstance(value, (int, str)) and not isinstance(value, bool) and str(value) == "0":
        problems.add(
            "capacity.zero_max_pods",
            path,
            "0 lets no pod run, not even the CNI's own",
            value=value,
            allowed="1 to 65535, auto, or {mode: …}",
            fix="leave it out to keep the image's choice",
        )
        return INVALID
    return integer(1, 65535)(value, path, problems)


def _auto_or_quantities(value: Any, path: str, problems: Problems) -> Any:
    if value == "auto":
        return value
    if not isinstance(value, dict):
        return wrong_type(value, f"auto or a mapping of {', '.join(RESERVABLE)}", path, problems)
    return record({name: quantity for name in RESERVABLE})(value, path, problems)


def _kubernetes_version(value: Any, path: str, problems: Problems) -> Any:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        fix = "quote it with all its digits: as a number, 1.30 is 1.3"
        problems.add("input.wrong_type", path, f"must be text, not {type_name(value)}", value=value, allowed=_VERSION_FORM, fix=fix)
        return INVALID
    return _VERSION(value, path, problems)


def _ubuntu_release(value: Any, path: str, problems: Problems) -> Any:
    value = f"{value:.2f}" if isinstance(value, float) else value
    return choice("20.04", "22.04", "24.04", "26.04")(value, path, problems)


_LINE = text()
_VERSION_FORM = 'a version such as "1.33"'
_VERSION = text(pattern=r"v?1\.[0-9]{1,2}(\.[0-9]+)?([+-][0-9A-Za-z.+-]+)?", what="a Kubernetes version", allowed=_VERSION_FORM)
_SCRIPT = text(multiline=True, secret=True)
_URL = text(pattern=r"https?://[^\s/]+\S*", what="a URL", allowed="a URL such as https://mirror.example.com")
_PROXY_URL = text(pattern=r"https?://[^\s/]+\S*", what="a URL", allowed="a URL such as http://proxy.example.com:3128", secret=True)
_REGISTRY = text(
    pattern=r"_default|[0-9A-Za-z]([0-9A-Za-z.-]*[0-9A-Za-z])?(:[0-9]{1,5})?",
    what="a registry host",
    allowed="a host such as docker.io, host:port, or _default",
)

_MAX_PODS_RULE = record(
    {
        "mode": choice("eni", "prefix", "windows_secondary_ip", "windows_prefix"),
        "custom_networking": boolean,
        "reserved_enis": integer(0, 64),
        "ceiling": boolean,
    },
    required={"mode": "eni, prefix, windows_secondary_ip, windows_prefix"},
)

CLUSTER: dict[str, Kind] = {
    "name": text(pattern=r"[0-9A-Za-z][0-9A-Za-z_-]{0,99}", what="the name of an EKS cluster", allowed="1 to 100 letters, digits, - and _"),
    "endpoint": text(
        pattern=r"https://([0-9A-Za-z.-]+|\[[0-9A-Fa-f:]+\])(:[0-9]{1,5})?/?",
        what="an https URL",
        allowed="an https URL such as https://ABC.gr7.eu-west-1.eks.amazonaws.com",
    ),
    "certificate_authority": _certificate_authority,
    "service_cidr": cidr,
    "dns_ips": list_of(ip_address, single=True, filled=True),
    "region": text(pattern=r"[a-z]{2,4}(-[a-z]+)+-[0-9]{1,2}", what="an AWS region", allowed="a region such as eu-west-1"),
    "kubernetes_version": _kubernetes_version,
    "id": text(pattern=r"[0-9A-Za-z-]{1,64}", what="the id of a local cluster", allowed="1 to 64 letters, digits and -"),
    "outpost": boolean,
}

INSTANCE: dict[str, Kind] = {
    "type": _LINE,
    "types": list_of(_LINE, filled=True),
    "max_enis": integer(1, 1024),
    "ips_per_eni": integer(1, 1024),
    "vcpus": integer(1, 4096),
    "hostname_type": choice("ip_name", "resource_name"),
}

TAINT: dict[str, Kind] = {"key": _LINE, "value": text(empty=True), "effect": choice(*taint_effects)}

WINDOWS: dict[str, Kind] = {
    "version": choice("2019", "2022", "2025"),
    "edition": choice("core", "full"),
    "excluded_snat_cidrs": list_of(cidr, single=True),
    "kube_proxy_extra_args": list_of(_LINE, single=True),
    "container_runtime": choice("containerd", "docker"),
    "eks_endpoint": text(pattern=r"https://\S+", what="an https URL", allowed="the https URL of an EKS API endpoint"),
    "persist": boolean,
}

NODE_GROUP: dict[str, Kind] = {
    "name": text(pattern=r"[0-9A-Za-z][0-9A-Za-z_-]{0,62}", what="the name of a node group", allowed="1 to 63 letters, digits, - and _"),
    "family": choice(*FAMILIES, aliases={alias: alias for alias in FAMILY_ALIASES}),
    "mode": choice(*MODES),
    "strategy": choice("bootstrap_script", "static"),
    "instance": record(INSTANCE),
    "labels": map_of(_label_value, key=_label_key),
    "taints": list_of(
        record(TAINT, required={"key": "a taint key such as dedicated or example.com/gpu", "effect": ", ".join(taint_effects)})
    ),
    "max_pods": _max_pods,
    "reserved": record({"kube": _auto_or_quantities, "system": record({name: quantity for name in RESERVABLE})}),
    "kubelet": record({"config": mapping, "flags": map_of(_flag_value, key=_flag_name)}),
    "containerd": record(
        {"config": mapping, "registry_mirrors": map_of(list_of(_URL, single=True, filled=True), key=_REGISTRY), "pause_image": _LINE}
    ),
    "local_storage": record(
        {
            "strategy": choice("raid0", "raid10", "mount"),
            "mount_path": text(pattern=r"(/[0-9A-Za-z._-]+)+", what="an absolute path", allowed="a path such as /mnt/k8s-disks"),
        },
        required={"strategy": "raid0, raid10, mount"},
    ),
    "proxy": record(
        {
            "http": _PROXY_URL,
            "https": _PROXY_URL,
            "no_proxy": list_of(
                text(pattern=r"[^\s,]+", what="one entry of NO_PROXY", allowed="a host, domain or CIDR, without blanks and commas"),
                single=True,
            ),
        }
    ),
    "commands": record({"pre": list_of(_SCRIPT, single=True), "post": list_of(_SCRIPT, single=True)}),
    "override": _SCRIPT,
    "user_data": list_of(text(multiline=True, empty=True, secret=True), single=True),
    "user_data_precedence": choice("ours", "theirs"),
    "allow_secrets_in_user_data": boolean,
    "nodeadm": mapping,
    "bottlerocket": record({"settings": mapping}),
    "windows": record(WINDOWS),
    "ubuntu": record({"release": _ubuntu_release}),
}

UNKNOWN_NODE_GROUP_FIELDS = {
    "amiFamily": "write family, or translate the whole file with the filter from_eksctl",
    "maxPodsPerNode": "write max_pods, or translate the whole file with the filter from_eksctl",
    "kubeletExtraConfig": "write kubelet.config, or translate the whole file with the filter from_eksctl",
    "preBootstrapCommands": "write commands.pre, or translate the whole file with the filter from_eksctl",
    "overrideBootstrapCommand": "write override, or translate the whole file with the filter from_eksctl",
    "clusterDNS": "write kubelet.config.clusterDNS or cluster.dns_ips",
    "bootstrap_extra_args": "write kubelet.flags, labels, taints and max_pods as fields",
}

CLUSTER_KIND = record(CLUSTER)
NODE_GROUP_KIND = record(NODE_GROUP, required={"family": ", ".join(FAMILIES)}, unknown=UNKNOWN_NODE_GROUP_FIELDS)

__all__ = ["CLUSTER", "CLUSTER_KIND", "FAMILY_ALIASES", "NODE_GROUP", "NODE_GROUP_KIND", "free", "joined"]

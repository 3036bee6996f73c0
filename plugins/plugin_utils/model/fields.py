# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Declares the public fields: every name below C(cluster) and C(node_group), its description and its allowed values.

The documentation, the JSON Schema files and the checks of the input all come from this declaration (C(tools/input_reference.py)).
"""

from __future__ import annotations

import re
from typing import Any

from ..errors import Problems, nearest
from ..kubernetes import taint_effects
from . import registries, values
from .plain import INVALID
from .role_arn import role_arn_text
from .schema import Kind, boolean, choice, field, integer, list_of, map_of, mapping, record, text, wrong_type
from .spec import PostCommand

_Aliases = dict[str, tuple[str, dict[str, dict[str, str]]]]

EKSCTL_FAMILIES: _Aliases = {
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
"""The C(amiFamily) names of eksctl, each with its family and with the fields that it implies."""

AMI_TYPES: _Aliases = {
    **dict.fromkeys(("AL2_x86_64", "AL2_x86_64_GPU", "AL2_ARM_64"), ("al2", {})),
    **{
        f"AL2023_{kind}": ("al2023", {})
        for kind in ("x86_64_STANDARD", "ARM_64_STANDARD", "x86_64_NEURON", "x86_64_NVIDIA", "ARM_64_NVIDIA")
    },
    **{
        f"BOTTLEROCKET_{architecture}{variant}": ("bottlerocket", {})
        for architecture in ("x86_64", "ARM_64")
        for variant in ("", "_FIPS", "_NVIDIA", "_NVIDIA_FIPS")
    },
    **{
        f"WINDOWS_{edition.upper()}_{version}_x86_64": ("windows", {"windows": {"version": version, "edition": edition}})
        for version in ("2019", "2022", "2025")
        for edition in ("core", "full")
    },
}
"""The C(amiType) names of managed node groups (EKS API, CreateNodegroup), in the same form."""

FAMILY_ALIASES = EKSCTL_FAMILIES | AMI_TYPES
"""All other names of families."""

FAMILIES = ("al2", "al2023", "bottlerocket", "ubuntu", "windows")
MODES = ("self_managed", "managed_custom_ami", "managed", "karpenter")
RESERVABLE = ("cpu", "memory", "ephemeral-storage", "pid")
"""What kubelet can reserve (KubeletConfiguration v1beta1, C(kubeReserved) and C(systemReserved))."""


def _max_pods(value: Any, path: str, problems: Problems) -> Any:
    if value == "auto":
        return value
    if isinstance(value, dict):
        return _MAX_PODS_RULE(value, path, problems)
    if isinstance(value, (int, str)) and not isinstance(value, bool) and str(value) == "0":
        problems.add(
            "capacity.zero_max_pods",
            path,
            "with 0, no pod can run on the node, not even the CNI's",
            value=value,
            allowed="1 to 65535, auto, or {mode: …}",
            fix="remove it to keep the image's default",
        )
        return INVALID
    if isinstance(value, int) or (isinstance(value, str) and re.fullmatch("-?[0-9]+", value)):
        return integer(1, 65535)(value, path, problems)
    return wrong_type(value, "an integer from 1 to 65535, auto, or a mapping such as {mode: eni}", path, problems)


def _auto_or_quantities(value: Any, path: str, problems: Problems) -> Any:
    if value == "auto":
        return value
    if not isinstance(value, dict):
        guess = nearest(value, ["auto"]) if isinstance(value, str) else None
        return wrong_type(value, f"auto or a mapping of {', '.join(RESERVABLE)}", path, problems, guess=guess)
    return record({name: values.quantity for name in RESERVABLE})(value, path, problems)


_LINE = text()
_SCRIPT = text(multiline=True, secret=True)

_POST_COMMAND = record(
    {
        "run": field(_SCRIPT, "The commands."),
        "when": field(
            choice("healthy", "ready"),
            "What the commands wait for: `healthy` is the health check of kubelet, `ready` is the condition Ready of the Node, read from "
            "the API server with the credentials of kubelet. Windows supports only `healthy`.",
            default=PostCommand.when,
        ),
        "timeout": field(
            integer(1, 86400),
            "How many seconds the commands wait. After this time they fail without running, and so do the commands after them.",
            default=PostCommand.timeout,
        ),
    },
    required={"run": "shell commands, or PowerShell on Windows"},
)


def _post_command(value: Any, path: str, problems: Problems) -> Any:
    # A key that is not a word is the start of a command that has a colon, such as echo "a: b" without quotes.
    if not isinstance(value, dict) or not all(isinstance(key, str) and key.isidentifier() for key in value):
        checked = _SCRIPT(value, path, problems)
        return INVALID if checked is INVALID else {"run": checked}
    checked = _POST_COMMAND(value, path, problems)
    return checked if checked is not INVALID and "run" in checked else INVALID


_POST_ITEM = field(_post_command, "A mapping, or text.", **{**_POST_COMMAND.schema, "type": ["object", "string"]})

_PROXY_URL = text(
    pattern=r"https?://[^\s/]+\S*", what="a URL", allowed="a URL such as http://proxy.example.com:3128", secret=True, scheme="http"
)
_REGISTRY = text(
    pattern=r"_default|[0-9A-Za-z]([0-9A-Za-z.-]*[0-9A-Za-z])?(:[0-9]{1,5})?",
    what="a registry host",
    allowed="a host such as docker.io, host:port, or _default",
)
REGISTRY_MIRRORS = map_of(registries.mirrors, key=_REGISTRY)
"""Registry hosts, each with its mirrors."""


_SCRIPT_FAMILIES = ("al2", "ubuntu")
_CLOUD_INIT_FAMILIES = ("al2", "al2023", "ubuntu")
_NOT_BOTTLEROCKET = ("al2", "al2023", "ubuntu", "windows")

_MAX_PODS_RULE = record(
    {
        "mode": field(
            choice("eni", "prefix", "windows_secondary_ip", "windows_prefix"),
            "How the VPC CNI assigns addresses: `eni` or `prefix`, on Windows `windows_secondary_ip` or `windows_prefix`.",
        ),
        "custom_networking": field(
            boolean, "Whether the VPC CNI uses custom networking, which takes one network interface from the pods.", default=False
        ),
        "reserved_enis": field(integer(0, 64), "Number of network interfaces that pods do not use.", default=0),
        "ceiling": field(
            boolean, "Whether to limit the number to 110, or to 250 for more than 30 vCPUs, as EKS recommends.", default=False
        ),
    },
    required={"mode": "eni, prefix, windows_secondary_ip, windows_prefix"},
)

_QUANTITIES: dict[str, Kind] = {
    "cpu": field(values.quantity, "Reserved CPU, for example `100m`.", type=["string", "number"]),
    "memory": field(values.quantity, "Reserved memory, for example `574Mi`.", type=["string", "number"]),
    "ephemeral-storage": field(values.quantity, "Reserved ephemeral storage, for example `1Gi`.", type=["string", "number"]),
    "pid": field(values.quantity, "Reserved process IDs, for example `1000`.", type=["string", "number"]),
}

CLUSTER: dict[str, Kind] = {
    "name": field(
        text(pattern=r"[0-9A-Za-z][0-9A-Za-z_-]{0,99}", what="the name of an EKS cluster", allowed="1 to 100 letters, digits, - and _"),
        "Name of the EKS cluster. Required except in `mode: managed`.",
    ),
    "endpoint": field(
        text(
            pattern=r"https://([0-9A-Za-z.-]+|\[[0-9A-Fa-f:]+\])(:[0-9]{1,5})?/?",
            what="an https URL",
            allowed="an https URL such as https://ABC.gr7.eu-west-1.eks.amazonaws.com",
            scheme="https",
        ),
        "The https URL of the API server. Required except in `mode: managed`.",
    ),
    "certificate_authority": field(
        values.certificate_authority,
        "Certificate authority of the cluster: base64 of PEM, as in `certificateAuthority.data` of `aws eks describe-cluster`. "
        "Required except in `mode: managed`.",
        type="string",
    ),
    "service_cidr": field(
        values.cidr,
        "Range of the service addresses (IPv4 or IPv6). It determines the IP family of the node. Required for al2023 and windows; "
        "the other families need `service_cidr` or `dns_ips`.",
        type="string",
    ),
    "dns_ips": field(
        list_of(field(values.ip_address, "An IP address.", type="string"), single=True, filled=True),
        "Name servers for pods. The default is host 10 of the service CIDR. The addresses can be outside of the service CIDR "
        "(node-local DNS). In `mode: managed` EKS gives the nodes host 10; other addresses are rendered on al2023 and Bottlerocket "
        "and rejected on the other families.",
    ),
    "region": field(
        text(pattern=r"[a-z]{2,4}(-[a-z]+)+-[0-9]{1,2}", what="an AWS region", allowed="a region such as eu-west-1"),
        "AWS region. Required for `strategy: static`.",
    ),
    "kubernetes_version": field(
        values.kubernetes_version,
        'Kubernetes version, in quotes, for example `"1.33"`. Without it the version checks are skipped, and `node_spec` lists them in '
        "`unchecked`.",
        type="string",
    ),
    "id": field(
        text(pattern=r"[0-9A-Za-z-]{1,64}", what="the id of a local cluster", allowed="1 to 64 letters, digits and -"),
        "ID of a local cluster on Outposts.",
    ),
    "outpost": field(boolean, "Whether the control plane runs on Outposts.", default=False),
}

INSTANCE: dict[str, Kind] = {
    "type": field(_LINE, "EC2 instance type."),
    "types": field(
        list_of(_LINE, filled=True),
        "EC2 instance types of a mixed group. Values are computed for the smallest one. Cannot be combined with `type`.",
    ),
    "max_enis": field(integer(1, 1024), "Number of network interfaces, for an instance type that the built-in table does not contain."),
    "ips_per_eni": field(
        integer(1, 1024),
        "Number of IPv4 addresses for each network interface, for an instance type that the built-in table does not contain.",
    ),
    "vcpus": field(integer(1, 4096), "Number of vCPUs, for an instance type that the built-in table does not contain."),
    "hostname_type": field(
        choice("ip_name", "resource_name"), "Hostname type of the subnet. Only `strategy: static` needs it.", default="ip_name"
    ),
}

TAINT: dict[str, Kind] = {
    "key": field(_LINE, "Key of the taint."),
    "value": field(text(empty=True), "Value of the taint.", default=""),
    "effect": field(choice(*taint_effects), "Effect of the taint."),
}

_TAINT_RECORD = record(TAINT, required={"key": "a taint key such as dedicated or example.com/gpu", "effect": ", ".join(taint_effects)})
_TAINT_TEXT = re.compile(r"(?P<key>[^=:,]+)(=(?P<value>[^=:,]*))?:(?P<effect>[^=:,]+)")


def _taint(value: Any, path: str, problems: Problems) -> Any:
    """A mapping, or the spelling of C(kubectl taint): C(key=value:Effect)."""
    if not isinstance(value, str):
        return _TAINT_RECORD(value, path, problems)
    match = _TAINT_TEXT.fullmatch(value)
    if not match:
        several = all(map(_TAINT_TEXT.fullmatch, value.split(",")))
        problems.add(
            "input.invalid_text",
            path,
            "is not a taint",
            value=value,
            allowed='a mapping with key, value and effect, or text such as "dedicated=gpu:NoSchedule"',
            fix="write one list item for each taint" if several else None,
        )
        return INVALID
    return _TAINT_RECORD({name: part for name, part in match.groupdict().items() if part}, path, problems)


WINDOWS: dict[str, Kind] = {
    "version": field(choice("2019", "2022", "2025"), "Version of Windows Server."),
    "edition": field(choice("core", "full"), "Edition of Windows Server."),
    "excluded_snat_cidrs": field(
        list_of(field(values.cidr, "A CIDR.", type="string"), single=True), "Ranges that the node reaches without source NAT."
    ),
    "kube_proxy_extra_args": field(list_of(_LINE, single=True), "Arguments for kube-proxy, one `--name=value` in each item."),
    "container_runtime": field(
        choice("containerd"), "Container runtime that `Start-EKSBootstrap.ps1` starts. Without it, the script chooses."
    ),
    "eks_endpoint": field(
        text(pattern=r"https://\S+", what="an https URL", allowed="the https URL of an EKS API endpoint", scheme="https"),
        "URL of the EKS API endpoint that the bootstrap script calls.",
    ),
    "persist": field(boolean, "Whether the user data runs at every boot, not only at the first one.", default=False),
}

NODE_GROUP: dict[str, Kind] = {
    "name": field(
        text(pattern=r"[0-9A-Za-z][0-9A-Za-z_-]{0,62}", what="the name of a node group", allowed="1 to 63 letters, digits, - and _"),
        "Name of the node group. `render` uses it as the name of the file.",
    ),
    "family": field(
        choice(*FAMILIES, aliases={alias: alias for alias in FAMILY_ALIASES}),
        "Operating system of the nodes. The `amiFamily` names of eksctl and the `amiType` names of EKS are aliases. Those of Windows, such "
        "as `WindowsServer2022CoreContainer` or `WINDOWS_CORE_2022_x86_64`, also set `windows.version` and `windows.edition`, and "
        "`Ubuntu2404` also sets `ubuntu.release`.",
    ),
    "role_arn": field(
        role_arn_text,
        "ARN of the IAM role of the nodes, the one in their instance profile, with its path. User data does not contain it: the playbook "
        "`access` lets the role join the cluster.",
        type="string",
    ),
    "mode": field(
        choice(*MODES),
        "What writes the part of the user data that joins the cluster. `self_managed`: this collection, for your own Auto Scaling "
        "group. `managed_custom_ami`: this collection, for a managed node group whose launch template names an AMI. `managed`: EKS, for "
        "a managed node group whose AMI EKS chooses; only additions are rendered. `karpenter`: Karpenter; the user data contains only what "
        "Karpenter does not render itself, and the filter `karpenter_manifests` returns the rest.",
        default="self_managed",
    ),
    "strategy": field(
        choice("bootstrap_script", "static"),
        "`bootstrap_script` calls `/etc/eks/bootstrap.sh` of the image. `static` writes finished configuration files, and the node makes "
        "no API call.",
        only=_SCRIPT_FAMILIES,
        default="bootstrap_script",
    ),
    "instance": field(
        record(INSTANCE, main="type"), "Instance type, for values that depend on it. Set `type`, `types` or the three numbers."
    ),
    "labels": field(
        map_of(
            field(values.label_value, "Value of the label.", type="string"),
            key=values.label_key,
            allowed="label keys and values such as {role: web}",
        ),
        "Node labels. On al2, al2023 and ubuntu a value can contain `{instance_id}`, `{instance_lifecycle}` and `{availability_zone}`, "
        "which the node replaces when it boots.",
    ),
    "taints": field(
        list_of(
            field(_taint, "A taint.", **{**_TAINT_RECORD.schema, "type": ["object", "string"]}),
            single=True,
            allowed='taints such as ["dedicated=gpu:NoSchedule"] or [{key: dedicated, value: gpu, effect: NoSchedule}]',
        ),
        "Node taints: mappings, or text as in `kubectl taint`, for example `dedicated=gpu:NoSchedule`. A key can be given once for each "
        "effect.",
    ),
    "max_pods": field(
        _max_pods,
        "Maximum number of pods: an integer, `auto` (live nodes only: the node reports its instance type), or a mapping that computes "
        "it from the instance type. By default the image decides.",
        **{**_MAX_PODS_RULE.schema, "type": ["integer", "string", "object"], "pattern": "^(auto|[0-9]+)$", "minimum": 1, "maximum": 65535},
    ),
    "reserved": field(
        record(
            {
                "kube": field(
                    _auto_or_quantities,
                    "Resources that are reserved for Kubernetes components: `auto`, or quantities. `auto` computes cpu, memory and "
                    "ephemeral-storage from the final number of pods and the vCPUs.",
                    **{**record(_QUANTITIES).schema, "type": ["object", "string"], "enum_text": ["auto"]},
                ),
                "system": field(record(_QUANTITIES), "Resources that are reserved for system components."),
            }
        ),
        "Resources that pods cannot use. By default the image decides.",
    ),
    "kubelet": field(
        record(
            {
                "config": field(mapping, "Fields of KubeletConfiguration, in camelCase, checked for the Kubernetes version."),
                "flags": field(
                    map_of(
                        field(values.flag_value, "Value, or a list of values for a flag that can be repeated."),
                        key=values.flag_name,
                        allowed="names and values such as {v: 2}",
                    ),
                    "Command-line flags: names without dashes, mapped to a value or to a list of values.",
                ),
            }
        ),
        "Settings of kubelet.",
    ),
    "containerd": field(
        record(
            {
                "config": field(
                    mapping, "Settings of containerd, written as TOML. On ubuntu it needs `strategy: static`.", only=_CLOUD_INIT_FAMILIES
                ),
                "registry_mirrors": field(
                    REGISTRY_MIRRORS,
                    "Registry hosts (or `_default`), each mapped to its mirrors in order. A mirror is a URL, or a mapping with `url`, "
                    "`override_path`, `ca`, `skip_verify`, `capabilities` and `dial_timeout`.",
                ),
                "pause_image": field(_LINE, "Pause image, which holds the namespaces of a pod.", only=_SCRIPT_FAMILIES),
            }
        ),
        "Settings of the container runtime.",
        only=("al2", "al2023", "bottlerocket", "ubuntu"),
    ),
    "trust": field(
        registries.trust,
        "Certificates of your own certificate authorities, in PEM. The operating system, containerd and the programs that kubelet starts "
        "trust them before the node pulls or downloads anything.",
    ),
    "local_storage": field(
        record(
            {
                "strategy": field(choice("raid0", "raid10", "mount"), "How the disks are combined. Bottlerocket supports only `raid0`."),
                "mount_path": field(
                    text(pattern=r"(/[0-9A-Za-z._-]+)+", what="an absolute path", allowed="a path such as /mnt/k8s-disks"),
                    "Directory where the disks are mounted.",
                    only=("al2", "al2023"),
                ),
            },
            required={"strategy": "raid0, raid10, mount"},
        ),
        "Use of the instance store disks.",
        only=("al2", "al2023", "bottlerocket"),
    ),
    "proxy": field(
        record(
            {
                "http": field(_PROXY_URL, "Proxy for http requests."),
                "https": field(_PROXY_URL, "Proxy for https requests."),
                "no_proxy": field(
                    list_of(
                        text(pattern=r"[^\s,]+", what="one entry of NO_PROXY", allowed="a host, domain or CIDR, without spaces and commas"),
                        single=True,
                    ),
                    "Hosts, domains and CIDRs that are reached directly. localhost, the metadata service, `.internal`, the service CIDR "
                    "and the endpoint are added. Add the CIDRs of your VPC.",
                ),
            }
        ),
        "Proxy for outgoing requests.",
    ),
    "commands": field(
        record(
            {
                "pre": field(
                    list_of(_SCRIPT, single=True),
                    "Commands that run before the node joins. The first command that fails stops the node from joining.",
                ),
                "post": field(
                    list_of(_POST_ITEM, single=True, allowed="a list such as [{run: COMMANDS, when: ready}]"),
                    "Commands that run after kubelet has started, without delaying the join. An item is text, which runs when kubelet is "
                    "healthy, or a mapping with `run`, `when` and `timeout`.",
                ),
            }
        ),
        "Shell commands (PowerShell on Windows).",
        only=_NOT_BOTTLEROCKET,
    ),
    "override": field(
        _SCRIPT,
        "On al2, ubuntu and windows: a script that replaces the call of the bootstrap script, as in eksctl. On al2023: a NodeConfig "
        "that is merged last.",
        only=_NOT_BOTTLEROCKET,
    ),
    "user_data": field(
        list_of(text(multiline=True, empty=True, secret=True), single=True),
        "Existing user data to merge with: MIME, cloud-config, shell, NodeConfig, TOML or PowerShell; plain, base64, or gzip in base64.",
    ),
    "user_data_files": field(
        list_of(field(values.named_file, "Path of a file.", type="string"), single=True),
        "Paths of files with existing user data, which are merged after `user_data`. Relative paths start at `eks_node_files_dir`, by "
        "default the current directory. In filters they start at the current directory.",
    ),
    "user_data_precedence": field(
        choice("ours", "theirs"),
        "Which value wins if `user_data` and the fields disagree. By default a disagreement is an error.",
    ),
    "allow_secrets_in_user_data": field(
        boolean,
        "Whether text that looks like a secret is allowed. Files on the node, including files that the user data writes, are then "
        "readable only by their owner, and diffs show only sizes.",
        default=False,
    ),
    "nodeadm": field(mapping, "The `spec` of a NodeConfig without `cluster`, in the spelling of nodeadm.", only=("al2023",)),
    "bottlerocket": field(
        record({"settings": field(mapping, "Bottlerocket settings: everything below `settings`, in the spelling of Bottlerocket.")}),
        "Settings of Bottlerocket.",
        only=("bottlerocket",),
    ),
    "windows": field(record(WINDOWS), "Settings of Windows.", only=("windows",)),
    "ubuntu": field(
        record(
            {
                "release": field(
                    values.ubuntu_release, "Release of Ubuntu, in quotes.", type="string", enum=["20.04", "22.04", "24.04", "26.04"]
                ),
                "kubelet": field(
                    choice("snap", "unit"),
                    "How kubelet is installed: `snap` on Canonical's images, `unit` (`kubelet.service`) on images of the role "
                    "`eks_node_image`. `unit` needs `strategy: static`.",
                    default="snap",
                ),
            }
        ),
        "Settings of Ubuntu.",
        only=("ubuntu",),
    ),
}

_FLAGS_AS_FIELDS = "write kubelet.flags, labels, taints and max_pods as fields"

UNKNOWN_CLUSTER_FIELDS = {
    "cluster": "pass its value as cluster",
    "certificateAuthorityData": "write certificate_authority",
    "certificateAuthority": "write certificate_authority, with the value of data",
    "cidr": "write service_cidr",
    "kubernetesNetworkConfig": "write service_cidr, with the value of serviceIpv4Cidr or serviceIpv6Cidr",
    "version": "write kubernetes_version",
}

UNKNOWN_NODE_GROUP_FIELDS = {
    "amiFamily": "write family, or translate the whole file with the filter from_eksctl",
    "maxPodsPerNode": "write max_pods, or translate the whole file with the filter from_eksctl",
    "kubeletExtraConfig": "write kubelet.config, or translate the whole file with the filter from_eksctl",
    "preBootstrapCommands": "write commands.pre, or translate the whole file with the filter from_eksctl",
    "overrideBootstrapCommand": "write override, or translate the whole file with the filter from_eksctl",
    "clusterDNS": "write kubelet.config.clusterDNS or cluster.dns_ips",
    **dict.fromkeys(("bootstrap_extra_args", "kubelet_extra_args", "kubeletExtraArgs", "extra_args"), _FLAGS_AS_FIELDS),
    **dict.fromkeys(("amiType", "ami_type", "ami_family"), "write family, which also accepts amiFamily and amiType names"),
    **dict.fromkeys(("instanceType", "instance_type"), "write instance.type"),
    **dict.fromkeys(("instanceTypes", "instance_types"), "write instance.types"),
    "kubernetes_version": "write cluster.kubernetes_version",
    "cluster_name": "write cluster.name",
}

CLUSTER_KIND = record(CLUSTER, unknown=UNKNOWN_CLUSTER_FIELDS)
NODE_GROUP_KIND = record(NODE_GROUP, required={"family": ", ".join(FAMILIES)}, unknown=UNKNOWN_NODE_GROUP_FIELDS)

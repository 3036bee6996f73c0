# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What becomes of each setting of the original: where it moves, why it is left out, or what the user has to decide."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from typing import Any

from ..artifacts.bottlerocket_kubelet import setting_of_flag
from ..bootstrap_calls import EXTRA_ARGS
from ..difference.shown import authority, shown
from ..formats.systemd import SPECIFIER
from ..kubelet_fields import Version
from ..lint.kubelet_settings import is_unexpanded
from .flags import fate
from .model import Argument, Decision
from .original import UNKNOWN, Given

_CLUSTER_TO = {
    "al2023": {
        "name": "spec.cluster.name",
        "endpoint": "spec.cluster.apiServerEndpoint",
        "certificate_authority": "spec.cluster.certificateAuthority",
        "service_cidr": "spec.cluster.cidr",
        "dns_ips": "spec.kubelet.config.clusterDNS",
        "outpost": "spec.cluster.enableOutpost",
        "id": "spec.cluster.id",
    },
    "bottlerocket": {
        "name": "settings.kubernetes.cluster-name",
        "endpoint": "settings.kubernetes.api-server",
        "certificate_authority": "settings.kubernetes.cluster-certificate",
        "service_cidr": "settings.kubernetes.cluster-dns-ip",
        "dns_ips": "settings.kubernetes.cluster-dns-ip",
    },
}
_KUBELET_TO = {
    "al2023": {
        "max-pods": "spec.kubelet.config.maxPods",
        "node-labels": "spec.kubelet.flags",
        "register-with-taints": "spec.kubelet.flags",
    },
    "bottlerocket": {
        "max-pods": "settings.kubernetes.max-pods",
        "node-labels": "settings.kubernetes.node-labels",
        "register-with-taints": "settings.kubernetes.node-taints",
    },
}
_STORAGE_TO = {"al2023": "spec.instance.localStorage.strategy", "bottlerocket": "settings.bootstrap-commands"}
_EXTRA_TO = {"al2023": "spec.kubelet", "bottlerocket": "settings.kubernetes"}
_BECOMES = {
    "--apiserver-endpoint": "endpoint",
    "--b64-cluster-ca": "certificate_authority",
    "--service-ipv4-cidr": "service_cidr",
    "--service-ipv6-cidr": "service_cidr",
    "--enable-local-outpost": "outpost",
    "--cluster-id": "id",
    "--dns-cluster-ip": "dns_ips",
}
"""Options that state a fact of the cluster."""

_SWITCHES = ("true", "false")
_AT_BOOT = ("write {instance_id}, {instance_lifecycle} or {availability_zone} as the value of the label in the node group of the result",)


@dataclass(frozen=True)
class Target:
    """What the settings move to.

    family_before: None if the text does not tell it. cluster: the facts of the text and of the caller. given_facts: the names of those of
    the caller. managed: whether EKS or Karpenter adds the facts of the cluster. kubelet_flags: the flags that have an effect.
    """

    family_before: str | None
    family: str
    version: Version
    cluster: Mapping[str, Any]
    given_facts: Container[str]
    managed: bool
    kubelet_flags: Container[str]


@dataclass(frozen=True)
class _Result:
    to: str | None = None
    dropped: str | None = None
    question: str | None = None
    choices: tuple[str, ...] = ()
    note: str | None = None


Rule = Callable[[str, Target], _Result]


def settle(given: Given, target: Target) -> tuple[Argument, Decision | None]:
    """The outcome of one setting, and what has to be decided about it."""
    result = _result(given, target)
    value = _shown(given)
    if result.question is not None:
        path = _path(given)
        argument = Argument(_name(given), value, given.place, "needs_decision", None, result.question)
        return argument, Decision(path, result.question, result.choices, given.place) if result.choices else None
    if result.dropped is not None:
        return Argument(_name(given), value, given.place, "dropped", None, result.dropped), None
    return Argument(_name(given), value, given.place, "moved", result.to, result.note), None


def _name(given: Given) -> str:
    return "name of the cluster" if given.kind == "name" else given.name


def _path(given: Given) -> str:
    if (field := fact_of(given)) is not None:
        return f"cluster.{field}"
    return f"kubelet {given.name}" if given.kind == "flag" else given.name


def _shown(given: Given) -> Any:
    if given.value is None or given.key == EXTRA_ARGS:
        return None
    return authority(given.value) if given.key == "--b64-cluster-ca" else shown(given.value, given.key)


def _result(given: Given, target: Target) -> _Result:
    if given.kind == "word":
        return _Result(dropped="is not an option of the script, which ignores it")
    if given.use == "uncertain":
        # There is one decision for the whole call.
        return _Result(question="belongs to a call that may not run")
    if given.use == "replaced":
        return _Result(dropped="has no effect: it is given again later, and the last one counts")
    if given.use == "unused":
        return _Result(dropped="has no effect: the call of the script does not run in the shell that sets it")
    if given.kind == "flag":
        return _flag(given, target)
    if given.key == EXTRA_ARGS:
        return _extra_args(given, target)
    if given.key in _ALWAYS_DROPPED:
        return _Result(dropped=_ALWAYS_DROPPED[given.key])
    if (field := fact_of(given)) is not None:
        return _fact(given, field, target)
    if given.value is None:
        return _unknown()
    return _RULES[given.key](given.value, target)


def fact_of(given: Given) -> str | None:
    """The field of the cluster that a setting states."""
    return "name" if given.kind == "name" else _BECOMES.get(given.key) if given.kind == "option" else None


_ALWAYS_DROPPED = {
    "--aws-api-retry-attempts": "nodeadm makes no requests to the EKS API, so there is nothing to repeat",
    "--docker-config-json": "configures Docker, which images for Kubernetes 1.24 and newer do not have",
    "--enable-docker-bridge": "configures Docker, which images for Kubernetes 1.24 and newer do not have",
    "--mount-bpf-fs": "systemd mounts /sys/fs/bpf on every node",
    "--pause-container-account": "the pause image is part of the AMI, and is not pulled",
    "--pause-container-version": "the pause image is part of the AMI, and is not pulled",
}


def _unknown(*others: str) -> _Result:
    return _Result(question="has a value that only the node knows, or that another tool fills in", choices=("write the value", *others))


def _fact(given: Given, field: str, target: Target) -> _Result:
    if field == "outpost" and given.value != "true":
        return _Result(dropped="is the default")
    if target.managed and field != "dns_ips":
        return _Result(dropped="EKS or Karpenter adds the facts of the cluster")
    if (given.value is None or is_unexpanded(given.value)) and field not in target.given_facts:
        return _unknown(f"set cluster.{field}")
    if field == "id" and not target.cluster.get("outpost"):
        choices = ("remove the option", "add --enable-local-outpost true, or set cluster.outpost")
        return _Result(question="names a local cluster on Outposts, and nothing says that the cluster is one", choices=choices)
    to = _CLUSTER_TO[target.family].get(field)
    if to is None:
        return _Result(question="has no setting on Bottlerocket", choices=("migrate to al2023",))
    is_known = given.value is not None and not is_unexpanded(given.value)
    return _Result(to=to, note=None if is_known else "the argument cluster gives the value, which the text does not contain")


def _extra_args(given: Given, target: Target) -> _Result:
    if any(mark in given.text for mark in "\"'\\"):
        fix = "remove the quotes and backslashes inside of the value"
        return _Result(question="contains quotes or backslashes, which change what kubelet gets", choices=(fix,))
    loose = [word for word in given.text.split() if not word.startswith("--") or UNKNOWN in word.partition("=")[0]]
    if any(UNKNOWN in word for word in loose):
        return _Result(question="contains flags that only the node knows, or that another tool fills in", choices=("write the flags",))
    if loose:
        choices = ("write each flag as --name=value", "remove the word")
        return _Result(question=f"contains the word {loose[0]}, which is not a flag of the form --name=value", choices=choices)
    return _Result(to=_EXTRA_TO[target.family], note="each of its flags is listed")


def _flag(given: Given, target: Target) -> _Result:
    name = given.key
    if name in _KUBELET_TO[target.family]:
        if given.value is None:
            return _unknown(*(_AT_BOOT if name == "node-labels" else ()))
        if target.managed and name != "max-pods":
            field = "labels" if name == "node-labels" else "taints"
            choices = (f"set the {field} of the managed node group in EKS, or of the NodePool, and remove them here",)
            return _Result(question="is set by EKS or Karpenter on nodes that they complete", choices=choices)
        return _percent(given, target) or _Result(to=_KUBELET_TO[target.family][name])
    found = fate(name, [given.value] if given.value is not None else [], target.family, target.version)
    if found.dropped is not None:
        return _Result(dropped=found.dropped)
    if found.question is not None:
        return _Result(question=found.question, choices=("remove it",))
    if given.value is None:
        return _unknown()
    if (percent := _percent(given, target)) is not None:
        return percent
    if found.field is not None:
        path = f"spec.kubelet.config.{found.field}" if target.family == "al2023" else f"settings.kubernetes.{setting_of_flag(name)}"
        return _Result(to=path, note="kubelet no longer has the flag, and reads the field instead")
    if target.family == "bottlerocket":
        setting = setting_of_flag(name)
        if setting is None:
            return _Result(question="has no setting on Bottlerocket", choices=("remove it", "migrate to al2023"))
        return _Result(to=f"settings.kubernetes.{setting}")
    return _Result(to="spec.kubelet.flags")


def _percent(given: Given, target: Target) -> _Result | None:
    value = given.value or ""
    rest = value.replace("%%", "") if target.family_before == "al2" else value
    is_changed = SPECIFIER.search(rest) or (target.family_before is None and "%%" in value)
    if not is_changed or target.family_before == "ubuntu":
        return None
    return _Result(
        question="contains a percent sign, which systemd can replace on Amazon Linux 2", choices=("write the value that kubelet gets",)
    )


def _container_runtime(value: str, _target: Target) -> _Result:
    if value == "containerd":
        return _Result(dropped="containerd is the only runtime")
    return _Result(dropped=f"{value} is not on the image: containerd is the only runtime")


def _containerd_config(_value: str, target: Target) -> _Result:
    if target.family == "bottlerocket":
        choices = ("remove the option, and write settings.container-runtime and settings.container-registry",)
    else:
        choices = (
            "remove the option from the call, and add the settings of the file as containerd.config to the node group of the result",
        )
    return _Result(question="names a file for containerd, whose content is not part of the call", choices=choices)


def _ip_family(value: str, target: Target) -> _Result:
    cidr = target.cluster.get("service_cidr")
    if cidr is None or target.managed or (":" in cidr) == (value == "ipv6"):
        return _Result(dropped="follows from the service CIDR of the cluster")
    choices = ("correct the service CIDR", "remove the option")
    return _Result(question=f"is {value}, but the service CIDR is {cidr}", choices=choices)


def _local_disks(value: str, target: Target) -> _Result:
    if value not in ("raid0", "raid10", "mount"):
        return _Result(question="is not a strategy", choices=("write raid0, raid10 or mount", "remove the option"))
    return _Result(to=_STORAGE_TO[target.family])


def _use_max_pods(value: str, target: Target) -> _Result:
    if value == "true":
        return _Result(dropped="is the default: the number of pods follows from the instance type")
    if value not in _SWITCHES:
        return _Result(question="is neither true nor false", choices=("write true or false",))
    if "max-pods" in target.kubelet_flags:
        return _Result(dropped="is not needed: --max-pods sets the number of pods")
    to = _KUBELET_TO[target.family]["max-pods"]
    return _Result(to=to, note="becomes 110, kubelet's own default, because the script computes no number")


_RULES: Mapping[str, Rule] = {
    "--container-runtime": _container_runtime,
    "--containerd-config-file": _containerd_config,
    "--ip-family": _ip_family,
    "--local-disks": _local_disks,
    "--use-max-pods": _use_max_pods,
}

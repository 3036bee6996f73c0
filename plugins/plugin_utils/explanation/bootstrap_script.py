# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Explains calls of C(/etc/eks/bootstrap.sh) on Amazon Linux 2 and Ubuntu.

The script runs where user data calls it, in the final stage of cloud-init. It starts kubelet before the commands after the call.
Sources: amazon-eks-ami, al2 branch of December 2025; the script of Canonical's images for Kubernetes 1.24 to 1.26.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .. import capacity, kubelet
from ..artifacts.kubelet_layers import image_base
from ..bootstrap_calls import EXTRA_ARGS, GUESSED_DNS, SCRIPT, Argument, FoundCall
from ..formats import json
from ..nodeconfig.predict import cluster_dns
from ..nodeconfig.read import NodeConfigError
from ..readers import bootstrap_script, run_commands
from ..readers.bootstrap_script import CallerScript
from ..readers.model import NotUnderstood, Place, UserData
from . import cloud_init, outcome
from .al2023 import registration
from .kubelet import Given, kubelet_config, kubelet_flags
from .model import Explanation, Setting, Step, Unknown
from .outcome import IPV4, PAUSE_IMAGE, PRIVATE_DNS_NAME, Kind, Machine, Outcome

_UNITS = {"al2": "kubelet.service", "ubuntu": "snap.kubelet-eks.daemon.service"}
_UNIT = cloud_init.FINAL
_CONFIG_FILE = "/etc/kubernetes/kubelet/kubelet-config.json"
_ARGS_FILE = "/etc/systemd/system/kubelet.service.d/10-kubelet-args.conf"
_EXTRA_ARGS_FILE = "/etc/systemd/system/kubelet.service.d/30-kubelet-extra-args.conf"
_KUBELET_ARGS = {
    "node-ip": IPV4,
    "pod-infra-container-image": PAUSE_IMAGE,
    "v": "2",
    "hostname-override": PRIVATE_DNS_NAME,
    "cloud-provider": "external",
}
"""The flags that the script of Amazon Linux 2 passes itself, in its order."""
_SNAP_ARGS = {"node-ip": IPV4, "hostname-override": PRIVATE_DNS_NAME, "cloud-provider": "external"}
_FROM_TEMPLATE = "the image has a template, into which the script writes values"
_OF_AL2 = {
    "/etc/systemd/system/kubelet.service": "the image has the unit, which the script copies",
    "/etc/systemd/system/sandbox-image.service": "the image has the unit, which pulls the pause image",
    "/etc/systemd/system/sys-fs-bpf.mount": "the script writes it only if no BPF file system is mounted",
}
_LOOKED_UP = "the script asks the EKS API for it"


@dataclass
class _Caller:
    """A certain call. place: of the script as it is in user data. options: known ones. lost: option → why it is unknown."""

    script: CallerScript
    call: FoundCall
    place: Callable[[Place], Place]
    options: dict[str, str] = field(default_factory=dict)
    lost: dict[str, str] = field(default_factory=dict)

    def where(self, argument: Argument | None = None) -> Place:
        """The place of the call, or of one of its arguments."""
        found = self.call.command.place if argument is None else argument.place
        return self.place(self.script.place(found))


def explain(found: UserData, family: str | None, machine: Machine) -> Explanation:
    """What a node does whose user data mentions the image's script. family: None if the text does not tell it."""
    unknown: list[Unknown] = []
    steps = cloud_init.steps(found, unknown)
    written = cloud_init.files(found)
    callers, conditional = _callers(found)
    for place in conditional:
        unknown.append(Unknown(SCRIPT, "it is not certain that this call runs", place))
    if family is None:
        unknown.append(Unknown("the family", "Amazon Linux 2 and Ubuntu have this script; pass the family"))
    if not callers:
        return Explanation(tuple(steps), tuple(written), {}, {}, {}, tuple(unknown))
    caller, *others = callers
    for other in others:
        unknown.append(Unknown(SCRIPT, "it is called a second time, and its second run changes only a part of its files", other.where()))
    _read_options(caller, unknown)
    of_family = family or "al2"
    outcomes = [(why, _outcome(caller, of_family, kind)) for why, kind in outcome.kinds(machine, of_family)]
    result = outcome.combine(outcomes)
    if family is None:
        result = Outcome({}, {}, {name: row for name, row in result.config.items() if row.source == "user_data"}, {})
    by_script = outcome.files_of(result, lambda _path: SCRIPT)
    taken = {file.path for file in by_script}
    files = sorted([*by_script, *(file for file in written if file.path not in taken)], key=lambda file: file.path)
    timeline: list[Step] = []
    is_done = False
    for step in steps:
        timeline.append(step)
        if not is_done and step.where == caller.where():
            timeline[-1] = Step("bootstrap", _UNIT, f"calls {SCRIPT}", step.where)
            timeline += _call_steps(caller, of_family, result)
            is_done = True
    rows = [row.value for table in (result.config, result.flags) for row in table.values()]
    unknown += [Unknown(name, why) for name, why in sorted(result.unknown.items())]
    unknown += outcome.used_placeholders([*rows, *(file.content for file in files)])
    return Explanation(tuple(timeline), tuple(files), result.config, result.flags, _settings(caller), tuple(unknown))


def _callers(found: UserData) -> tuple[list[_Caller], list[Place]]:
    """The certain calls, in their order, and the places of the others."""
    from ..formats.shell_reader import PackageMissing

    callers: list[_Caller] = []
    conditional: list[Place] = []
    commands = run_commands.with_script(found.parts)
    parts = found.parts if commands is None else (*found.parts, commands.parts[-1])
    for part in parts:
        if not bootstrap_script.calls(part):
            continue
        try:
            script = CallerScript.of(part)
        except (PackageMissing, RecursionError):
            continue

        def place(where: Place) -> Place:
            return where if commands is None else commands.in_document(NotUnderstood(where, "", "")).place

        for call in script.reading.found:
            one = _Caller(script, call, place)
            if call.command.is_certain:
                callers.append(one)
            else:
                conditional.append(one.where())
    return callers, conditional


def _read_options(caller: _Caller, unknown: list[Unknown]) -> None:
    for argument in caller.call.arguments:
        if argument.value is None:
            caller.lost[argument.name] = "the text of the call does not contain it"
            unknown.append(Unknown(argument.name or "the name of the cluster", caller.lost[argument.name], caller.where(argument)))
        elif argument.name:
            caller.options[argument.name] = argument.value
    if not caller.call.is_whole:
        unknown.append(Unknown(SCRIPT, "its number of arguments is known only on the node", caller.where()))
    extra = _extra(caller)
    if extra is not None and _is_quoted(extra):
        unknown.append(Unknown(EXTRA_ARGS, "it contains quotes, which systemd interprets", caller.where(extra)))


def _extra(caller: _Caller) -> Argument | None:
    return next((argument for argument in reversed(caller.call.arguments) if argument.name == EXTRA_ARGS), None)


def _is_quoted(argument: Argument) -> bool:
    return any(mark in (piece or "") for piece in argument.pieces for mark in "\"'\\")


def _settings(caller: _Caller) -> dict[str, Setting]:
    """The arguments of the call, by option. The name of the cluster is CLUSTER_NAME."""
    rows = {}
    for argument in caller.call.arguments:
        name = argument.name or "CLUSTER_NAME"
        rows[name] = Setting(argument.value, "user_data", name, caller.where(argument))
    return rows


def _given(caller: _Caller) -> Given:
    """The flags and the drop-in of user data."""
    flags: dict[str, list[str]] = {}
    origins: dict[str, Setting] = {}
    extra = _extra(caller)
    for flag in caller.call.flags if extra is None or not _is_quoted(extra) else ():
        origins[f"--{flag.name}"] = Setting(None, "user_data", EXTRA_ARGS, caller.where(flag))
        if flag.value is not None:
            flags.setdefault(flag.name, []).append(flag.value)
    place = Place(caller.script.part.index, 1, 1, len(caller.script.part.text.partition("\n")[0]))
    origins |= {name: Setting(None, "user_data", name, caller.place(place)) for name in caller.script.config}
    return Given(caller.script.config, {name: tuple(values) for name, values in flags.items()}, origins)


def _outcome(caller: _Caller, family: str, kind: Kind) -> Outcome:
    options, result = caller.options, Outcome()
    given = _given(caller)
    with_cgroups = not (family == "al2" and "reserved-cpus" in given.flags)
    base = image_base(family, kind.minor, with_cgroups=with_cgroups)
    lost: dict[str, str] = {}
    addresses = _dns(caller)
    if addresses:
        base["clusterDNS"] = addresses
    else:
        is_looked_up = not {"--apiserver-endpoint", "--b64-cluster-ca"} <= options.keys()
        lost["clusterDNS"] = _LOOKED_UP if is_looked_up else f"the script computes it on the instance: {GUESSED_DNS}"
    pods = capacity.max_pods(kind.shape)
    base["kubeReserved"] = capacity.kube_reserved(pods, kind.shape.vcpus or 1)
    if options.get("--use-max-pods", "true") == "true":
        base["maxPods"] = pods
    base["providerID"] = kubelet.provider_id(outcome.AVAILABILITY_ZONE, outcome.INSTANCE_ID)
    result.config = kubelet_config(kind.minor, base, given, lost)
    result.unknown |= {name: why for name, why in lost.items() if name not in result.config}
    image = _KUBELET_ARGS if family == "al2" else _SNAP_ARGS
    result.flags = kubelet_flags({name: (value,) for name, value in image.items()}, given)
    _add_files(caller, family, base, lost, result)
    return result


def _dns(caller: _Caller) -> list[str]:
    """The name servers that the call tells."""
    options = caller.options
    cidr = options.get("--service-ipv6-cidr") or options.get("--service-ipv4-cidr")
    if options.get("--dns-cluster-ip"):
        return options["--dns-cluster-ip"].split(",")
    try:
        return [cluster_dns(cidr)] if cidr else []
    except NodeConfigError:
        return []


def _add_files(caller: _Caller, family: str, base: Mapping[str, Any], lost: Mapping[str, str], result: Outcome) -> None:
    options = caller.options
    try:
        authority = base64.b64decode(options.get("--b64-cluster-ca", ""), validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        authority = ""
    if authority and "--apiserver-endpoint" in options:
        result.files[kubelet.CA_FILE] = authority
    else:
        result.unknown[kubelet.CA_FILE] = _LOOKED_UP
    result.unknown[kubelet.KUBECONFIG] = _FROM_TEMPLATE
    result.unknown[kubelet.CONTAINERD_CONFIG] = f"{_FROM_TEMPLATE}, among them the pause image"
    if family == "ubuntu":
        result.unknown[_CONFIG_FILE] = "the image has the file, in which the script sets kubeReserved, evictionHard and maxPods"
        return
    if lost:
        result.unknown[_CONFIG_FILE] = next(iter(lost.values()))
    else:
        result.files[_CONFIG_FILE] = json.dump(dict(base), indent=4)
    args = " ".join(f"--{name}={value}" for name, value in _KUBELET_ARGS.items())
    result.files[_ARGS_FILE] = f"[Service]\nEnvironment='KUBELET_ARGS={args}'\n"
    extra = _extra(caller)
    if extra is not None and extra.value is None:
        result.unknown[_EXTRA_ARGS_FILE] = caller.lost[EXTRA_ARGS]
    elif extra is not None and extra.value:
        result.files[_EXTRA_ARGS_FILE] = f"[Service]\nEnvironment='KUBELET_EXTRA_ARGS={extra.value}'\n"
    result.unknown |= _OF_AL2
    if options.get("--mount-bpf-fs") == "false":
        del result.unknown["/etc/systemd/system/sys-fs-bpf.mount"]


def _call_steps(caller: _Caller, family: str, result: Outcome) -> Iterator[Step]:
    where = caller.where()
    if strategy := caller.options.get("--local-disks"):
        yield Step("bootstrap", _UNIT, f"sets up the disks of the instance ({strategy})", where)
    if not {"--apiserver-endpoint", "--b64-cluster-ca"} <= caller.options.keys() and not caller.lost:
        yield Step("bootstrap", _UNIT, "asks the EKS API for the endpoint and the certificate authority", where)
    yield Step("bootstrap", _UNIT, "writes the configuration of containerd and kubelet", where)
    yield Step("bootstrap", _UNIT, f"starts {_UNITS[family]}", where)
    for step in registration(result.flags):
        yield replace(step, unit=_UNITS[family])

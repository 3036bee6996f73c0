# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Explains calls of C(/etc/eks/bootstrap.sh) on Amazon Linux 2 and Ubuntu.

The script runs where user data calls it, in the final stage of cloud-init. It starts kubelet before the commands after the call.
Sources: amazon-eks-ami, al2 branch of December 2025; the script of Canonical's images for Kubernetes 1.24 to 1.26.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .. import capacity, kubelet
from ..artifacts.kubelet_layers import image_base
from ..bootstrap_calls import EXTRA_ARGS, GUESSED_DNS, SCRIPT, VARIABLES, Argument, FoundCall
from ..formats import json
from ..kubelet_settings import field_of
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

_UNITS = {None: "kubelet", "al2": "kubelet.service", "ubuntu": "snap.kubelet-eks.daemon.service"}
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
_SETTINGS = "the settings of the script"
_NOT_IN_TEXT = "the text of the call does not contain it"
_LOOKED_UP = "the script asks the EKS API for it"
_DNS_OPTIONS = {"--dns-cluster-ip", "--service-ipv4-cidr", "--service-ipv6-cidr"}


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
    callers, uncertain = _callers(found)
    unknown += uncertain
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
    is_changed = any(item.what in (_SETTINGS, SCRIPT) for item in uncertain)
    if family is None:
        result = Outcome(config=_of_user(result.config))
    elif is_changed:
        lost = dict.fromkeys(result.files, "the script can do something else, because its settings are changed without options")
        result = Outcome({}, lost | result.unknown, _of_user(result.config))
    elif _has_unknown_flags(caller):
        result = Outcome(result.files, result.unknown, _of_user(result.config), _of_user(result.flags))
    by_script = outcome.files_of(result, lambda _path: SCRIPT)
    taken = {file.path for file in by_script}
    files = sorted([*by_script, *(file for file in written if file.path not in taken)], key=lambda file: file.path)
    timeline: list[Step] = []
    is_done = False
    for step in steps:
        timeline.append(step)
        if not is_done and step.where == caller.where():
            timeline[-1] = Step("bootstrap", _UNIT, f"calls {SCRIPT}", step.where)
            timeline += _call_steps(caller, family, result)
            is_done = True
    rows = [row.value for table in (result.config, result.flags) for row in table.values()]
    unknown += [Unknown(name, why) for name, why in sorted(result.unknown.items())]
    unknown += outcome.used_placeholders([*rows, *(file.content for file in files)])
    return Explanation(tuple(timeline), tuple(files), result.config, result.flags, _settings(caller), tuple(unknown))


def _of_user(rows: Mapping[str, Setting]) -> dict[str, Setting]:
    return {name: row for name, row in rows.items() if row.source == "user_data"}


def _callers(found: UserData) -> tuple[list[_Caller], list[Unknown]]:
    """The certain calls, in their order, and what else can change the settings of the script."""
    from ..formats.shell_reader import PackageMissing

    callers: list[_Caller] = []
    uncertain: list[Unknown] = []
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

        for command in script.reading.edits:
            uncertain.append(Unknown(SCRIPT, "a command changes the script itself", place(script.place(command.place))))
        for assignment in script.reading.exports:
            why = f"the script takes settings from {assignment.name}, too"
            uncertain.append(Unknown(_SETTINGS, why, place(script.place(assignment.place))))
        for call in script.reading.found:
            one = _Caller(script, call, place)
            if not call.command.is_certain:
                uncertain.append(Unknown("a call", "it is not certain that this call runs", one.where()))
                continue
            callers.append(one)
            for assignment in call.command.environment:
                if assignment.name in VARIABLES:
                    why = f"the script takes settings from {assignment.name}, too"
                    uncertain.append(Unknown(_SETTINGS, why, one.where()))
    return callers, uncertain


def _read_options(caller: _Caller, unknown: list[Unknown]) -> None:
    for argument in caller.call.arguments:
        if argument.value is None:
            caller.lost[argument.name] = _NOT_IN_TEXT
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


def _has_unknown_flags(caller: _Caller) -> bool:
    """Whether kubelet can get flags whose names are unknown."""
    extra = _extra(caller)
    if extra is None:
        return not caller.call.is_whole
    before = " "
    for piece in extra.pieces:
        if piece is None and before[-1:].isspace():
            return True
        before = piece or before
    return _is_quoted(extra) or not caller.call.is_whole


def _settings(caller: _Caller) -> dict[str, Setting]:
    """The arguments of the call, by option. The name of the cluster is CLUSTER_NAME."""
    rows = {}
    for argument in caller.call.arguments:
        name = argument.name or "CLUSTER_NAME"
        rows[name] = Setting(argument.value, "user_data", name, caller.where(argument))
    return rows


def _lost_flags(caller: _Caller) -> set[str]:
    """Flags whose values are unknown."""
    return {flag.name for flag in caller.call.flags if flag.value is None}


def _given(caller: _Caller) -> Given:
    """The flags and the drop-in of user data."""
    flags: dict[str, list[str]] = {}
    origins: dict[str, Setting] = {}
    extra = _extra(caller)
    lost = _lost_flags(caller)
    for flag in caller.call.flags if extra is None or not _is_quoted(extra) else ():
        origins[f"--{flag.name}"] = Setting(None, "user_data", EXTRA_ARGS, caller.where(flag))
        if flag.value is not None and flag.name not in lost:
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
        is_looked_up = not {"--apiserver-endpoint", "--b64-cluster-ca"} <= options.keys() | caller.lost.keys()
        lost["clusterDNS"] = _LOOKED_UP if is_looked_up else f"the script computes it on the instance: {GUESSED_DNS}"
        if _DNS_OPTIONS & caller.lost.keys():
            lost["clusterDNS"] = _NOT_IN_TEXT
    pods = capacity.max_pods(kind.shape)
    base["kubeReserved"] = capacity.kube_reserved(pods, kind.shape.vcpus or 1)
    if "--use-max-pods" in caller.lost:
        lost["maxPods"] = _NOT_IN_TEXT
    elif options.get("--use-max-pods", "true") == "true":
        base["maxPods"] = pods
    base["providerID"] = kubelet.provider_id(outcome.AVAILABILITY_ZONE, outcome.INSTANCE_ID)
    of_flags = {(field_of(name) or ("",))[0] for name in _lost_flags(caller)} - {""}
    result.config = kubelet_config(kind.minor, base, given, lost | dict.fromkeys(of_flags, _NOT_IN_TEXT))
    result.unknown |= {name: why for name, why in lost.items() if name not in result.config}
    image = _KUBELET_ARGS if family == "al2" else _SNAP_ARGS
    result.flags = kubelet_flags({name: (value,) for name, value in image.items()}, given)
    for name in _lost_flags(caller):
        result.flags[f"--{name}"] = given.origin(f"--{name}")
        result.unknown[f"--{name}"] = _NOT_IN_TEXT
    result.unknown |= dict.fromkeys(of_flags, _NOT_IN_TEXT)
    _add_files(caller, family, base, lost, result)
    return result


def _dns(caller: _Caller) -> list[str]:
    """The name servers that the call tells."""
    options = caller.options
    cidr = options.get("--service-ipv6-cidr") or options.get("--service-ipv4-cidr")
    if _DNS_OPTIONS & caller.lost.keys():
        return []
    if options.get("--dns-cluster-ip"):
        return options["--dns-cluster-ip"].split(",")
    try:
        return [cluster_dns(cidr)] if cidr else []
    except NodeConfigError:
        return []


def _add_files(caller: _Caller, family: str, base: Mapping[str, Any], lost: Mapping[str, str], result: Outcome) -> None:
    options = caller.options
    authority = outcome.authority(options.get("--b64-cluster-ca", ""))
    if authority and "--apiserver-endpoint" in options.keys() | caller.lost.keys():
        result.files[kubelet.CA_FILE] = authority
    else:
        result.unknown[kubelet.CA_FILE] = caller.lost.get("--b64-cluster-ca", _LOOKED_UP)
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


def _call_steps(caller: _Caller, family: str | None, result: Outcome) -> Iterator[Step]:
    where = caller.where()
    if strategy := caller.options.get("--local-disks"):
        yield Step("bootstrap", _UNIT, f"sets up the disks of the instance ({strategy})", where)
    if not {"--apiserver-endpoint", "--b64-cluster-ca"} <= caller.options.keys() | caller.lost.keys():
        yield Step("bootstrap", _UNIT, "asks the EKS API for the endpoint and the certificate authority", where)
    yield Step("bootstrap", _UNIT, "writes the configuration of containerd and kubelet", where)
    yield Step("bootstrap", _UNIT, f"starts {_UNITS[family]}", where)
    for step in registration(result.flags):
        yield replace(step, unit=_UNITS[family])

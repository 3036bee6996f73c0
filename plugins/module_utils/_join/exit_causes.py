# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the last error of a kubelet that exits means: one pattern and one explanation for each cause. Pure, Python 3.7 and newer.

The patterns match recorded logs of kubelet 1.30 and 1.36.
"""

from __future__ import annotations

import re
from typing import Callable, Match, NamedTuple, Pattern, Sequence

from .model import BOOTSTRAP, DESCRIBE_CLUSTER, KubeletExit, SettingsFile
from .settings import Place, fields_in, place_of_field, place_of_flag

_FLAG = re.compile(r"unknown (?:shorthand )?flag: (?P<flag>[^\"]+)")
_BAD_FLAG = re.compile(
    r"(?:failed to parse kubelet flag: |failed to validate kubelet flags: )(?P<why>.+)"
    r"|(?P<other>bad --node-ip .+|invalid node labels: .+|cloud provider \\?\"[^\"]*\" was specified.+|could not init cloud provider.+)"
)
_LABELS = re.compile(r"unknown 'kubernetes\.io' or 'k8s\.io' labels specified with --node-labels: \[(?P<labels>[^\]]*)\]")
_GATE = re.compile(r"unrecognized feature gate: (?P<gate>[\w.-]+)|cannot set feature gate (?P<locked>[\w.-]+) to")
_CONFIG = re.compile(
    r"(?:failed to (?:load [Kk]ubelet (?:config|dropin) file|merge kubelet configs|validate kubelet configuration)"
    r"|failed to precedence kubeletConfigFlag|failed to merge global and in-flight KubeletConfiguration|initialize logging:).*"
)
# What kubelet's managers say about settings that its validation accepts.
_MANAGER = re.compile(
    r"cannot reserve \\?\"|failed to parse quantity \\?\"|resource quantity for \\?\"|reserved value failed to parse|reserved-cpus: "
    r"|unable to parse reserved-cpus|failed to parse percentage|[Ee]viction (?:threshold|signal|percentage|grace period|minimum)"
    r"|grace period must be specified|max log size|max log files|Cipher suite|curve preference|unknown tls version"
    r"|-level [Oo]ptions not enabled|[Pp]olic(?:y|ies) [Oo]ption|policy error: |unknown policy: |policy options"
    r"|\[cpumanager\] unable to determine|of type \\?\"[\w-]+\\?\" is not equal to|max-allowable-numa-nodes|should not be less than"
    r"|the sysctls? \\?\"|sysctl \\?\"|invalid root directory|pod logs (?:root|path)|invalid sync frequency|invalid configuration: "
    r"|unknown configmap and secret manager mode|swap feature is enabled|invalid Node Allocatable|invalid (?:topology|cpu|memory) manager"
)
_CGROUP = re.compile(
    r"invalid configuration: (?P<root>(?:cgroup|could not read controllers for cgroup) .+)"
    r"|Failed to enforce (?P<kind>System|Kube) Reserved (?:Compressible )?Cgroup Limits on \\?\"(?P<name>[^\"\\]*)\\?\": (?P<why>.+)"
)
_STATE = re.compile(
    r"could not restore state from checkpoint: (?P<why>.+?), please drain this node and delete the (?P<manager>\w+) manager "
    r"checkpoint file "
    r"\\?\"(?P<path>[^\"\\]+)"
)
_MACHINE_STATE = re.compile(r"start (?P<manager>cpu|memory) manager error: (?P<why>.+)")
_PORT = re.compile(r"listen (?P<protocol>tcp\w*) (?P<address>\S+?):(?P<port>[0-9]+): bind: address already in use")
_DISK = re.compile(r"no space left on device")
_CGROUP_V1 = re.compile(r"configured to not run on a host using cgroup v1")
_SWAP = re.compile(r"running with swap on is not supported")
_KERNEL = re.compile(r"invalid kernel flag: (?P<name>[\w/.-]+), expected value: (?P<wanted>\w+), actual value: (?P<found>\w+)")
_DRIVER = re.compile(r"kubelet cgroup driver: \\?\"(?P<kubelet>\w+)\\?\" is different from \w+ cgroup driver: \\?\"(?P<runtime>\w+)")
_RUNTIME = re.compile(r"validate (?:service connection|CRI v1 \w+ API)|get remote runtime typed service failed|unknown service runtime\.")
_KUBECONFIG = re.compile(
    r"(?:unable to load|invalid|error loading|failed to load|failed to run Kubelet:).*kubeconfig.*|error loading config file.*"
)
_MISSING = re.compile(r"(?:stat|open) (?P<path>/[^\s:]*kubeconfig): no such file")
_AUTHORITY = re.compile(
    r"(?:unable to load client CA file (?P<path>[^\s:]+): |unable to read certificate-authority (?P<other>\S+) for .* due to "
    r"|unable to load root certificates: )(?P<why>.+)|(?P<empty>missing content for CA bundle \\?\"[\w-]*::(?P<bundle>[^\"\\]+).*)"
)
_FILE = re.compile(r"failed to run Kubelet: (?:open|stat|read) (?P<path>/[^\s:]+): (?P<why>.+)")
_PROVIDER = re.compile(r"[Ff]ailed to register CRI auth plugins(?:\" err=\"|: )(?P<why>.+)")
_RESERVATIONS = ("kubeReserved", "systemReserved", "evictionHard")
_TAIL = re.compile(r"(?:, path: &.*|\")\s*\Z")


class Explanation(NamedTuple):
    """What a line of the log means; the fields are those of a Finding. `evidence`: beside that line."""

    message: str
    fix: str
    final: bool = True
    evidence: tuple[str, ...] = ()


class Context(NamedTuple):
    """What an explanation may use beside the line that it explains."""

    unit: str
    failed: KubeletExit


def unquote(text: str) -> str:
    """The text of an error as kubelet meant it, without the configuration that kubelet may append."""
    return _TAIL.sub("", text).replace('\\"', '"').strip()


def _core(line: str) -> str:
    """The error in a line of the log, without the steps of kubelet's start."""
    return re.sub(r"^(?:failed to run Kubelet: |failed to create kubelet: )+", "", unquote(line.rpartition('err="')[2]))


# --- flags and configuration -------------------------------------------------------------------------------------------------------


def _explain_unknown_flag(match: Match[str], context: Context) -> Explanation:
    flag = unquote(match.group("flag"))
    place = place_of_flag(context.failed.settings, flag.rpartition(" in ")[2] if " in " in flag else flag, context.unit)
    return Explanation(
        f"kubelet exits because it does not know the flag {flag}",
        f"remove {flag} from {place.where}: this version of Kubernetes does not have it. Then: {place.then}",
    )


def _explain_invalid_flag(match: Match[str], context: Context) -> Explanation:
    why = unquote(match.group("why") or match.group("other"))
    named = re.search(r"--[a-z][a-z0-9-]*", why)
    flag = "--cloud-provider" if "cloud provider" in why else named.group(0) if named else ""
    if "invalid node labels" in why:
        flag = "--node-labels"
    place = place_of_flag(context.failed.settings, flag, context.unit)
    return Explanation(
        f"kubelet exits because a flag is invalid: {why}", f"correct {flag or 'the flag'} in {place.where}. Then: {place.then}"
    )


def _explain_forbidden_label(match: Match[str], context: Context) -> Explanation:
    labels = match.group("labels")
    place = place_of_flag(context.failed.settings, "--node-labels", context.unit)
    return Explanation(
        f"kubelet exits because a node must not set the labels {labels} on itself",
        f"remove {labels} from --node-labels in {place.where}, and set them with kubectl label node. Below kubernetes.io and k8s.io "
        f"kubelet accepts only kubelet.kubernetes.io/…, node.kubernetes.io/… and a few well-known labels. Then: {place.then}",
    )


def _explain_unknown_feature_gate(match: Match[str], context: Context) -> Explanation:
    gate, locked = match.group("gate"), match.group("locked")
    place = place_of_field(context.failed.settings, "featureGates", context.unit)
    if place is None:
        flag = any("feature-gates" in file.flags for file in context.failed.settings.files)
        place = place_of_flag(context.failed.settings, "feature-gates", context.unit) if flag else None
    where = f" in {place.where}" if place else " in the kubelet configuration and from --feature-gates"
    then = f". Then: {place.then}" if place else ""
    if gate is None:
        message = f"kubelet exits because the feature gate {locked} is locked"
        return Explanation(message, f"remove {locked} from featureGates{where}{then}")
    return Explanation(
        f"kubelet exits because it does not know the feature gate {gate}",
        f"remove {gate} from featureGates{where}: this Kubernetes version does not have it{then}",
    )


def _explain_invalid_config(match: Match[str], context: Context) -> Explanation:
    why = unquote(match.string[match.start() :])
    # kubelet wraps one error into the next. The last one says what is wrong, the first path says where.
    path = re.search(r"path: (/[^,\s\"]+)", why)
    core = re.split(r"error: |error failed to decode: |dropin file, ", why)[-1] if path else re.sub(r"^.*?, error: ", "", why)
    where = f" in {path.group(1)}" if path and path.group(1) not in core else ""
    message = f"kubelet exits because its configuration is invalid{where}: {core}"
    file = next((file for file in context.failed.settings.files if path is not None and file.path == path.group(1)), None)
    return Explanation(message, _config_fix(core, context, file))


def _explain_manager(match: Match[str], context: Context) -> Explanation:
    core = _core(match.string)
    fix = _config_fix(core, context)
    if "invalid Node Allocatable" in core:
        places = (place_of_field(context.failed.settings, field, context.unit) for field in _RESERVATIONS)
        where = list(dict.fromkeys(place.where for place in places if place is not None))
        fix = f"lower {', '.join(_RESERVATIONS)}: their sum is more than this machine has" + (
            f" (set in {'; '.join(where)})" if where else ""
        )
    return Explanation(f"kubelet exits because its configuration is invalid: {core}", fix)


def _config_fix(core: str, context: Context, file: SettingsFile | None = None) -> str:
    """How to correct the fields that an error names, each in its file."""
    settings = context.failed.settings
    fields = fields_in(settings, core)
    places = {field: place_of_field(settings, field, context.unit) for field in fields}
    known = {field: place for field, place in places.items() if place is not None}
    if not known:
        if file is not None:
            return f"correct {file.path}. Then: systemctl restart {context.unit}"
        flags = [flag for flag in re.findall(r"--[a-z][a-z0-9-]+", core) if any(flag[2:] in one.flags for one in settings.files)]
        if flags:
            place = place_of_flag(settings, flags[0], context.unit)
            return f"correct {flags[0]} in {place.where}. Then: {place.then}"
        return "correct the kubelet configuration"
    by_place: dict[Place, list[str]] = {}
    for field, place in known.items():
        by_place.setdefault(place, []).append(field)
    parts = [f"{' and '.join(names)} in {place.where}" for place, names in by_place.items()]
    then = list(dict.fromkeys(place.then for place in by_place))
    return f"correct {', '.join(parts)}. Then: {'; '.join(then)}"


# --- the machine -------------------------------------------------------------------------------------------------------------------


def _explain_cgroup(match: Match[str], context: Context) -> Explanation:
    if match.group("kind"):
        field = f"{match.group('kind').lower()}ReservedCgroup"
        path = "/" + match.group("name").lstrip("/")
        why = f"it cannot use the cgroup of {field}, {path}: {unquote(match.group('why'))}"
        instead, create = f"{match.group('kind').lower()}-reserved of enforceNodeAllocatable", f"the cgroup {path}"
        place = place_of_field(context.failed.settings, "enforceNodeAllocatable", context.unit)
    else:
        field, instead, create = "cgroupRoot", "cgroupRoot", "the cgroup"
        why = f"it cannot use the cgroup of cgroupRoot: {unquote(match.group('root'))}"
        place = place_of_field(context.failed.settings, field, context.unit)
    where, then = place or Place("the kubelet configuration", f"systemctl restart {context.unit}")
    return Explanation(
        f"kubelet exits because {why}",
        f"create {create} before kubelet starts (with a systemd slice), or remove {instead} from {where}. Then: {then}",
    )


def _explain_state(match: Match[str], context: Context) -> Explanation:
    why = match.group("why").replace('\\"', '"')
    return Explanation(
        f"kubelet exits because the state of its {match.group('manager')} manager was written with other settings: {why}",
        f"drain the node, then run: rm {match.group('path')} && systemctl restart {context.unit}",
    )


def _explain_machine_state(match: Match[str], context: Context) -> Explanation:
    manager = match.group("manager")
    return Explanation(
        f"kubelet exits because the state of its {manager} manager does not match this machine: {unquote(match.group('why'))}",
        f"drain the node, then run: rm /var/lib/kubelet/{manager}_manager_state && systemctl restart {context.unit}",
    )


def _explain_port(match: Match[str], context: Context) -> Explanation:
    owners = ", ".join(context.failed.port_owners)
    # If kubelet itself has the port by now, the port has become free, and this is the log of an earlier start.
    is_over = any(owner.endswith(f", {context.unit})") for owner in context.failed.port_owners)
    used = f"{owners} listens on it" if owners else "another process listens on it"
    port = match.group("port")
    find = "" if owners else f" (to find it: ss -ltnp sport = :{port})"
    return Explanation(
        f"kubelet exits because its port {port} is already in use: {used}",
        f"stop that process{find}, or let it use another port. kubelet needs port {port}: the API server connects to it",
        final=not is_over,
        evidence=tuple(f"listens on port {port}: {owner}" for owner in context.failed.port_owners),
    )


def _explain_disk(match: Match[str], context: Context) -> Explanation:
    why = _core(match.string) if 'err="' in match.string else unquote(match.string)
    return explain_full_disk("kubelet exits", why, context.failed.full_disks, context.unit)


def explain_full_disk(what: str, why: str, disks: Sequence[str], unit: str) -> Explanation:
    """The explanation for a program that fails because a file system is full. `disks`: the full ones."""
    return Explanation(
        f"{what} because a disk is full: {why}",
        "free space (journalctl --vacuum-size=200M; crictl rmi --prune; to find large files: du -xh / | sort -h | tail), or enlarge the "
        f"volume. Then: systemctl restart {unit}",
        evidence=tuple(disks),
    )


def _explain_cgroup_v1(_match: Match[str], _context: Context) -> Explanation:
    return Explanation(
        "kubelet exits because this machine uses cgroup v1, which kubelet does not support by default from Kubernetes 1.35",
        "use an operating system with cgroup v2, such as Amazon Linux 2023; until then, set failCgroupV1: false for kubelet",
    )


def _explain_swap(_match: Match[str], _context: Context) -> Explanation:
    return Explanation(
        "kubelet exits because swap is on",
        "turn swap off (swapoff -a, and remove it from /etc/fstab), or set failSwapOn: false in the kubelet configuration",
    )


def _explain_kernel_defaults(_match: Match[str], context: Context) -> Explanation:
    wrong = {}
    for line in context.failed.lines:
        for name, expected, actual in _KERNEL.findall(line):
            wrong[name.replace("/", ".")] = (expected, actual)
    differences = ", ".join(f"{name} is {actual} instead of {expected}" for name, (expected, actual) in sorted(wrong.items()))
    settings = " ".join(f"{name}={expected}" for name, (expected, _unused) in sorted(wrong.items()))
    return Explanation(
        f"kubelet exits because kernel settings differ from what it requires (protectKernelDefaults): {differences}",
        f"set them (sysctl -w {settings}, and a file in /etc/sysctl.d), or set protectKernelDefaults: false in the kubelet configuration",
    )


def _explain_cgroup_driver(match: Match[str], _context: Context) -> Explanation:
    return explain_cgroup_drivers(match.group("kubelet"), match.group("runtime"))


def explain_cgroup_drivers(kubelet: str, runtime: str) -> Explanation:
    """The explanation for two drivers that differ."""
    return Explanation(
        f"kubelet uses the cgroup driver {kubelet} and the container runtime uses {runtime}, so no pod can start",
        f"set cgroupDriver: {runtime} in the kubelet configuration, or SystemdCgroup = {'true' if kubelet == 'systemd' else 'false'} for "
        "the runtime runc of containerd, and restart both",
    )


def _explain_no_container_runtime(_match: Match[str], _context: Context) -> Explanation:
    return Explanation(
        "kubelet exits because no container runtime answers",
        "check containerd (systemctl status containerd; journalctl -u containerd), disabled_plugins in its configuration, which must not "
        "contain cri, and containerRuntimeEndpoint in the kubelet configuration",
        final=False,
    )


def _explain_no_kubeconfig(match: Match[str], _context: Context) -> Explanation:
    return Explanation(f"kubelet exits because its kubeconfig {match.group('path')} does not exist", BOOTSTRAP)


def _explain_bad_kubeconfig(match: Match[str], _context: Context) -> Explanation:
    why = unquote(match.group(0))
    fix = "bootstrap the node again, which writes the kubeconfig anew"
    return Explanation(f"kubelet exits because it cannot use its kubeconfig: {why}", fix)


def _explain_authority(match: Match[str], _context: Context) -> Explanation:
    path = match.group("path") or match.group("other") or match.group("bundle") or "the file that its kubeconfig names"
    why = "the file is empty" if match.group("empty") else unquote(match.group("why"))
    return Explanation(
        f"kubelet exits because it cannot read the certificate authority of the cluster, {path}: {why}",
        f"write the certificate authority of the cluster to that file: {DESCRIBE_CLUSTER}certificateAuthority.data",
    )


def _explain_missing_file(match: Match[str], context: Context) -> Explanation:
    return Explanation(
        f"kubelet exits because it cannot open {match.group('path')}: {unquote(match.group('why'))}",
        f"create the file, or correct the kubelet configuration or the flag that names it (systemctl cat {context.unit})",
    )


def _explain_credential_provider(match: Match[str], _context: Context) -> Explanation:
    why = " ".join(unquote(match.group("why")).split())
    return Explanation(
        f"kubelet exits because it cannot use the image credential provider: {why}",
        "install ecr-credential-provider, or correct --image-credential-provider-config and --image-credential-provider-bin-dir",
    )


CAUSES: Sequence[tuple[str, Pattern[str], Callable[[Match[str], Context], Explanation]]] = (
    ("disk_full", _DISK, _explain_disk),
    ("unknown_flag", _FLAG, _explain_unknown_flag),
    ("forbidden_label", _LABELS, _explain_forbidden_label),
    ("unknown_feature_gate", _GATE, _explain_unknown_feature_gate),
    ("cgroup_v1", _CGROUP_V1, _explain_cgroup_v1),
    ("invalid_config", _CONFIG, _explain_invalid_config),
    ("missing_cgroup", _CGROUP, _explain_cgroup),
    ("stale_manager_state", _STATE, _explain_state),
    ("stale_manager_state", _MACHINE_STATE, _explain_machine_state),
    ("port_in_use", _PORT, _explain_port),
    ("invalid_flag", _BAD_FLAG, _explain_invalid_flag),
    ("swap_on", _SWAP, _explain_swap),
    ("kernel_defaults", _KERNEL, _explain_kernel_defaults),
    ("cgroup_driver_mismatch", _DRIVER, _explain_cgroup_driver),
    ("no_container_runtime", _RUNTIME, _explain_no_container_runtime),
    ("wrong_certificate_authority", _AUTHORITY, _explain_authority),
    ("no_kubeconfig", _MISSING, _explain_no_kubeconfig),
    ("missing_file", _FILE, _explain_missing_file),
    ("bad_kubeconfig", _KUBECONFIG, _explain_bad_kubeconfig),
    ("no_credential_provider", _PROVIDER, _explain_credential_provider),
    ("invalid_config", _MANAGER, _explain_manager),
)
"""Cause, pattern and explanation. Specific patterns come before general ones."""

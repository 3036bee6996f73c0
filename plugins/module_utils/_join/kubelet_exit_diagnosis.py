# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why kubelet exits, from the log of its last start. Pure. Standard library, Python 3.7 and newer.

The patterns match recorded logs of kubelet 1.30 and 1.36.
"""

from __future__ import annotations

import re
from typing import Callable, Match, NamedTuple, Pattern, Sequence

from .._node.systemd import Unit
from .model import BOOTSTRAP, DESCRIBE_CLUSTER, Finding, KubeletExit, quote_log

_FLAG = re.compile(r"unknown (?:shorthand )?flag: (?P<flag>[^\"]+)")
_BAD_FLAG = re.compile(
    r"(?:failed to parse kubelet flag: |failed to validate kubelet flags: )(?P<why>.+)|(?P<other>bad --node-ip .+|invalid node labels: .+)"
)
_LABELS = re.compile(r"unknown 'kubernetes\.io' or 'k8s\.io' labels specified with --node-labels: \[(?P<labels>[^\]]*)\]")
_GATE = re.compile(r"unrecognized feature gate: (?P<gate>[\w.-]+)|cannot set feature gate (?P<locked>[\w.-]+) to")
_CONFIG = re.compile(
    r"(?:failed to (?:load [Kk]ubelet (?:config|dropin) file|merge kubelet configs|validate kubelet configuration)"
    r"|failed to precedence kubeletConfigFlag|failed to merge global and in-flight KubeletConfiguration).*"
)
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
    r"|unable to load root certificates: )(?P<why>.+)"
)
_FILE = re.compile(r"failed to run Kubelet: (?:open|stat|read) (?P<path>/[^\s:]+): (?P<why>.+)")
_PROVIDER = re.compile(r"[Ff]ailed to register CRI auth plugins(?:\" err=\"|: )(?P<why>.+)")
LOG_HEADER = re.compile(r"[IWEF][0-9]{4} [0-9:.]+ +[0-9]+ \S+\] ")
"""What klog writes before each message. A line without it continues another one, or was logged before klog was set up."""

_ENTRY_START = re.compile(LOG_HEADER.pattern + r"|\{\"ts\":")
_FATAL = re.compile(
    r"F[0-9]{4} |(?:" + LOG_HEADER.pattern + r"|\{\"ts\":[^{]*\"msg\":)"
    r"\"?(?:command failed\"|Failed to start ContainerManager\"|[Ff]ailed to (?:run Kubelet|register CRI auth))"
)
_ERROR = re.compile(r"(?:[EF][0-9]{4} [0-9:.]+ +[0-9]+ \S+\] |panic: |fatal error: |Error: )")
_TAIL = re.compile(r"(?:, path: &\S+|\")\s*\Z")


class Explanation(NamedTuple):
    """What a line of the log means; the fields are those of a Finding."""

    message: str
    fix: str
    final: bool = True


def diagnose(unit: str, state: Unit | None, failed: KubeletExit) -> Finding:
    """The Finding for a kubelet that exited. `unit`: its name; `state`: what systemd says about it, if that is known."""
    exits = [line for line in failed.systemd_lines if " process exited" in line]
    if exits and "control process exited" in exits[-1].lower():
        return _explain_start_pre(unit, state, failed.lines, exits[-1])
    for line in reversed(_relevant_lines(failed)):
        for cause, pattern, explain in _CAUSES:
            match = pattern.search(line)
            if match:
                message, fix, final = explain(match, unit, failed.lines)
                return Finding(cause, message, fix, (*quote_log(unit, line), _describe_state(unit, state)), final)
    return _explain_unknown(unit, state, failed)


def _relevant_lines(failed: KubeletExit) -> list[str]:
    """Fatal lines and panics with their continuation lines, and everything that was logged before klog was set up.

    Other lines do not count: klog writes the output of a pod line by line, and a pod may print anything.
    """
    counts = failed.is_complete
    lines, is_continuation = [], not counts
    for line in failed.lines:
        if _ENTRY_START.match(line):
            counts, is_continuation = _FATAL.match(line) is not None, line.endswith("=<")
        elif line.startswith("panic: ") and not is_continuation:
            counts = True
        if counts:
            lines.append(line)
    return lines


def _explain_start_pre(unit: str, state: Unit | None, lines: Sequence[str], exit_line: str) -> Finding:
    """A command of ExecStartPre failed, so kubelet itself never started."""
    message = lines[-1][:200] if lines else exit_line
    return Finding(
        "kubelet_not_started", f"a command that {unit} runs before kubelet failed: {message}",
        f"check ExecStartPre in the output of: systemctl cat {unit}. On EC2 such a command often needs the instance metadata service",
        (*quote_log(unit, *lines[-1:], exit_line), _describe_state(unit, state)),
    )  # fmt: skip


def _explain_unknown(unit: str, state: Unit | None, failed: KubeletExit) -> Finding:
    shown = quote_log(unit, *failed.systemd_lines[-2:])
    if (state is not None and state.exit_status == "203") or any("Failed to locate executable" in line for line in failed.systemd_lines):
        return Finding(
            "no_kubelet", "systemd cannot run the kubelet program", f"install kubelet, or correct ExecStart: systemctl edit --full {unit}",
            (*shown, _describe_state(unit, state)), True,
        )  # fmt: skip
    # systemd also reports the result "resources" for a fork that failed, which may work the next time.
    if (
        state is not None
        and state.result == "resources"
        and any("Failed to load environment files: No such file" in line for line in failed.systemd_lines)
    ):
        return Finding(
            "no_kubelet", "systemd cannot start the kubelet unit, because a file that the unit names is missing",
            f"create the file, or remove it from the unit: systemctl edit --full {unit}", (*shown, _describe_state(unit, state)), True,
        )  # fmt: skip
    relevant = _relevant_lines(failed)
    own = [line for line in failed.lines if _ENTRY_START.match(line) or line in relevant]
    errors = [line for line in own if _ERROR.match(line)] or [line for line in own if not line.startswith("Flag --")]
    reason = f"its last error is: {LOG_HEADER.sub('', errors[-1], count=1)[:200]}" if errors else "its log does not say why"
    return Finding(
        "kubelet_exits", f"kubelet exits, and {reason}", f"check the kubelet log: journalctl -u {unit}",
        (*quote_log(unit, *errors[-2:]), *shown, _describe_state(unit, state)),
    )  # fmt: skip


def _describe_state(unit: str, state: Unit | None) -> str:
    if state is None:
        return f"{unit} failed"
    restarts = f", restarted {state.restarts} time{'' if state.restarts == 1 else 's'}" if state.restarts else ""
    status = f", exit status {state.exit_status}" if state.exit_status not in ("", "0") else ""
    return f"{unit} is {state.active} ({state.sub}){status}{restarts}"


def _unquote(text: str) -> str:
    return _TAIL.sub("", text).replace('\\"', '"').strip()


# --- one explanation for each cause ------------------------------------------------------------------------------------------------


def _explain_unknown_flag(match: Match[str], unit: str, _lines: Sequence[str]) -> Explanation:
    flag = _unquote(match.group("flag"))
    return Explanation(
        f"kubelet exits because it does not know the flag {flag}",
        f"remove {flag} from the kubelet flags: this version of Kubernetes does not have it. To find where it is set: systemctl cat {unit}",
    )


def _explain_invalid_flag(match: Match[str], unit: str, _lines: Sequence[str]) -> Explanation:
    why = _unquote(match.group("why") or match.group("other"))
    fix = f"correct the flag. To find where it is set: systemctl cat {unit}"
    return Explanation(f"kubelet exits because a flag is invalid: {why[:300]}", fix)


def _explain_forbidden_label(match: Match[str], unit: str, _lines: Sequence[str]) -> Explanation:
    labels = match.group("labels")
    return Explanation(
        f"kubelet exits because a node must not set the labels {labels} on itself",
        f"remove {labels} from --node-labels (systemctl cat {unit}), and set them with kubectl label node. Below kubernetes.io and k8s.io "
        "kubelet accepts only kubelet.kubernetes.io/…, node.kubernetes.io/… and a few well-known labels",
    )


def _explain_unknown_feature_gate(match: Match[str], _unit: str, _lines: Sequence[str]) -> Explanation:
    gate = match.group("gate")
    if gate is None:
        return Explanation(f"kubelet exits because the feature gate {match.group('locked')} is locked", "remove it from featureGates")
    return Explanation(
        f"kubelet exits because it does not know the feature gate {gate}",
        f"remove {gate} from featureGates in the kubelet configuration and from --feature-gates: this Kubernetes version does not have it",
    )


def _explain_invalid_config(match: Match[str], _unit: str, _lines: Sequence[str]) -> Explanation:
    why = _unquote(match.group(0))
    # kubelet wraps one error into the next. The last one says what is wrong, the first path says where.
    path = re.search(r"path: (/[^,\s\"]+)", why)
    core = re.split(r"error: |error failed to decode: |dropin file, ", why)[-1]
    where = f" in {path.group(1)}" if path and path.group(1) not in core else ""
    return Explanation(f"kubelet exits because its configuration is invalid{where}: {core[:300]}", "correct the kubelet configuration")


def _explain_cgroup_v1(_match: Match[str], _unit: str, _lines: Sequence[str]) -> Explanation:
    return Explanation(
        "kubelet exits because this machine uses cgroup v1, which kubelet does not support by default from Kubernetes 1.35",
        "use an operating system with cgroup v2, such as Amazon Linux 2023; until then, set failCgroupV1: false for kubelet",
    )


def _explain_swap(_match: Match[str], _unit: str, _lines: Sequence[str]) -> Explanation:
    return Explanation(
        "kubelet exits because swap is on",
        "turn swap off (swapoff -a, and remove it from /etc/fstab), or set failSwapOn: false in the kubelet configuration",
    )


def _explain_kernel_defaults(_match: Match[str], _unit: str, lines: Sequence[str]) -> Explanation:
    wrong = {}
    for line in lines:
        for name, expected, actual in _KERNEL.findall(line):
            wrong[name.replace("/", ".")] = (expected, actual)
    differences = ", ".join(f"{name} is {actual} instead of {expected}" for name, (expected, actual) in sorted(wrong.items()))
    settings = " ".join(f"{name}={expected}" for name, (expected, _unused) in sorted(wrong.items()))
    return Explanation(
        f"kubelet exits because kernel settings differ from what it requires (protectKernelDefaults): {differences}",
        f"set them (sysctl -w {settings}, and a file in /etc/sysctl.d), or set protectKernelDefaults: false in the kubelet configuration",
    )


def _explain_cgroup_driver(match: Match[str], _unit: str, _lines: Sequence[str]) -> Explanation:
    return explain_cgroup_drivers(match.group("kubelet"), match.group("runtime"))


def explain_cgroup_drivers(kubelet: str, runtime: str) -> Explanation:
    """The explanation for two drivers that differ."""
    return Explanation(
        f"kubelet uses the cgroup driver {kubelet} and the container runtime uses {runtime}, so no pod can start",
        f"set cgroupDriver: {runtime} in the kubelet configuration, or SystemdCgroup = {'true' if kubelet == 'systemd' else 'false'} for "
        "the runtime runc of containerd, and restart both",
    )


def _explain_no_container_runtime(_match: Match[str], _unit: str, _lines: Sequence[str]) -> Explanation:
    return Explanation(
        "kubelet exits because no container runtime answers",
        "check containerd (systemctl status containerd; journalctl -u containerd), disabled_plugins in its configuration, which must not "
        "contain cri, and containerRuntimeEndpoint in the kubelet configuration",
        final=False,
    )


def _explain_no_kubeconfig(match: Match[str], _unit: str, _lines: Sequence[str]) -> Explanation:
    return Explanation(f"kubelet exits because its kubeconfig {match.group('path')} does not exist", BOOTSTRAP)


def _explain_bad_kubeconfig(match: Match[str], _unit: str, _lines: Sequence[str]) -> Explanation:
    why = _unquote(match.group(0))[:300]
    fix = "bootstrap the node again, which writes the kubeconfig anew"
    return Explanation(f"kubelet exits because it cannot use its kubeconfig: {why}", fix)


def _explain_authority(match: Match[str], _unit: str, _lines: Sequence[str]) -> Explanation:
    path = match.group("path") or match.group("other") or "the file that its kubeconfig names"
    return Explanation(
        f"kubelet exits because it cannot read the certificate authority of the cluster, {path}: {_unquote(match.group('why'))[:200]}",
        f"write the certificate authority of the cluster to that file: {DESCRIBE_CLUSTER}certificateAuthority.data",
    )


def _explain_missing_file(match: Match[str], unit: str, _lines: Sequence[str]) -> Explanation:
    return Explanation(
        f"kubelet exits because it cannot open {match.group('path')}: {_unquote(match.group('why'))[:200]}",
        f"create the file, or correct the kubelet configuration or the flag that names it (systemctl cat {unit})",
    )


def _explain_credential_provider(match: Match[str], _unit: str, _lines: Sequence[str]) -> Explanation:
    why = " ".join(_unquote(match.group("why")).split())
    return Explanation(
        f"kubelet exits because it cannot use the image credential provider: {why[:300]}",
        "install ecr-credential-provider, or correct --image-credential-provider-config and --image-credential-provider-bin-dir",
    )


_CAUSES: Sequence[tuple[str, Pattern[str], Callable[[Match[str], str, Sequence[str]], Explanation]]] = (
    ("unknown_flag", _FLAG, _explain_unknown_flag),
    ("forbidden_label", _LABELS, _explain_forbidden_label),
    ("unknown_feature_gate", _GATE, _explain_unknown_feature_gate),
    ("cgroup_v1", _CGROUP_V1, _explain_cgroup_v1),
    ("invalid_config", _CONFIG, _explain_invalid_config),
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
)
"""Cause, pattern and explanation. Specific patterns come before general ones."""

# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a kubelet said before it exited, and what that means. Pure. Standard library, Python 3.7 and newer.

The lines are those of kubelet 1.30 and 1.36, recorded; where a line is older or newer, the pattern names what both have.
"""

from __future__ import annotations

import re

from .model import Finding, quoted

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
HEAD = re.compile(r"[IWEF][0-9]{4} [0-9:.]+ +[0-9]+ \S+\] ")
"""What klog writes before each message. Lines without it continue another, or were written before klog was there."""

_BEGIN = re.compile(HEAD.pattern + r"|\{\"ts\":")
_FATAL = re.compile(
    r"F[0-9]{4} |(?:" + HEAD.pattern + r"|\{\"ts\":[^{]*\"msg\":)"
    r"\"?(?:command failed\"|Failed to start ContainerManager\"|[Ff]ailed to (?:run Kubelet|register CRI auth))"
)
_ERROR = re.compile(r"(?:[EF][0-9]{4} [0-9:.]+ +[0-9]+ \S+\] |panic: |fatal error: |Error: )")
_TAIL = re.compile(r"(?:, path: &\S+|\")\s*\Z")


def diagnose(unit, state, said):
    """The Finding for a kubelet that ended. C(unit): name; C(state): what systemd says of it; C(said): its lines and systemd's own."""
    ended = [line for line in said["systemd"] if " process exited" in line]
    if ended and "control process exited" in ended[-1].lower():
        return _before(unit, state, said["lines"], ended[-1])
    for line in reversed(_last_words(said)):
        for cause, pattern in _TABLE:
            match = pattern.search(line)
            if match:
                message, fix, final = _WORDS[cause](match, unit, said["lines"])
                return Finding(cause, message, fix, (quoted(unit, line), _state(unit, state)), final)
    return _unexplained(unit, state, said)


def _last_words(said):
    """Fatal lines and panics with what continues them, and what was said before klog was there.

    klog writes every line of what a pod printed as it is, and a pod may print anything.
    """
    counts = said.get("whole", True)
    found, within = [], not counts
    for line in said["lines"]:
        if _BEGIN.match(line):
            counts, within = _FATAL.match(line) is not None, line.endswith("=<")
        elif line.startswith("panic: ") and not within:
            counts = True
        if counts:
            found.append(line)
    return found


def _before(unit, state, lines, ended):
    """A program of ExecStartPre failed: kubelet itself never ran."""
    told = lines[-1][:200] if lines else ended
    return Finding(
        "kubelet_not_started",
        f"what {unit} runs before kubelet failed: {told}",
        f"systemctl cat {unit} shows it (ExecStartPre); on EC2 it often needs the instance metadata service",
        (*(quoted(unit, line) for line in [*lines[-1:], ended]), _state(unit, state)),
    )


def _unexplained(unit, state, said):
    evidence = tuple(quoted(unit, line) for line in said["systemd"][-2:])
    if state["status"] == "203" or any("Failed to locate executable" in line for line in said["systemd"]):
        return Finding(
            "no_kubelet", "systemd cannot run kubelet's program", f"install kubelet, or correct ExecStart: systemctl cat {unit}",
            (*evidence, _state(unit, state)), True,
        )  # fmt: skip
    # systemd says "resources" of a fork that failed, too, and that may pass.
    if state["result"] == "resources" and any("Failed to load environment files: No such file" in line for line in said["systemd"]):
        return Finding(
            "no_kubelet", "systemd cannot prepare kubelet's unit: a file that it names is missing",
            f"make the file, or take it out of the unit: systemctl cat {unit}", (*evidence, _state(unit, state)), True,
        )  # fmt: skip
    last = _last_words(said)
    own = [line for line in said["lines"] if _BEGIN.match(line) or line in last]
    errors = [line for line in own if _ERROR.match(line)] or [line for line in own if not line.startswith("Flag --")]
    told = _without_head(errors[-1])[:200] if errors else "it says nothing"
    return Finding(
        "kubelet_exits", f"kubelet exits, and the last it says is: {told}", f"read what it says before: journalctl -u {unit}",
        tuple(quoted(unit, line) for line in errors[-2:]) + evidence + (_state(unit, state),),
    )  # fmt: skip


def _state(unit, state):
    restarts = f", restarted {state['restarts']} times" if state["restarts"] else ""
    ended = f", exit status {state['status']}" if state["status"] not in ("", "0") else ""
    return f"{unit} is {state['state']} ({state['sub']}){ended}{restarts}"


def _without_head(line):
    """What klog says, without its time and place."""
    return HEAD.sub("", line, count=1)


def _bare(text):
    return _TAIL.sub("", text).replace('\\"', '"').strip()


# --- one reason each: (message, fix, final) ----------------------------------------------------------------------------------------


def _unknown_flag(match, unit, _lines):
    flag = _bare(match.group("flag"))
    return (
        f"kubelet exits: it does not know the flag {flag}",
        f"take {flag} out of kubelet's flags, for this version of Kubernetes has no such flag; systemctl cat {unit} shows where it stands",
        True,
    )


def _invalid_flag(match, unit, _lines):
    why = _bare(match.group("why") or match.group("other"))
    return f"kubelet exits over a flag: {why[:300]}", f"correct the flag; systemctl cat {unit} shows where it stands", True


def _forbidden_label(match, unit, _lines):
    labels = match.group("labels")
    return (
        f"kubelet exits: no node may give itself the labels {labels}",
        f"take {labels} out of --node-labels (systemctl cat {unit}). Below kubernetes.io and k8s.io kubelet accepts "
        "kubelet.kubernetes.io/…, node.kubernetes.io/… and a few well-known labels; set others with kubectl label node",
        True,
    )


def _unknown_feature_gate(match, _unit, _lines):
    gate = match.group("gate")
    if gate is None:
        return f"kubelet exits: the feature gate {match.group('locked')} is locked", "take it out of featureGates", True
    return (
        f"kubelet exits: it does not know the feature gate {gate}",
        f"take {gate} out of featureGates (kubelet's configuration) and --feature-gates: this version of Kubernetes has no such gate",
        True,
    )


def _invalid_config(match, _unit, _lines):
    why = _bare(match.group(0))
    # It wraps one sentence into the next; the last says what is wrong, and the first path where.
    path = re.search(r"path: (/[^,\s\"]+)", why)
    core = re.split(r"error: |error failed to decode: |dropin file, ", why)[-1]
    where = f" in {path.group(1)}" if path and path.group(1) not in core else ""
    return f"kubelet exits: its configuration is wrong{where}: {core[:300]}", "correct kubelet's configuration", True


def _cgroup_v1(_match, _unit, _lines):
    return (
        "kubelet exits: this machine has cgroups of version 1, and kubelet runs on those no more (the default from Kubernetes 1.35 on)",
        "use an operating system with cgroups of version 2, such as Amazon Linux 2023; as a stopgap set failCgroupV1: false in kubelet's "
        "configuration",
        True,
    )


def _swap_on(_match, _unit, _lines):
    return (
        "kubelet exits: swap is on",
        "switch it off (swapoff -a, and take it out of /etc/fstab), or set failSwapOn: false in kubelet's configuration",
        True,
    )


def _kernel_defaults(_match, _unit, lines):
    wrong = {}
    for line in lines:
        for name, wanted, found in _KERNEL.findall(line):
            wrong[name.replace("/", ".")] = (wanted, found)
    told = ", ".join(f"{name} is {found} and not {wanted}" for name, (wanted, found) in sorted(wrong.items()))
    commands = " ".join(f"{name}={wanted}" for name, (wanted, _unused) in sorted(wrong.items()))
    return (
        f"kubelet exits: it insists on its kernel settings (protectKernelDefaults), and {told}",
        f"set them (sysctl -w {commands}, and a file in /etc/sysctl.d), or set protectKernelDefaults: false in kubelet's configuration",
        True,
    )


def _cgroup_driver(match, _unit, _lines):
    kubelet, runtime = match.group("kubelet"), match.group("runtime")
    return driver_words(kubelet, runtime)


def driver_words(kubelet, runtime):
    """(message, fix, final) for drivers that differ."""
    return (
        f"kubelet makes cgroups by {kubelet} and the container runtime by {runtime}: no pod can start",
        f"set cgroupDriver: {runtime} in kubelet's configuration, or SystemdCgroup = {'true' if kubelet == 'systemd' else 'false'} for "
        "containerd's runtime runc, and restart both",
        True,
    )


def _no_container_runtime(_match, _unit, _lines):
    return (
        "kubelet exits: no container runtime answers it",
        "look at containerd (systemctl status containerd; journalctl -u containerd), at disabled_plugins in its configuration, which must "
        "not name cri, and at kubelet's containerRuntimeEndpoint",
        False,
    )


def _no_kubeconfig(match, _unit, _lines):
    path = match.group("path")
    return (
        f"kubelet exits: it has no kubeconfig at {path}",
        "bootstrap the node: that file is written by bootstrap.sh, nodeadm, or the action nodebootstrap.eks.apply",
        True,
    )


def _bad_kubeconfig(match, _unit, _lines):
    why = _bare(match.group(0))[:300]
    return f"kubelet exits over its kubeconfig: {why}", "bootstrap the node again, which writes the kubeconfig anew", True


def _no_authority(match, _unit, _lines):
    path = match.group("path") or match.group("other") or "the file that its kubeconfig names"
    return (
        f"kubelet exits: it cannot read the cluster's certificate authority, {path}: {_bare(match.group('why'))[:200]}",
        "put the certificate authority of the cluster there: aws eks describe-cluster --query cluster.certificateAuthority.data",
        True,
    )


def _missing_file(match, unit, _lines):
    path = match.group("path")
    return (
        f"kubelet exits: it cannot open {path}: {_bare(match.group('why'))[:200]}",
        f"make that file, or correct what names it: kubelet's configuration and flags (systemctl cat {unit})",
        True,
    )


def _credential_provider(match, _unit, _lines):
    why = " ".join(_bare(match.group("why")).split())
    return (
        f"kubelet exits: the program that gets credentials for images cannot be used: {why[:300]}",
        "correct --image-credential-provider-config and --image-credential-provider-bin-dir, or install ecr-credential-provider there",
        True,
    )


_TABLE = (
    ("unknown_flag", _FLAG),
    ("forbidden_label", _LABELS),
    ("unknown_feature_gate", _GATE),
    ("cgroup_v1", _CGROUP_V1),
    ("invalid_config", _CONFIG),
    ("invalid_flag", _BAD_FLAG),
    ("swap_on", _SWAP),
    ("kernel_defaults", _KERNEL),
    ("cgroup_driver_mismatch", _DRIVER),
    ("no_container_runtime", _RUNTIME),
    ("wrong_certificate_authority", _AUTHORITY),
    ("no_kubeconfig", _MISSING),
    ("missing_file", _FILE),
    ("bad_kubeconfig", _KUBECONFIG),
    ("no_credential_provider", _PROVIDER),
)
"""Cause → pattern, the more special before the more general."""

_WORDS = {
    "unknown_flag": _unknown_flag,
    "forbidden_label": _forbidden_label,
    "unknown_feature_gate": _unknown_feature_gate,
    "cgroup_v1": _cgroup_v1,
    "invalid_config": _invalid_config,
    "invalid_flag": _invalid_flag,
    "swap_on": _swap_on,
    "kernel_defaults": _kernel_defaults,
    "cgroup_driver_mismatch": _cgroup_driver,
    "no_container_runtime": _no_container_runtime,
    "wrong_certificate_authority": _no_authority,
    "no_kubeconfig": _no_kubeconfig,
    "missing_file": _missing_file,
    "bad_kubeconfig": _bad_kubeconfig,
    "no_credential_provider": _credential_provider,
}

# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernel settings, modules, cgroups and swap. Standard library, Python 3.7 and newer.

In an image, the settings are those of the files that systemd-sysctl reads at boot; on a node, those of the kernel.
"""

from __future__ import annotations

import re
from typing import Dict, Iterator, NamedTuple

from .._node.kubelet_config import setting
from . import mounts, tree
from .model import ERROR, WARNING, Finding, Machine, Rule

_SYSCTL_DIRECTORIES = ("/etc/sysctl.d", "/run/sysctl.d", "/usr/local/lib/sysctl.d", "/usr/lib/sysctl.d")
_SYSCTL_CONF = "/etc/sysctl.conf"

_KUBELET_REQUIRES = {
    "vm.overcommit_memory": "1",
    "vm.panic_on_oom": "0",
    "kernel.panic": "10",
    "kernel.panic_on_oops": "1",
    "kernel.keys.root_maxkeys": "1000000",
    "kernel.keys.root_maxbytes": "25000000",
}
"""What kubelet requires with protectKernelDefaults: setupKernelTunables in pkg/kubelet/cm/container_manager_linux.go."""

_KERNEL_DEFAULTS = {
    **_KUBELET_REQUIRES,
    "vm.overcommit_memory": "0",
    "kernel.panic": "0",
    "kernel.panic_on_oops": "0",
    "net.ipv4.ip_forward": "0",
    "net.bridge.bridge-nf-call-iptables": "1",
    "net.bridge.bridge-nf-call-ip6tables": "1",
    "net.ipv6.conf.all.disable_ipv6": "0",
}
"""What the kernel uses if no file of an image sets it."""

_BOOTSTRAP_SCRIPT = "/etc/eks/bootstrap.sh"
_MODULES = ("overlay", "br_netfilter", "nf_conntrack", "veth")
_CGROUP_V2_REQUIRED_SINCE = 35
_COMMAND_LINES = ("/etc/default/grub", "/etc/default/grub.d/*.cfg", "/etc/kernel/cmdline", "/boot/loader/entries/*.conf")
_INSTALL = re.compile(r"install\s+(?P<name>\S+)\s+(?:/usr)?/bin/(?:true|false)\b")


class Value(NamedTuple):
    """The value of a kernel setting. C(place): the file that sets it, or the file of the kernel."""

    value: str
    place: str


def file_settings(machine: Machine) -> Dict[str, Value]:
    """The settings in files, as a boot applies them: the files of all directories in the order of their names, the last one wins."""
    files: Dict[str, str] = {}
    for directory in reversed(_SYSCTL_DIRECTORIES):
        files.update({name: f"{directory}/{name}" for name in machine.host.names(directory) if name.endswith(".conf")})
    files.setdefault("99-sysctl.conf", _SYSCTL_CONF)
    found = {}
    for name in sorted(files):
        for line in (machine.host.text(files[name]) or "").splitlines():
            key, equals, value = line.partition("=")
            if equals and not key.lstrip().startswith(("#", ";")):
                found[_dotted(key.strip().lstrip("-"))] = Value(" ".join(value.split()), files[name])
    return found


def _dotted(key: str) -> str:
    """The name of a setting with dots. systemd also takes slashes."""
    return key.replace("/", ".") if "/" in key and "." not in key.partition("/")[0] else key


def read_setting(machine: Machine, name: str) -> Value | None:
    """The value that counts. None if it is not known."""
    if machine.is_image:
        default = _KERNEL_DEFAULTS.get(name)
        return file_settings(machine).get(name) or (None if default is None else Value(default, "/etc/sysctl.d"))
    place = "/proc/sys/" + name.replace(".", "/")
    text = machine.host.text(place)
    return None if text is None else Value(" ".join(text.split()), place)


def _set_in_a_file(name: str, value: str) -> str:
    return f"set {name} = {value} in a file of /etc/sysctl.d that comes last"


def _kernel_defaults(machine: Machine) -> Iterator[Finding]:
    # nodeadm sets the field when a node boots.
    default = "true" if machine.is_image and machine.family == "al2023" else "false"
    if setting(machine.flags, machine.kubelet_config, "protect-kernel-defaults", default).lower() != "true":
        return
    for name, required in _KUBELET_REQUIRES.items():
        found = read_setting(machine, name)
        if found is not None and found.value != required:
            message = f"{name} is {found.value}, and kubelet exits when it starts, because it requires {required} (protectKernelDefaults)"
            yield Finding(found.place, message, _set_in_a_file(name, required))


def _ip_forward(machine: Machine) -> Iterator[Finding]:
    name = "net.ipv4.ip_forward"
    found = read_setting(machine, name)
    # The script of the image sets it at boot, but not against a file of the image, which is read at every boot.
    is_set_later = machine.is_image and name not in file_settings(machine) and machine.host.exists(_BOOTSTRAP_SCRIPT)
    if found is not None and found.value != "1" and not is_set_later:
        message = f"{name} is {found.value}, so pods cannot reach anything outside of the node"
        yield Finding(found.place, message, _set_in_a_file(name, "1"))


def _bridge(machine: Machine) -> Iterator[Finding]:
    for name in ("net.bridge.bridge-nf-call-iptables", "net.bridge.bridge-nf-call-ip6tables"):
        found = read_setting(machine, name)
        if found is not None and found.value == "0":
            message = f"{name} is 0: with a network plugin that uses a bridge, Services and network policies do not work"
            yield Finding(found.place, message, _set_in_a_file(name, "1"))


def _no_ipv6(machine: Machine) -> Iterator[Finding]:
    found = read_setting(machine, "net.ipv6.conf.all.disable_ipv6")
    if found is not None and found.value == "1":
        message = "IPv6 is disabled: the node cannot join an IPv6 cluster, and programs that listen on ::1 do not start"
        yield Finding(found.place, message, _set_in_a_file("net.ipv6.conf.all.disable_ipv6", "0"))


def _no_ipv6_forwarding(machine: Machine) -> Iterator[Finding]:
    found = file_settings(machine).get("net.ipv6.conf.all.forwarding")
    if found is not None and found.value == "0":
        message = "net.ipv6.conf.all.forwarding is 0, so in an IPv6 cluster pods cannot reach anything outside of the node"
        yield Finding(found.place, message, "remove the line, or set it to 1")


def _modules_disabled(machine: Machine) -> Iterator[Finding]:
    found = file_settings(machine).get("kernel.modules_disabled")
    if found is not None and found.value == "1":
        message = "kernel.modules_disabled is 1, so containerd and kube-proxy cannot load the modules that they need"
        yield Finding(found.place, message, "remove the line")


def _module_disabled(machine: Machine) -> Iterator[Finding]:
    for path in tree.matches(machine.host, "/etc/modprobe.d/*.conf"):
        for line in (machine.host.text(path) or "").splitlines():
            match = _INSTALL.match(line.strip())
            if match and match.group("name").replace("-", "_") in _MODULES:
                message = f"the kernel module {match.group('name')} cannot be loaded, and pods do not start or have no network without it"
                yield Finding(path, message, f"remove the line: {match.group()}")


def _cgroup(machine: Machine) -> Iterator[Finding]:
    minor = machine.minor
    if minor is None or minor < _CGROUP_V2_REQUIRED_SINCE:
        return
    if setting(machine.flags, machine.kubelet_config, "fail-cgroupv1", "true").lower() == "false":
        return
    place = _cgroup_v1_place(machine)
    if place:
        message = f"the system uses cgroups version 1, and kubelet 1.{minor} exits on it by default"
        yield Finding(place, message, "boot with cgroups version 2, or set failCgroupV1: false in the kubelet configuration")


def _cgroup_v1_place(machine: Machine) -> str | None:
    """What shows that the machine uses version 1."""
    if not machine.is_image:
        root = "/sys/fs/cgroup"
        return root if machine.host.exists(root) and not machine.host.exists(f"{root}/cgroup.controllers") else None
    if machine.family == "al2":
        return "/etc/system-release"
    texts = ((path, machine.host.text(path) or "") for pattern in _COMMAND_LINES for path in tree.matches(machine.host, pattern))
    return next((path for path, text in texts if "systemd.unified_cgroup_hierarchy=0" in text), None)


def _swap(machine: Machine) -> Iterator[Finding]:
    if setting(machine.flags, machine.kubelet_config, "fail-swap-on", "true").lower() == "false":
        return
    places = [mounts.FSTAB for mount in mounts.read_fstab(machine.host) if mount.kind == "swap" and "noauto" not in mount.options]
    if not machine.is_image and len((machine.host.text("/proc/swaps") or "").splitlines()) > 1:
        places.append("/proc/swaps")
    for place in dict.fromkeys(places):
        message = "the node uses swap, and kubelet exits with it by default"
        yield Finding(place, message, "remove the swap space, or set failSwapOn: false in the kubelet configuration")


RULES = (
    Rule("image.kernel_defaults", ERROR, _kernel_defaults),
    Rule("image.ip_forward", ERROR, _ip_forward),
    Rule("image.bridge_filter", WARNING, _bridge),
    Rule("image.no_ipv6", WARNING, _no_ipv6),
    Rule("image.no_ipv6_forwarding", WARNING, _no_ipv6_forwarding),
    Rule("image.modules_disabled", ERROR, _modules_disabled),
    Rule("image.module_disabled", ERROR, _module_disabled),
    Rule("image.cgroup_v1", ERROR, _cgroup),
    Rule("image.swap", ERROR, _swap),
)

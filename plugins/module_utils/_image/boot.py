# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The boot: cloud-init, nodeadm, kubelet's unit, and services that get in the way. Standard library, Python 3.7 and newer."""

from __future__ import annotations

import os
import re
from typing import Any, Dict, Iterator

from .._node import nodeadm_files, yaml_reader
from . import tree, unit_files
from .model import ERROR, IMAGE, WARNING, Finding, Machine, Rule

_CLOUD_INIT = ("cloud-init-local.service", "cloud-init.service", "cloud-config.service", "cloud-final.service")
_NODEADM = ("nodeadm-config.service", "nodeadm-run.service")
_MULTI_USER = f"{unit_files.SYSTEM}/multi-user.target.wants"
_KUBELET = "kubelet.service"
_ARGUMENTS = {"al2023": "$NODEADM_KUBELET_ARGS", "al2": "$KUBELET_EXTRA_ARGS"}
_EXTRA_ARGUMENTS_DROP_IN = "30-kubelet-extra-args.conf"
_CLOUD_CONFIG = "/etc/cloud/cloud.cfg"
_PACKET_FILTERS = {
    "iptables.service": ("/etc/sysconfig/iptables",),
    "ip6tables.service": ("/etc/sysconfig/ip6tables",),
    "netfilter-persistent.service": ("/etc/iptables/rules.v4", "/etc/iptables/rules.v6"),
    "nftables.service": ("/etc/nftables.conf", "/etc/sysconfig/nftables.conf"),
}
_REJECTS_BY_DEFAULT = re.compile(
    r"^:(?:INPUT|FORWARD) DROP|^-A (?:INPUT|FORWARD) -j (?:REJECT|DROP)|^[^#\n]*hook (?:input|forward)\b[^}]*?policy drop", re.MULTILINE
)


# --- units -------------------------------------------------------------------------------------------------------------------------------


def _masked(machine: Machine) -> Iterator[Finding]:
    names = ["containerd.service", _KUBELET, *_CLOUD_INIT, *(_NODEADM if machine.family == "al2023" else ())]
    for name in names:
        path = unit_files.mask(machine.host, name)
        if path:
            yield Finding(path, f"{name} is masked, so systemd never starts it", f"run systemctl unmask {name}")


def _nodeadm_units(machine: Machine) -> Iterator[Finding]:
    for name in _NODEADM if machine.family == "al2023" else ():
        if not unit_files.mask(machine.host, name) and not unit_files.is_enabled(machine.host, name):
            message = f"{name} does not start at boot, so the node does not join"
            yield Finding(f"{_MULTI_USER}/{name}", message, f"run systemctl enable {name}")


def _kubelet_enabled(machine: Machine) -> Iterator[Finding]:
    for path in unit_files.enabled_by(machine.host, _KUBELET):
        message = "kubelet starts at every boot before user data has configured it, fails, and starts again"
        yield Finding(path, message, "run systemctl disable kubelet: the bootstrap of the node starts it")


def _order_cycle(machine: Machine) -> Iterator[Finding]:
    last = unit_files.read(machine.host, "cloud-final.service")
    if "multi-user.target" not in unit_files.names_in(last, "After"):
        return
    for path in tree.matches(machine.host, f"{_MULTI_USER}/*"):
        name = os.path.basename(path)
        if "cloud-final.service" in unit_files.names_in(unit_files.read(machine.host, name), "After"):
            message = (
                f"multi-user.target waits for {name}, which waits for cloud-final.service, which waits for multi-user.target: systemd"
                " breaks such a cycle by not starting one of them"
            )
            fix = f"enable {name} for cloud-init.target instead (WantedBy), or remove After=multi-user.target from cloud-final.service"
            yield Finding(path, message, fix)


def _nodeadm_order(machine: Machine) -> Iterator[Finding]:
    name = "nodeadm-run.service"
    path = unit_files.find(machine.host, name)
    after = unit_files.names_in(unit_files.read(machine.host, name), "After")
    if machine.family == "al2023" and path and "cloud-final.service" not in after:
        message = "nodeadm starts kubelet while scripts of user data still run: the unit is not ordered after cloud-final.service"
        yield Finding(path, message, "add After=cloud-final.service")


# --- what overrides user data ------------------------------------------------------------------------------------------------------------


def _kubelet_command(machine: Machine) -> Iterator[Finding]:
    variable = _ARGUMENTS.get(machine.family)
    for command in unit_files.read(machine.host, _KUBELET) if variable else ():
        words = command.value.replace("${", "$").replace("}", "").split()
        if command.key == "ExecStart" and variable not in words:
            message = f"kubelet starts without {variable}, so it ignores the settings of the node group"
            yield Finding(command.path, message, f"append {variable} to ExecStart, or remove ExecStart from the drop-in")


def _kubelet_environment(machine: Machine) -> Iterator[Finding]:
    for path in unit_files.drop_ins(machine.host, _KUBELET) if machine.family == "al2" else ():
        if os.path.basename(path) > _EXTRA_ARGUMENTS_DROP_IN and "KUBELET_EXTRA_ARGS=" in (machine.host.text(path) or ""):
            message = f"the drop-in replaces KUBELET_EXTRA_ARGS of user data, because its name comes after {_EXTRA_ARGUMENTS_DROP_IN}"
            yield Finding(path, message, "set the flags in the configuration of kubelet, or use another variable in ExecStart")


def _kubelet_drop_in(machine: Machine) -> Iterator[Finding]:
    directory, _slash, own = nodeadm_files.KUBELET_DROP_IN.rpartition("/")
    for name in machine.host.names(directory) if machine.family == "al2023" else ():
        if name.endswith(".conf") and name > own:
            message = f"the file overrides the kubelet configuration of user data, because its name comes after {own}"
            yield Finding(f"{directory}/{name}", message, f"give the file a name that comes before {own}, if user data must win")


def _nodeadm_documents(machine: Machine) -> Iterator[Finding]:
    for path in nodeadm_files.document_paths(machine.host):
        value, problem = _parse(machine, path)
        if problem or not isinstance(value, dict) or value.get("kind") != "NodeConfig":
            message = f"nodeadm stops at this file, and the node does not join: {problem or 'it is not a NodeConfig'}"
            yield Finding(path, message, "correct the file, or remove it")


def _nodeadm_cluster(machine: Machine) -> Iterator[Finding]:
    for path in nodeadm_files.document_paths(machine.host):
        value, _problem = _parse(machine, path)
        spec = value.get("spec") if isinstance(value, dict) else None
        if isinstance(spec, dict) and spec.get("cluster"):
            message = "the file contains a cluster, so that nodes of another cluster with this image do not join"
            yield Finding(path, message, "remove spec.cluster: user data names the cluster")


def _nodeadm_ignored(machine: Machine) -> Iterator[Finding]:
    known = nodeadm_files.document_paths(machine.host)
    for path in tree.matches(machine.host, f"{nodeadm_files.DIRECTORY}/*"):
        if path not in known and tree.mode(machine.host, path) is not None:
            message = "nodeadm does not read the file, because its name does not end in .yaml, .yml or .json"
            yield Finding(path, message, "rename the file, or remove it")


def _parse(machine: Machine, path: str) -> tuple[Any, str | None]:
    try:
        return yaml_reader.parse(machine.host.text(path) or ""), None
    except yaml_reader.YamlError as error:
        return None, str(error)


# --- cloud-init --------------------------------------------------------------------------------------------------------------------------


def _cloud_init_off(machine: Machine) -> Iterator[Finding]:
    path = "/etc/cloud/cloud-init.disabled"
    if machine.host.exists(path):
        yield Finding(path, "cloud-init does not run with this file, so user data has no effect", "remove the file")


def _cloud_settings(machine: Machine) -> Dict[str, tuple[Any, str]]:
    """The settings of the files of cloud-init, each with its file. The last file wins."""
    found: Dict[str, tuple[Any, str]] = {}
    for path in [_CLOUD_CONFIG, *tree.matches(machine.host, f"{_CLOUD_CONFIG}.d/*.cfg")]:
        value, _problem = _parse(machine, path) if machine.host.exists(path) else (None, None)
        found.update({key: (setting, path) for key, setting in value.items()} if isinstance(value, dict) else {})
    return found


def _data_source(machine: Machine) -> Iterator[Finding]:
    sources, path = _cloud_settings(machine).get("datasource_list", (None, ""))
    if isinstance(sources, list) and "Ec2" not in sources:
        message = "cloud-init does not look for user data in EC2, because datasource_list does not contain Ec2"
        yield Finding(path, message, "add Ec2 to datasource_list")


def _no_scripts(machine: Machine) -> Iterator[Finding]:
    modules, path = _cloud_settings(machine).get("cloud_final_modules", (None, ""))
    if not isinstance(modules, list):
        return
    names = [str(module[0] if isinstance(module, list) and module else module).replace("_", "-") for module in modules]
    if "scripts-user" not in names:
        message = "cloud-init does not run scripts of user data, because cloud_final_modules does not contain scripts-user"
        yield Finding(path, message, "add scripts-user to cloud_final_modules")


# --- other services ----------------------------------------------------------------------------------------------------------------------


def _firewall(machine: Machine) -> Iterator[Finding]:
    message = "the firewall rejects connections to kubelet and between pods, and removes rules of kube-proxy and the network plugin"
    for path in unit_files.enabled_by(machine.host, "firewalld.service")[:1]:
        yield Finding(path, message, "run systemctl disable --now firewalld, and use security groups")
    path = "/etc/ufw/ufw.conf"
    if "ENABLED=yes" in [line.strip() for line in (machine.host.text(path) or "").splitlines()]:
        yield Finding(path, message, "run ufw disable, and use security groups")


def _packet_filter(machine: Machine) -> Iterator[Finding]:
    for name, paths in _PACKET_FILTERS.items():
        for path in paths if unit_files.is_enabled(machine.host, name) else ():
            if _REJECTS_BY_DEFAULT.search(machine.host.text(path) or ""):
                message = "the rules that the boot loads reject connections to kubelet and between pods unless another rule allows them"
                yield Finding(path, message, f"accept by default in chains input and forward, or run systemctl disable --now {name}")


RULES = (
    Rule("image.masked_unit", ERROR, _masked),
    Rule("image.nodeadm_units", ERROR, _nodeadm_units),
    Rule("image.kubelet_enabled", WARNING, _kubelet_enabled, (IMAGE,)),
    Rule("image.order_cycle", ERROR, _order_cycle),
    Rule("image.nodeadm_order", WARNING, _nodeadm_order),
    Rule("image.kubelet_command", ERROR, _kubelet_command),
    Rule("image.kubelet_environment", ERROR, _kubelet_environment, (IMAGE,)),
    Rule("image.kubelet_drop_in", WARNING, _kubelet_drop_in, (IMAGE,)),
    Rule("image.nodeadm_document", ERROR, _nodeadm_documents),
    Rule("image.nodeadm_cluster", ERROR, _nodeadm_cluster, (IMAGE,)),
    Rule("image.nodeadm_ignored", WARNING, _nodeadm_ignored),
    Rule("image.cloud_init_off", ERROR, _cloud_init_off),
    Rule("image.cloud_init_source", ERROR, _data_source),
    Rule("image.cloud_init_scripts", ERROR, _no_scripts),
    Rule("image.firewall", ERROR, _firewall),
    Rule("image.packet_filter", WARNING, _packet_filter),
)

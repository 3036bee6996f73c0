# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the CSV file with the hardware of a Bare Metal cluster, and compares it with the machines that the cluster needs.

The number in a path such as C(hardware_csv[3].mac) is the line of the file.
"""

from __future__ import annotations

import csv
import io
import ipaddress
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import Problems, joined, nearest
from ..kubernetes import label_key_problem, label_value_problem
from ..network import ip_problem
from .documents import Documents
from .hardware_match import Group, several_selectors, unmatched
from .model import TINKERBELL, Cluster

PATH = "hardware_csv"
REQUIRED = ("hostname", "mac", "ip_address", "netmask", "gateway", "nameservers", "labels", "disk")
OPTIONAL = ("bmc_ip", "bmc_username", "bmc_password", "vlan_id")
_BMC = ("bmc_ip", "bmc_username", "bmc_password")
_MACHINES = "TinkerbellMachineConfig"
_MAC = re.compile(r"[0-9a-f]{2}(?:[:-][0-9a-f]{2}){5}", re.ASCII)
_HOST_NAME = re.compile(r"(?=.{1,253}\Z)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*", re.ASCII)
_DISK = re.compile(r"(?:/dev/[A-Za-z0-9_-]+)+", re.ASCII)
"""What EKS Anywhere accepts: no path below a folder, such as /dev/disk/by-id/NAME."""

_VLANS = range(1, 4095)
_UNIQUE = ("hostname", "mac", "ip_address", "bmc_ip")
_SEPARATOR = "|"


@dataclass(frozen=True)
class Machine:
    """One machine of the file. line: its line. labels: by which groups select it."""

    line: int
    hostname: str
    mac: str
    address: str
    labels: Mapping[str, str]


def check(text: str, documents: Documents, cluster: Cluster, problems: Problems) -> tuple[Machine, ...]:
    """The machines of a file. Reports rows that are not valid, and groups of the cluster without enough hardware."""
    if cluster.provider != TINKERBELL:
        message = f"is for Bare Metal only, and the provider is {cluster.provider_name}"
        problems.add("anywhere.hardware", PATH, message, fix="remove it")
        return ()
    rows = _rows(text, problems)
    if rows is None:
        return ()
    _check_unique(rows, problems)
    machines = []
    for line, row in rows:
        path = joined(PATH, line)
        _check_row(row, path, problems)
        _check_addresses(row, path, documents, cluster, problems)
        labels = _labels(row, path, problems)
        machines.append(Machine(line, row["hostname"], row["mac"].lower().replace("-", ":"), row["ip_address"], labels))
    _check_counts(machines, documents, cluster, problems)
    return tuple(machines)


def _rows(text: str, problems: Problems) -> list[tuple[int, dict[str, str]]] | None:
    """Every row with its line, or None if the first line is not valid. The columns that a file does not have are empty."""
    rows: list[tuple[int, dict[str, str]]] = []
    reader = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        if not _check_header(header, problems):
            return None
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(header):
                message = f"has {len(cells)} cells, and the first line has {len(header)}"
                fix = "quote cells that contain a comma"
                problems.add("anywhere.hardware", joined(PATH, reader.line_num), message, fix=fix)
                continue
            row = dict.fromkeys((*REQUIRED, *OPTIONAL), "")
            rows.append((reader.line_num, row | {name: cell.strip() for name, cell in zip(header, cells, strict=True)}))
    except csv.Error as error:
        problems.add("anywhere.hardware", joined(PATH, reader.line_num), f"is not valid CSV: {error}", fix="correct the quotes")
    return rows


def _check_header(header: Sequence[str], problems: Problems) -> bool:
    missing = [name for name in REQUIRED if name not in header]
    known = (*REQUIRED, *OPTIONAL)
    for name in header:
        if name not in known:
            guess = nearest(name, known)
            if guess is not None and guess not in header:
                missing = [one for one in missing if one != guess]
                fix = f"rename it to {guess}"
                problems.add("anywhere.hardware", joined(PATH, name), "is not a column", allowed=", ".join(known), nearest=guess, fix=fix)
            else:
                problems.add("anywhere.hardware_column", joined(PATH, name), "is not a column that EKS Anywhere reads")
    for name in missing:
        problems.add("anywhere.hardware", joined(PATH, name), "is missing in the first line", fix=f"add the column {name}")
    for name in sorted({name for name in header if header.count(name) > 1}):
        problems.add("anywhere.hardware", joined(PATH, name), "is there twice in the first line", fix="remove one of the two columns")
    return not missing and len(set(header)) == len(header) and all(name in header for name in REQUIRED)


def _check_unique(rows: Sequence[tuple[int, Mapping[str, str]]], problems: Problems) -> None:
    for column in _UNIQUE:
        first: dict[str, int] = {}
        for line, row in rows:
            value = row[column].lower().replace("-", ":") if column == "mac" else row[column].lower()
            if value and first.setdefault(value, line) != line:
                path = joined(joined(PATH, line), column)
                fix = "correct one of the two lines"
                problems.add("anywhere.hardware_twice", path, f"is the same as in line {first[value]}", value=row[column], fix=fix)


def _check_row(row: Mapping[str, str], path: str, problems: Problems) -> None:
    for name in REQUIRED:
        if not row[name]:
            problems.add("anywhere.hardware", joined(path, name), "is empty", fix="add the value")
    checks: tuple[tuple[str, bool, str], ...] = (
        ("hostname", bool(_HOST_NAME.fullmatch(row["hostname"])), "a DNS name in lower case"),
        ("mac", bool(_MAC.fullmatch(row["mac"].lower())), "a MAC address such as CC:48:3A:00:00:01"),
        ("ip_address", ip_problem(row["ip_address"]) is None, "an IP address"),
        ("gateway", ip_problem(row["gateway"]) is None, "an IP address"),
        ("netmask", _network(row["ip_address"], row["netmask"]) is not None, "a netmask such as 255.255.254.0"),
        ("nameservers", all(ip_problem(one) is None for one in row["nameservers"].split(_SEPARATOR)), "IP addresses, joined with |"),
        ("disk", bool(_DISK.fullmatch(row["disk"])), "a device such as /dev/sda"),
        ("vlan_id", _is_vlan(row["vlan_id"]), "a number from 1 to 4094"),
    )
    for name, is_valid, allowed in checks:
        can_be_checked = name != "netmask" or ip_problem(row["ip_address"]) is None
        if row[name] and not is_valid and can_be_checked:
            problems.add("anywhere.hardware", joined(path, name), "is not valid", value=row[name], allowed=allowed)
    given = [name for name in _BMC if row[name]]
    if given and len(given) < len(_BMC):
        missing = ", ".join(name for name in _BMC if not row[name])
        fix = "fill all three, or none of them"
        problems.add("anywhere.hardware", joined(path, given[0]), f"is set, and {missing} is empty", fix=fix)
    if row["bmc_ip"] and ip_problem(row["bmc_ip"]) is not None:
        problems.add("anywhere.hardware", joined(path, "bmc_ip"), "is not valid", value=row["bmc_ip"], allowed="an IP address")


def _is_vlan(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 4 and int(text) in _VLANS


def _network(address: str, netmask: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_interface(f"{address}/{netmask}").network
    except ValueError:
        return None


def _check_addresses(row: Mapping[str, str], path: str, documents: Documents, cluster: Cluster, problems: Problems) -> None:
    """Report a gateway outside of the network of the machine, and an address that the cluster uses otherwise."""
    network = _network(row["ip_address"], row["netmask"])
    if network is not None and ip_problem(row["gateway"]) is None and ipaddress.ip_address(row["gateway"]) not in network:
        message = f"is outside of the network of the machine, {network}"
        problems.add("anywhere.hardware", joined(path, "gateway"), message, value=row["gateway"], fix="correct the gateway or the netmask")
    datacenter = documents.find(TINKERBELL, cluster.datacenter.name)
    uses = {cluster.control_plane.endpoint: "the endpoint of the control plane"}
    if datacenter is not None and datacenter.spec.get("tinkerbellIP"):
        uses[datacenter.spec["tinkerbellIP"]] = "tinkerbellIP"
    if row["ip_address"] in uses:
        message = f"is {uses[row['ip_address']]}, too"
        problems.add("anywhere.address_in_use", joined(path, "ip_address"), message, value=row["ip_address"], fix="use another address")


def _labels(row: Mapping[str, str], path: str, problems: Problems) -> dict[str, str]:
    labels: dict[str, str] = {}
    below = joined(path, "labels")
    for part in row["labels"].split(_SEPARATOR) if row["labels"] else ():
        key, equals, value = (word.strip() for word in part.partition("="))
        reason = "has no =" if not equals else label_key_problem(key) or label_value_problem(value)
        if reason is not None:
            problems.add(
                "anywhere.hardware", below, f"contains a label that is not valid: {reason}", value=part, allowed="KEY=VALUE, joined with |"
            )
        elif labels.setdefault(key, value) != value:
            problems.add("anywhere.hardware", below, f"has two values for {key}", value=row["labels"], fix="keep one of them")
    return labels


def _check_counts(machines: Sequence[Machine], documents: Documents, cluster: Cluster, problems: Problems) -> None:
    """Report groups that need more machines than the file has for them."""
    groups = [
        _group(cluster.control_plane.path, "the control plane", cluster.control_plane.count or 0, cluster.control_plane.machine, documents)
    ]
    for one in cluster.workers:
        groups.append(_group(one.path, f"the worker group {one.name}", one.replicas, one.machine, documents))
    known = [group for group in groups if group is not None]
    for machine in machines:
        both = several_selectors(known, machine.labels)
        if both:
            message = f"fit {both[0].name}, {both[0].words}, and {both[1].name}, {both[1].words}"
            path = joined(joined(PATH, machine.line), "labels")
            problems.add("anywhere.hardware", path, message, fix="leave the labels of one group only")
    for group, lacking, fitting in unmatched(known, [machine.labels for machine in machines]):
        has = f"{group.count - lacking} of them are free" if fitting >= group.count else f"the file has {fitting} that fit"
        message = f"needs {group.count} machines with {group.words}, and {has}"
        others = "; other groups select the same machines" if fitting >= group.count else ""
        problems.add("anywhere.hardware_count", joined(group.path, "count"), message + others, fix="add machines, or reduce the count")


def _group(path: str, name: str, count: int, machine: Any, documents: Documents) -> Group | None:
    """What a group of the cluster selects, or None if it has no valid machine config."""
    config = None if machine is None else documents.find(_MACHINES, machine.name)
    if config is None or count < 1:
        return None
    selector, affinity = config.spec.get("hardwareSelector"), config.spec.get("hardwareAffinity")
    if not selector and not affinity:
        return None
    return Group(path, name, count, selector or {}, (affinity or {}).get("required") or ())

# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Collect the evidence that `diagnosis.diagnose` interprets. Reads only. Standard library, Python 3.7 and newer.

In the order in which a node starts, and no further than needed: units, the failed start of kubelet, its process, the API server.
"""

from __future__ import annotations

import ipaddress
import re
import time
from typing import TYPE_CHECKING, Callable, Iterable, Mapping, NamedTuple, Sequence

from .._node import journald, network, systemd
from .._node.errors import ApplyRefused
from .._node.host import Host, read_hostname, read_process, to_wall_time
from .._node.kubelet_config import KubeletConfig, read_config, setting
from .._node.kubelet_process import UNITS as KUBELET_UNITS
from .._node.kubelet_process import Flags, find_kubeconfig, find_unit, last, node_name, parse, values
from .._node.systemd import Unit
from . import containerd
from .instance import read_instance
from .model import (
    ApiResult,
    Containerd,
    Evidence,
    FailedUnit,
    Instance,
    Kubelet,
    KubeletExit,
    KubeletProcess,
    NetworkConfig,
    Settings,
    runs,
    to_plain_text,
)

if TYPE_CHECKING:
    from .api_client import ApiClient

CONTAINERD = "containerd.service"
NODEADM_UNITS = ("nodeadm-config.service", "nodeadm-run.service")
UNITS = (*KUBELET_UNITS, CONTAINERD, *NODEADM_UNITS)

RESTART_MARGIN, MAX_RESTART_DOUBT = 2.0, 20.0
"""A restarted kubelet counts as failed until it runs longer than its last start by the first number of seconds; at most the second one."""

FIRST_LINES_WITHIN = 10.0
"""Seconds after its start in which a kubelet has logged something, if the journal is complete."""

SERVING_CERTIFICATE_AFTER = 60.0
"""Seconds that the cluster gets to approve the request for the serving certificate of kubelet."""

_MAX_LOG_LINES = 20

_KERNEL_LOG_SECONDS = 5.0
"""The kernel logs that it kills a process before systemd logs that the process ended, at most so long before."""

_FULL_BYTES = 1 << 20
"""A file system with less free space than this is full."""


class EvidenceCollector:
    """Collects evidence from a host. Call `collect` repeatedly on the same object: what cannot change is read once."""

    def __init__(self, host: Host, clock: Callable[[], float] = time.monotonic) -> None:
        self._host = host
        self._clock = clock
        self._hostname = read_hostname()
        self._process: _Process | None = None
        self._first_lines: dict[tuple[int, float], list[journald.Entry]] = {}
        self._client: ApiClient | None = None
        self._instance: Instance | None = None
        self._cgroup_drivers: dict[int, bool | None] = {}
        self._cni_directories: dict[int, str | None] = {}
        self._settings: tuple[tuple[str, str], Settings] | None = None

    def collect(self) -> Evidence:
        """What is known about the join now."""
        units = read_units(self._host)
        now = round(time.time(), 3)
        name = find_unit(units or {})
        if units is None or name is None:
            return Evidence(now, units=units)
        unit, entries, has_nodeadm = units[name], journald.entries(name), any(one in units for one in NODEADM_UNITS)
        failed_start, nodeadm = self._find_failed_start(unit, entries), _find_failed_nodeadm(units)
        if failed_start is not None:
            failed_start = self._explain_start(failed_start, unit, entries, has_nodeadm)
        if not runs(unit):
            kubelet = Kubelet(name, exit=failed_start)
            return Evidence(now, None, units, kubelet, nodeadm, self._collect_containerd(units, None))
        process = self._read_process(unit, has_nodeadm)
        lines, has_first_lines = self._read_log(unit, entries)
        kubelet = Kubelet(name, True, failed_start, _to_plain_lines(lines), has_first_lines, process.settings)
        name_of_node = node_name(process.flags, self._hostname, lambda: lines)
        api = self._request_node(process, name_of_node.name) if failed_start is None else None
        evidence = Evidence(now, name_of_node.name, units, kubelet, nodeadm, self._collect_containerd(units, process), api)
        return evidence._replace(
            is_node_name_certain=name_of_node.is_certain,
            instance=self._collect_instance(api),
            has_serving_certificate=self._check_serving_certificate(evidence, unit),
            network=self._collect_network(evidence),
        )

    # --- units and logs --------------------------------------------------------------------------------------------------------------

    def _find_failed_start(self, unit: Unit, entries: list[journald.Entry]) -> KubeletExit | None:
        """The last start, if it failed. After a restart that is the one before, until the new one has run longer than that."""
        if runs(unit):
            before = journald.failed_before(entries, started_at(unit))
            if before is None or self._clock() - started_at(unit) > min((before.seconds or 0.0) + RESTART_MARGIN, MAX_RESTART_DOUBT):
                return None
            return _to_exit(before.lines, entries)
        if unit.active == "inactive" and unit.result in ("success", ""):
            return None
        if unit.active in ("activating", "deactivating") and not unit.is_auto_restarting:
            # It is being started or stopped. The log counts only if systemd does that, after a failure.
            last = journald.failed_before(entries, float("inf"))
            return None if last is None else _to_exit(last.lines, entries)
        return _to_exit(journald.lines_since(entries, started_at(unit)), entries)

    def _explain_start(self, start: KubeletExit, unit: Unit, entries: list[journald.Entry], has_nodeadm: bool) -> KubeletExit:
        """A failed start, with what else shows why it failed. That is collected only if its log mentions it."""
        text = "\n".join(start.lines)
        port = _TAKEN_PORT.search(text)
        is_killed = any("code=killed" in line or "oom" in line.lower() for line in start.systemd_lines)
        key = (unit.name, start.lines[-1] if start.lines else "")
        if self._settings is None or self._settings[0] != key:
            # Imported here, because a kubelet that runs does not need it.
            from .settings import read_settings

            self._settings = (key, read_settings(self._host, unit.name, has_nodeadm))
        return start._replace(
            settings=self._settings[1],
            kernel_lines=_kernel_lines(entries) if is_killed else (),
            memory_limit=self._read_memory_limit(unit.name) if is_killed else None,
            port_owners=tuple(network.listeners(self._host, int(port.group("port")))) if port else (),
            full_disks=find_full_disks(self._host, text) if _NO_SPACE in text else (),
        )

    def _read_memory_limit(self, name: str) -> int | None:
        try:
            return systemd.read_memory_limit(name, self._host.run_program)
        except ApplyRefused:
            return None

    def _read_log(self, unit: Unit, entries: list[journald.Entry]) -> tuple[list[str], bool]:
        """(first and latest lines of the running process, whether its first lines are there)."""
        latest = journald.lines_since(entries, started_at(unit))
        if len(entries) < journald.LINES or entries[0].moment < started_at(unit):
            return latest, _has_first_lines(entries, started_at(unit))
        key = (unit.pid, started_at(unit))
        if key not in self._first_lines:
            self._first_lines = {key: journald.entries(None, unit.pid)}
        first = self._first_lines[key]
        return [entry.text for entry in first] + latest, _has_first_lines(first, started_at(unit))

    # --- the kubelet process -----------------------------------------------------------------------------------------------------------

    def _read_process(self, unit: Unit, has_nodeadm: bool) -> _Process:
        before, key = self._process, (unit.pid, started_at(unit))
        # A program in front of kubelet is replaced by it, and a kubelet that bootstraps changes its kubeconfig, both in the same process.
        if before is not None and before.key == key and before.kubeconfig is not None and not before.settings.is_bootstrapping:
            return before
        process = read_kubelet(self._host, unit)
        if process.settings.missing_addresses:
            from .settings import place_of_flag, read_settings

            place = place_of_flag(read_settings(self._host, unit.name, has_nodeadm), "node-ip", unit.name)
            process = process._replace(settings=process.settings._replace(address_place=(place.where, place.then)))
        if before is None or before.key != key or before.kubeconfig != process.kubeconfig:
            self._client = None
        self._process = process
        return process

    def _request_node(self, process: _Process, node_name: str) -> ApiResult:
        if process.kubeconfig is None:
            return ApiResult("standalone", is_kubelet=process.is_kubelet)
        if self._client is None:
            # Imported here, because it imports TLS and HTTP.
            from .api_client import ApiClient

            self._client = ApiClient(self._host, process.kubeconfig, process.environment)
        return self._client.request_node(node_name)

    # --- everything else ---------------------------------------------------------------------------------------------------------------

    def _collect_containerd(self, units: Mapping[str, Unit], process: _Process | None) -> Containerd | None:
        unit = units.get(CONTAINERD)
        if unit is None:
            return None
        if not runs(unit):
            lines = _read_last_lines(CONTAINERD, unit)
            text = "\n".join(lines)
            return Containerd(lines, full_disks=find_full_disks(self._host, text) if _NO_SPACE in text else ())
        if process is None or process.settings.cgroup_driver is None:
            return Containerd()
        if unit.pid not in self._cgroup_drivers:
            self._cgroup_drivers = {unit.pid: containerd.uses_systemd_cgroup(self._host, unit.pid, to_wall_time(started_at(unit)))}
        return Containerd(uses_systemd_cgroup=self._cgroup_drivers[unit.pid])

    def _collect_instance(self, api: ApiResult | None) -> Instance | None:
        """Which instance this is, after credentials were rejected."""
        if api is None or api.status != 401:
            return None
        if self._instance is None:
            self._instance = read_instance()
        return self._instance

    def _collect_network(self, evidence: Evidence) -> NetworkConfig | None:
        """The CNI configuration, if the network of the node is not ready."""
        if evidence.node is None or not evidence.node.lacks_network:
            return None
        # Imported here, because most nodes do not need it.
        from . import cni

        unit = evidence.unit(CONTAINERD)
        pid = unit.pid if unit is not None else 0
        if pid not in self._cni_directories:
            self._cni_directories = {pid: containerd.cni_directory(self._host, pid)}
        return cni.read_network_config(self._host, CONTAINERD, self._cni_directories[pid] or cni.DEFAULT_DIRECTORY)

    def _check_serving_certificate(self, evidence: Evidence, unit: Unit) -> bool | None:
        node, port = evidence.node, evidence.kubelet.process.serving_port if evidence.kubelet is not None else None
        if node is None or node.ready != "True" or port is None or self._clock() - started_at(unit) < SERVING_CERTIFICATE_AFTER:
            return None
        from .._node import http_client

        return http_client.has_certificate("127.0.0.1", port, time.monotonic() + 2)


def read_units(host: Host) -> dict[str, Unit] | None:
    """The units that exist; None if systemd does not answer."""
    try:
        units = systemd.read_units(UNITS, host.run_program)
    except ApplyRefused:
        return None
    return {name: unit for name, unit in units.items() if unit.exists}


def started_at(unit: Unit) -> float:
    """When the main process of a unit started, in seconds of the monotonic clock; without one, when the unit started."""
    return unit.main_started or unit.inactive_exited or 0.0


# --- logs --------------------------------------------------------------------------------------------------------------------------

_TAKEN_PORT = re.compile(r"listen tcp\w* \S*:(?P<port>[0-9]{1,5}): bind: address already in use")
_NO_SPACE = "no space left on device"
_PATH = re.compile(r"(?<![\w.])/[\w./@+-]+")
_KILLED_BY_KERNEL = re.compile(r"Killed process [0-9]+ \(")
_USUAL_PATHS = ("/var/lib/kubelet", "/var/lib/containerd", "/var/log", "/tmp", "/")


def _kernel_lines(entries: Sequence[journald.Entry]) -> tuple[str, ...]:
    """What the kernel logged about processes that it killed when kubelet ended."""
    ends = [entry.moment for entry in entries if entry.systemd and " process exited" in entry.text]
    since = ends[-1] - _KERNEL_LOG_SECONDS if ends else 0.0
    found = [entry.text for entry in journald.kernel_entries() if entry.moment >= since and _KILLED_BY_KERNEL.search(entry.text)]
    return _to_plain_lines(found[-_MAX_LOG_LINES:])


def find_full_disks(host: Host, text: str) -> tuple[str, ...]:
    """The file systems without free space among those of the paths in a text, and of the usual ones."""
    found: dict[tuple[int, int], str] = {}
    for path in dict.fromkeys((*_PATH.findall(text), *_USUAL_PATHS)):
        space = host.free_space(path)
        if space is None:
            continue
        if space.bytes and space.free_bytes < _FULL_BYTES:
            found.setdefault(
                (space.bytes, space.inodes), f"file system of {path}: {space.free_bytes >> 20} of {space.bytes >> 20} MiB are free"
            )
        elif space.inodes and not space.free_inodes:
            found.setdefault((space.bytes, space.inodes), f"file system of {path}: none of {space.inodes} inodes is free")
    return tuple(found.values())


def _to_exit(lines: Sequence[str], entries: Sequence[journald.Entry]) -> KubeletExit:
    """A failed start. The last lines of systemd explain a kubelet that could not be run at all."""
    systemd_lines = _to_plain_lines([entry.text for entry in entries if entry.systemd][-8:])
    # If the first line is also the first entry, earlier lines may be missing. Compare identity: another start may begin with the same text.
    is_complete = not lines or entries[0].text is not lines[0]
    return KubeletExit(_to_plain_lines(lines), systemd_lines, is_complete)


def _has_first_lines(entries: Sequence[journald.Entry], since: float) -> bool:
    """Whether the log goes back to the start of kubelet. A journal loses its oldest entries first, and kubelet logs something at once."""
    return any(not entry.systemd and 0 <= entry.moment - since + 0.001 < FIRST_LINES_WITHIN for entry in entries)


def _find_failed_nodeadm(units: Mapping[str, Unit]) -> FailedUnit | None:
    failed = next((name for name in NODEADM_UNITS if name in units and units[name].active == "failed"), None)
    return None if failed is None else FailedUnit(failed, _read_last_lines(failed, units[failed]))


def _read_last_lines(name: str, unit: Unit) -> tuple[str, ...]:
    return _to_plain_lines(journald.lines_since(journald.entries(name), started_at(unit)))[-_MAX_LOG_LINES:]


def _to_plain_lines(lines: Iterable[str]) -> tuple[str, ...]:
    """Log lines that are safe to show. kubelet logs all its flags, which is left out: a label may contain any text."""
    split = "\n".join(lines).split("\n")
    return tuple(to_plain_text(line) for line in split if line.strip() and " FLAG: --" not in line)


# --- the kubelet process -----------------------------------------------------------------------------------------------------------


class _Process(NamedTuple):
    """What stays the same as long as kubelet runs. `environment` and `flags` may contain secrets; only `settings` becomes evidence.

    `key`: its pid and start. `is_kubelet`: the program is kubelet itself, perhaps behind a loader or an interpreter.
    """

    key: tuple[int, float]
    environment: Mapping[str, str]
    flags: Flags
    kubeconfig: str | None
    is_kubelet: bool
    settings: KubeletProcess


def read_kubelet(host: Host, unit: Unit) -> _Process:
    """The kubelet process of a unit."""
    started = to_wall_time(started_at(unit))
    process = read_process(host, unit.pid, started)
    flags = parse(process.argv[1:])
    config = read_config(host, flags, bool(process.argv))
    kubeconfig = find_kubeconfig(host, flags)
    is_kubelet = any(word.rpartition("/")[2] == "kubelet" for word in process.argv[:3])
    settings = KubeletProcess(
        started=round(started, 3),
        registers_node=setting(flags, config.merged, "register-node", "true").lower() != "false",
        is_bootstrapping=kubeconfig is not None and kubeconfig == last(flags, "bootstrap-kubeconfig"),
        # A program in front of kubelet does not have the flags that decide.
        cgroup_driver=_find_cgroup_driver(flags, config, started) if kubeconfig or is_kubelet else None,
        config_files=tuple(file.path for file in config.files),
        serving_port=_find_serving_port(flags, config),
        missing_addresses=_find_missing_addresses(host, flags),
        eviction=_describe_eviction(flags, config),
    )
    return _Process((unit.pid, started_at(unit)), process.environment, flags, kubeconfig, is_kubelet, settings)


def _find_serving_port(flags: Flags, config: KubeletConfig) -> int | None:
    """The port on which kubelet serves with a certificate that the cluster signs; None if it signs the certificate itself."""
    requests = setting(flags, config.merged, "rotate-server-certificates", "false").lower() == "true"
    port = setting(flags, config.merged, "port", 10250)
    return int(port) if requests and port.isdigit() and 0 < int(port) < 65536 else None


def _find_missing_addresses(host: Host, flags: Flags) -> tuple[str, ...]:
    """The addresses of --node-ip that no interface has. 0.0.0.0 and :: let kubelet choose an address of that family."""
    given = [one.strip() for one in (last(flags, "node-ip") or "").split(",")]
    wanted = [str(ipaddress.ip_address(one)) for one in given if _is_address(one)]
    wanted = [one for one in wanted if not ipaddress.ip_address(one).is_unspecified]
    known = network.addresses(host) if wanted else None
    return () if known is None else tuple(one for one in wanted if one not in known)


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _describe_eviction(flags: Flags, config: KubeletConfig) -> tuple[str, ...]:
    """The thresholds of evictions that are set, each with its source."""
    found = []
    for flag, name in (("eviction-hard", "evictionHard"), ("eviction-soft", "evictionSoft")):
        if flag in flags:
            found.append(f"--{flag} of kubelet: {','.join(values(flags, flag))}")
            continue
        given = config.merged.get(name)
        files = [file.path for file in config.files if file.value is not None and name in file.value]
        if isinstance(given, dict) and given:
            text = ", ".join(f"{key}: {value}" for key, value in sorted(given.items()))
            found.append(to_plain_text(f"{name} of kubelet ({', '.join(files)}): {text}"))
    return tuple(found)


def _find_cgroup_driver(flags: Flags, config: KubeletConfig, started: float) -> str | None:
    """The cgroup driver that kubelet is configured with; None if it is not known which configuration the process read."""
    driver = last(flags, "cgroup-driver")
    if driver:
        return driver
    if config.effective is None:
        return None if config.files else "cgroupfs"
    if config.changed_after(started):
        return None
    return str(config.merged.get("cgroupDriver") or "cgroupfs")

# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The examination of a node that doctor_info returns. Reads only, and never fails. Standard library, Python 3.7 and newer.

Every part is read by the package that has it as its subject. A part that cannot be read is None, and C(problems) says why.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Tuple

from .._image import model, verify
from .._inspect import facts as inspection
from .._join import wait
from .._join.evidence import EvidenceCollector
from .._join.model import Evidence
from .._node.host import Host
from . import certificates, failures, resources, sources


def collect(host: Host, kubernetes_version: str | None = None) -> Dict[str, Any]:
    """The mapping that the module doctor_info documents. C(kubernetes_version): of the cluster."""
    join, evidence = _try(host, "join", lambda: _check_join(host)) or (None, None)
    facts: Dict[str, Any] = _try(host, "facts", lambda: inspection.facts(host)) or {}
    parts: Dict[str, Callable[[], Any]] = {
        "findings": lambda: verify.verify(host, model.LIVE, kubernetes_version).findings,
        "certificates": lambda: certificates.read(host, facts),
        "clock": lambda: resources.clock(host, evidence),
        "disks": lambda: resources.disks(host),
        "memory": lambda: resources.memory(host),
        "pressure": lambda: resources.pressure(host),
        "failures": lambda: failures.read(host, facts.get("units") or {}),
    }
    result: Dict[str, Any] = {"info": facts, "join": join, "kubernetes_version": kubernetes_version}
    return _complete(host, result, {**parts, **_of_user_data(host)})


def collect_user_data(host: Host) -> Dict[str, Any]:
    """The parts of C(collect) that a check of the user data needs. They take less time, and contact no API server."""
    facts: Dict[str, Any] = _try(host, "facts", lambda: inspection.facts(host)) or {}
    return _complete(host, {"info": facts}, _of_user_data(host))


def _of_user_data(host: Host) -> Dict[str, Callable[[], Any]]:
    """The user data, the NodeConfigs, and what decides how they are checked."""
    return {
        "family": lambda: model.read_family(host),
        "image": lambda: sources.image(host),
        "user_data": lambda: sources.user_data(host),
        "node_configs": lambda: sources.node_configs(host),
    }


def _complete(host: Host, result: Dict[str, Any], parts: Dict[str, Callable[[], Any]]) -> Dict[str, Any]:
    """The result with the parts, and the problems of all."""
    read = {name: _try(host, name, part) for name, part in parts.items()}
    # Several parts read the same files.
    info = {name: value for name, value in result["info"].items() if name != "problems"}
    return {**result, "info": info, **read, "problems": list(dict.fromkeys(host.problems))}


def _try(host: Host, name: str, read: Callable[[], Any]) -> Any:
    """The result of C(read). An unexpected error must not hide the other parts."""
    try:
        return read()
    except Exception as error:  # reported as a problem
        host.report(f"{name}: {type(error).__name__}: {error}")
        return None


def _check_join(host: Host) -> Tuple[Dict[str, Any], Evidence]:
    """One check of the join, and its evidence, which also contains the clock of the API server."""
    evidence: List[Evidence] = [Evidence()]
    collector = EvidenceCollector(host)

    def observe() -> Evidence:
        evidence.append(collector.collect())
        return evidence[-1]

    return wait.wait(wait.Options(collect=observe)).plain(), evidence[-1]

# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wait for this node to join its cluster, or find out why it does not. Reads only. Standard library, Python 3.7 and newer.

TLS and HTTP are imported only when kubelet runs and has a kubeconfig.
"""

from __future__ import annotations

import time
from typing import Callable, NamedTuple

from .._node.host import Host
from .._node.redaction import redact_string
from . import diagnosis
from .evidence import EvidenceCollector
from .model import Evidence, Finding, Identity, JoinResult, RejectedSettings

POLL_SECONDS = 0.5
"""Time between two checks."""

STABLE_FOR = 4.0
"""Seconds for which a final cause must stay the same before the wait ends with it. A wait may exceed its timeout by this much."""

PROGRAM_TIMEOUT = 5.0
"""Seconds that systemctl or containerd may take to answer."""

MAX_CHECKS = 3
"""How often `never_joined` checks before it gives up without a certain answer."""

WAIT_FOR = ("ready", "registered")

_CAUSES_IN_SETTINGS = ("invalid_config", "unknown_feature_gate", "unknown_flag", "invalid_flag", "kubelet_exits")
"""Causes that the rules of kubelet may explain further."""


_CAUSES_OF_ROLE = ("unauthorized",)
"""Causes that the access entries and aws-auth of the cluster may explain further."""


class Options(NamedTuple):
    """`wait_for`: one of `WAIT_FOR`. `timeout`: seconds; 0 checks once. `collect`: returns the Evidence; a parameter for tests."""

    wait_for: str = "ready"
    timeout: float = 0.0
    collect: Callable[[], Evidence] | None = None


def wait(options: Options) -> JoinResult:
    """Check until the node is in the wanted state, a final cause stayed the same for `STABLE_FOR` seconds, or the timeout is over.

    Unexpected errors become the cause `check_failed`.
    """
    collect = options.collect or _collect_from_machine()
    began = time.monotonic()
    final_since, final_cause = 0.0, None
    while True:
        evidence, finding = _check(collect)
        if finding is not None and not finding.final and options.wait_for == "registered" and diagnosis.is_registered(evidence):
            finding = None
        now = time.monotonic()
        cause = finding.cause if finding is not None and finding.final else None
        if cause is None or cause != final_cause:
            final_since, final_cause = now, cause
        # A problem of a node that is Ready is written in a file or in the log: it cannot be a passing state.
        is_certain = cause is not None and (diagnosis.is_ready(evidence) or now - final_since >= STABLE_FOR)
        # If final causes alternate, none of them stays for long. They must not keep the wait open.
        is_over = now - began >= options.timeout + (0 if cause is None else STABLE_FOR)
        if finding is None or is_certain or is_over or options.timeout <= 0:
            return _result(evidence, finding, now - began)
        time.sleep(POLL_SECONDS)


def never_joined(collect: Callable[[], Evidence] | None = None) -> bool:
    """Whether it is certain that the cluster has no Node of this machine: it does not know or admit it, or the cause is final.

    A cluster that does not answer proves nothing.
    """
    collect = collect or _collect_from_machine()
    # On a busy node one check may not get an answer in time.
    for _unused in range(MAX_CHECKS):
        evidence, finding = _check(collect)
        if evidence.node is not None:
            return False
        api = evidence.api
        if api is not None and api.status in (403, 404) and not evidence.is_node_name_certain:
            # The answer is about a guessed name.
            continue
        is_refused = api is not None and api.is_kubernetes and api.status in (401, 403, 404)
        if is_refused or (finding is not None and finding.final):
            return True
    return False


def _collect_from_machine() -> Callable[[], Evidence]:
    return EvidenceCollector(Host(PROGRAM_TIMEOUT)).collect


def _check(collect: Callable[[], Evidence]) -> tuple[Evidence, Finding | None]:
    """The evidence and the finding. An unexpected error on a node must not end the play with a traceback."""
    try:
        evidence = collect()
        return evidence, diagnosis.diagnose(evidence)
    except Exception as error:  # any error becomes a finding
        message = redact_string(f"{type(error).__name__}: {error}")[:300]
        fix = "report this error; until it is fixed, the kubelet journal may show why the node does not join: journalctl -u kubelet"
        return Evidence(), Finding("check_failed", f"the check of the node failed: {message}", fix)


def _result(evidence: Evidence, finding: Finding | None, seconds: float) -> JoinResult:
    return JoinResult(
        node=evidence.node_name,
        is_registered=diagnosis.is_registered(evidence),
        is_ready=diagnosis.is_ready(evidence),
        finding=finding,
        warnings=() if finding is not None else tuple(diagnosis.warnings(evidence)),
        waited=round(seconds, 3),
        rejected=_rejected_settings(evidence, finding),
        identity=_identity(evidence, finding),
    )


def _identity(evidence: Evidence, finding: Finding | None) -> Identity | None:
    """What the controller can look up in the cluster."""
    instance, api = evidence.instance, evidence.api
    if finding is None or finding.cause not in _CAUSES_OF_ROLE or instance is None or not instance.role or api is None:
        return None
    return Identity(instance.role, instance.account, instance.region, api.cluster_name, api.server)


def _rejected_settings(evidence: Evidence, finding: Finding | None) -> RejectedSettings | None:
    kubelet = evidence.kubelet
    if finding is None or finding.cause not in _CAUSES_IN_SETTINGS or kubelet is None or kubelet.exit is None:
        return None
    # Imported here, because most kubelets take their settings.
    from . import settings

    return settings.rejected(kubelet.exit.settings, kubelet.unit)

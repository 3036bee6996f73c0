# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Does this node join its cluster, and why not? Reads only. Standard library, Python 3.7 and newer.

Nothing here imports what speaks TLS or HTTP before kubelet runs and has a kubeconfig.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

from .._node.host import Machine
from .._node.redaction import in_word
from . import diagnosis, evidence
from .model import Finding

POLL = 0.5
"""Seconds between two looks."""

SETTLE = 4.0
"""Seconds for which a final finding has to stand before the wait ends with it. A wait may last so much longer than it was asked to."""

LONGEST = 5.0
"""Seconds that systemctl or containerd may take to answer."""

LOOKS = 3
"""How often somebody looks before it is not certain that a node never joined."""

WAIT_FOR = ("ready", "registered")


class Options(NamedTuple):
    """C(wait_for): one of C(WAIT_FOR). C(timeout): seconds; 0 looks once. C(look): called for what is seen, for tests."""

    wait_for: str = "ready"
    timeout: float = 0.0
    look: Any = None


def wait(options):
    """Look until the node is what is waited for, a final finding has stood for C(SETTLE) seconds, or the time is over.

    Returns C({"node", "registered", "ready", "cause", "message", "fix", "evidence", "final", "waited"}), all of them always. C(cause) is
    None exactly when the node is what was waited for and nothing final speaks against it; then C(message) and C(fix) are None, too.
    C(evidence) is a list of lines without secrets; without a cause it holds warnings, mostly none. C(waited): seconds. Never raises over
    what it finds.
    """
    look = options.look or evidence.Look(Machine(LONGEST))
    clock, began = time.monotonic, time.monotonic()
    since, before = None, None
    while True:
        seen, finding = _looked(look)
        finding = _against(options.wait_for, seen, finding)
        now = clock()
        if finding is None or not finding.final or finding.cause != before:
            since, before = now, finding.cause if finding is not None and finding.final else None
        # What stands against a node that is Ready is written down, and needs no time to settle.
        ready = before is not None and diagnosis.standing(seen)[1]
        stood = before is not None and now - since >= SETTLE
        # Final findings that take turns never stand for long, and must not hold the wait open.
        over = now - began >= options.timeout + (0 if before is None else SETTLE)
        if finding is None or ready or stood or over or options.timeout <= 0:
            return _result(seen, finding, now - began)
        time.sleep(POLL)


def never_joined(look=None):
    """Whether this node is no Node of its cluster now: the cluster does not know it or let it in, or it will not join without a change.

    A cluster that does not answer says nothing. C(look): a Look.
    """
    look = look or evidence.Look(Machine(LONGEST))
    # On a busy node one look may not get an answer in time.
    for _unused in range(LOOKS):
        seen, finding = _looked(look)
        if seen["node"] is not None:
            return False
        api = seen.get("api") or {}
        if (api.get("kubernetes") and api.get("status") in (401, 403, 404)) or (finding is not None and finding.final):
            return True
    return False


def _looked(look):
    """(what is seen, its Finding). One surprise on a node must not end the play with a traceback."""
    try:
        seen = look()
        return seen, diagnosis.diagnose(seen)
    except Exception as error:  # whatever it is, it is told
        said = in_word(f"{type(error).__name__}: {error}")[:300]
        fix = "please report it; kubelet's journal may say why the node does not join"
        return {"name": None, "kubelet": None, "node": None}, Finding("look_failed", f"the look at the node failed: {said}", fix)


def _against(wait_for, seen, finding):
    """The finding that counts for who waits for this."""
    if finding is not None and not finding.final and wait_for == "registered" and diagnosis.standing(seen)[0]:
        return None
    return finding


def _result(seen, finding, waited):
    registered, ready = diagnosis.standing(seen)
    return {
        "node": seen["name"],
        "registered": registered,
        "ready": ready,
        "cause": finding and finding.cause,
        "message": finding and finding.message,
        "fix": finding and finding.fix,
        "evidence": list(finding.evidence) if finding else diagnosis.warnings(seen),
        "final": finding is not None and finding.final,
        "waited": round(waited, 3),
    }

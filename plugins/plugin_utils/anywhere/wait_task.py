# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waiting for a cluster in short calls: what it waits for and the cause when they change, and an end when it cannot succeed any more."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .cause import Cause, find
from .cause_table import recognize

CALL_SECONDS = 30.0
"""Seconds that one call of the module waits. Short calls let the user see when the reason changes."""

BACK_OFF_SECONDS = 300.0
"""kubelet doubles the time between two pulls of an image, and between two starts of a container, up to 300 seconds. What has the same cause
for so long after it was seen first was tried at least five times."""

_CANNOT_START = {"CreateContainerConfigError", "CreateContainerError", "RunContainerError", "InvalidImageName", "ErrImageNeverPull"}
_DOES_NOT_HEAL = {
    "image_credentials",
    "image_missing",
    "image_certificate",
    "load_balancer_files",
    "kubeadm_ignored_checks",
    "cgroup_v1",
    "container_name",
    "docker_permission",
    "privileged",
    "kubeadm",
}
"""Known causes that only the user can end. A registry that cannot be reached is not here, because the network can come back."""

Call = Callable[..., Mapping[str, Any]]
"""Calls the module C(capi_wait) with more options."""


def wait(call: Call, say: Callable[[str], None], timeout: float) -> str | None:
    """Wait until the state is reached. Returns None, or why it was not."""
    passed = 0.0
    shown: list[str] = []
    same: tuple[str, ...] = ()
    since = 0.0
    while True:
        seconds = min(CALL_SECONDS, max(0.0, timeout - passed))
        answer = call(timeout=seconds, fail=False)
        if answer["reached"]:
            return None
        cause = find(answer.get("evidence") or ())
        waits, causes = list(answer["lines"]), [] if cause is None else [f"  {line}" for line in cause_lines(cause)]
        lines = [*(f"  waits for {line}" for line in waits), *causes]
        if lines != shown:
            shown = lines
            say("\n".join(lines))
        passed += seconds
        if (key := hopeless(cause)) != same:
            same, since = key, passed
        if same and cause is not None and passed - since >= BACK_OFF_SECONDS:
            head = f"cannot succeed, and was ended after {passed:g} of {timeout:g} seconds, {passed - since:g} of them without a change:"
            return "\n".join([head, *(f"  {line}" for line in cause.lines())])
        if passed >= timeout:
            return "\n".join([f"not done after {timeout:g} seconds. It waits for:", *(f"  - {line}" for line in waits), *causes])


def cause_lines(cause: Cause) -> list[str]:
    """The cause as lines below what the cluster waits for: the object is named there, unless it is another one."""
    first, *rest = cause.lines()
    return [f"first problem: {first}", *rest]


def hopeless(cause: Cause | None) -> tuple[str, ...]:
    """The object, condition and reason of a cause that waiting does not end. Empty if it may end on its own.

    Only what the object says of itself counts: logs and other objects can tell of a problem that was solved long ago.
    """
    if cause is None or cause.finding.is_waiting:
        return ()
    finding = cause.finding
    known = recognize([finding.text, *reversed(cause.events[-1:])])
    if finding.reason in _CANNOT_START or finding.condition == "Failed" or (known is not None and known.id in _DOES_NOT_HEAL):
        return (finding.kind, finding.namespace, finding.name, finding.condition, finding.reason)
    return ()

# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Applies a node group to one Bottlerocket node: renders, reads, compares, commits one transaction, and waits for kubelet.

Side effects happen only in the given C(Instance): it runs scripts in the control container, prints lines and reads the clock.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..artifacts.settings_tree import Leaves, Place
from ..errors import Problem, SpecError
from ..families import bottlerocket
from ..families.registry import resolve
from ..model.spec import NodeSpec
from . import apiclient, report, settings_changes
from .options import LINUX_ONLY, check_options
from .options import OPTIONS as COMMON
from .settings_changes import Change

OPTIONS: dict[str, Any] = {
    **COMMON,
    **LINUX_ONLY,
    "instance_id": {"type": "str", "required": True},
    "command_timeout": {"type": "int", "default": 120},
}
"""The argument spec of the action. The AWS options are added to it."""

_INSTANCE = re.compile(r"m?i-[0-9a-f]{8,17}")
_NAME: Place = ("kubernetes", "cluster-name")
_REGISTERED_AS: Place = ("kubernetes", "hostname-override")
_TRIES = 3
_WAIT = 20
_SETTLE = 5
"""Seconds: the longest wait for kubelet in one command, and the time in which kubelet may still run with its old settings."""

_NO_ABSENT = (
    "state: absent is not possible on Bottlerocket: its API can change a setting but cannot unset one, and nothing on the node "
    "records the previous values; replace the node, or set the settings to the values that they should have"
)
_NO_HEALTH = "kubelet does not answer at http://127.0.0.1:10248/healthz"
_LOGS = "open a session with Systems Manager and run: enter-admin-container, sudo sheltie, journalctl -u kubelet"


@dataclass(frozen=True)
class Answer:
    """The exit code and the output of a script."""

    code: int
    output: str
    errors: str


@dataclass(frozen=True)
class Instance:
    """The connection to the node.

    run: runs a script on the node. Its other arguments are the purpose, and whether it changes anything. transaction: a unique name.
    say: prints a line for the user. clock: monotonic seconds.
    """

    name: str
    run: Callable[[str, str, bool], Answer]
    transaction: str
    say: Callable[[str], None]
    clock: Callable[[], float]
    check_mode: bool = False
    diff: bool = False


class _Failed(Exception):
    """The run failed. The text is the message for the user, and C(result) is the rest of the result."""

    def __init__(self, message: str, **result: Any) -> None:
        super().__init__(message)
        self.result = result


def apply(instance: Instance, options: Mapping[str, Any], phases: Sequence[str]) -> dict[str, Any]:
    """The result of the task. options: the checked C(OPTIONS). Raises C(SpecError) before AWS is contacted."""
    check_options(options, "Bottlerocket", ("healthy",))
    spec, wanted = _wanted(options["cluster"], options["node_group"])
    if not phases:
        return {"changed": False, "skipped": True, "skipped_reason": "the tags of this run leave no phase"}
    try:
        if not _INSTANCE.fullmatch(options["instance_id"]):
            raise _Failed(
                f"instance_id {options['instance_id']!r} is not the ID of an instance, such as i-0123456789abcdef0; in the roles, set "
                "eks_node_bottlerocket_instance_id, or take the hosts from the inventory plugin amazon.aws.aws_ec2"
            )
        if options["state"] == "absent":
            raise _Failed(_NO_ABSENT)
        return _apply(instance, spec, wanted, options, phases)
    except _Failed as failed:
        return {"changed": False, **failed.result, "failed": True, "msg": str(failed)}


def _wanted(cluster: Any, group: Any) -> tuple[NodeSpec, Leaves]:
    spec, _unused = resolve(cluster, group)
    if spec.family != "bottlerocket":
        fix = "use apply (role eks_node) for Linux, eks_node_windows for Windows"
        raise SpecError(
            [Problem("live.wrong_family", "node_group.family", "has no settings", value=spec.family, allowed="bottlerocket", fix=fix)]
        )
    return spec, bottlerocket.wanted_settings(spec)


def _apply(instance: Instance, spec: NodeSpec, wanted: Leaves, options: Mapping[str, Any], phases: Sequence[str]) -> dict[str, Any]:
    secret = settings_changes.withheld(wanted)
    sent = {place: setting for place, setting in wanted.items() if place not in secret}
    state = _read(instance, sent)
    found = settings_changes.changes(sent, state.settings)
    _preflight(state, spec, options["take_over"])
    registration = _registration(state, spec, found, options["reconcile"])
    body = settings_changes.body(found)
    _check_size(body, found)
    configures = "configure" in phases
    applies = "start" in phases and options["restart"] != "never"
    healthy, version = state.healthy, state.version
    warnings = [*report.warnings(spec.warnings, spec.unchecked), *_secrets_left(secret)]
    if found and configures and not instance.check_mode:
        state, stored_differently = _change(instance, sent, found, body, applies, version)
        warnings += stored_differently
    elif found and "validate" in phases and not instance.check_mode:
        _check_succeeded(instance.run("check the settings", apiclient.check(body, instance.transaction), False), version)
    result = _result_before_verification(instance, state, found if configures else (), applies, warnings)
    patches, taints = settings_changes.node_patches(registration if configures else (), settings_changes.at(state.settings, _REGISTERED_AS))
    result |= {
        "phases": list(phases),
        "unchecked": [problem.plain() for problem in spec.unchecked],
        "node_patches": patches,
        "node_taints": taints,
    }
    if "verify" not in phases or instance.check_mode:
        return result
    restarted = bool(found) and configures and applies
    return result | _wait_for_kubelet(instance, None if restarted else healthy, restarted, options["wait_timeout"], result)


def _read(instance: Instance, places: Leaves) -> apiclient.State:
    """Read the output of apiclient page by page. If settings change between two pages, start again."""
    for _attempt in range(_TRIES):
        pages: list[apiclient.Page] = []
        first = 0
        while not pages or (first < pages[0].size and pages[-1].text):
            answer = instance.run("read the settings", apiclient.read(places, first), False)
            _check_succeeded(answer, "")
            pages.append(_page(answer))
            first += len(pages[-1].text)
        if len({one.digest for one in pages}) == 1:
            return _state(pages)
    raise _Failed("the settings of the node change faster than they can be read; is another program changing them? Run again")


def _page(answer: Answer) -> apiclient.Page:
    try:
        return apiclient.page(answer.output)
    except ValueError as error:
        raise _Failed(_unreadable(error)) from None


def _state(pages: list[apiclient.Page]) -> apiclient.State:
    try:
        return apiclient.state(pages)
    except ValueError as error:
        raise _Failed(_unreadable(error)) from None


def _unreadable(error: ValueError) -> str:
    return (
        f"the output from the node cannot be read: {error}. Either Systems Manager cut it, or a program in the control "
        "container printed additional text; look at the command in the history of Systems Manager"
    )


def _check_succeeded(answer: Answer, version: str) -> None:
    """Raise C(_Failed) unless the script succeeded."""
    message = " ".join(answer.errors.split())[-1000:]
    if answer.code == apiclient.NO_APICLIENT:
        raise _Failed(
            "the node has no apiclient where Systems Manager runs commands, so it is not Bottlerocket, or its control container is a "
            "special one; check instance_id, and use the role of the family that it runs"
        )
    if answer.code == apiclient.NOT_READ:
        raise _Failed(f"apiclient cannot read the settings: {message or 'without a message'}; is Bottlerocket's apiserver running?")
    if answer.code == apiclient.REFUSED:
        raise _Failed(
            f"Bottlerocket {version} rejects these settings, and nothing was changed: {message}. "
            "An unknown setting is probably newer than this release: remove it, or update the node"
        )
    if answer.code:
        raise _Failed(f"the command in the control container ended with {answer.code}: {message or 'without a message'}")


def _preflight(state: apiclient.State, spec: NodeSpec, take_over: bool) -> None:
    if "k8s" not in state.variant.split("-"):
        raise _Failed(f"the node runs Bottlerocket {state.variant or 'of an unknown variant'}, which has no kubelet; check instance_id")
    name, live = spec.cluster.name, settings_changes.at(state.settings, _NAME)
    if live is settings_changes.ABSENT or name is None or live == name:
        return
    if spec.managed:
        raise _Failed(f'the node belongs to the cluster "{live}", not to "{name}", and EKS sets the cluster of a managed node')
    if not take_over:
        raise _Failed(f'the node belongs to the cluster "{live}", not to "{name}"; check instance_id, or set take_over: true to move it')


def _registration(state: apiclient.State, spec: NodeSpec, found: Sequence[Change], reconcile: bool) -> tuple[Change, ...]:
    """The labels and taints that kubelet does not send any more. Raises C(_Failed) without the option C(reconcile)."""
    live = settings_changes.at(state.settings, _NAME)
    if live is settings_changes.ABSENT or (spec.cluster.name is not None and live != spec.cluster.name):
        return ()  # It has yet to register there.
    registration_changes = settings_changes.of_registration(found)
    if registration_changes and not reconcile:
        raise _Failed(
            f"{', '.join(one.path for one in registration_changes)}: kubelet sets labels and taints only when it registers, and this node "
            "is registered. Replace the node, or set reconcile: true, and change the Node object as the result says; nothing was changed"
        )
    return registration_changes


def _check_size(body: Mapping[str, Any], found: Sequence[Change]) -> None:
    size = len(apiclient.encoded(body))
    if size > apiclient.BODY_LIMIT:
        longest = max(found, key=lambda one: len(str(one.after)))
        raise _Failed(
            f"the changes have {size:,} bytes, but a transaction over Systems Manager is limited to "
            f"{apiclient.BODY_LIMIT:,}; the longest is {longest.path}; put it into the user data of a new node"
        )


def _secrets_left(secret: Sequence[Place]) -> list[str]:
    return [
        f"{settings_changes.path_of(place)} may be a secret, and Systems Manager stores its commands: the setting is neither "
        "read nor set here; to change it, replace the node and put the value into the user data"
        for place in secret
    ]


def _change(
    instance: Instance, sent: Leaves, found: Sequence[Change], body: Mapping[str, Any], applies: bool, version: str
) -> tuple[apiclient.State, list[str]]:
    """Commit the changes C(found) in one transaction. Returns the new state of the node, and the settings that still differ."""
    answer = instance.run("change the settings", apiclient.change(sent, body, instance.transaction, applies), True)
    if answer.code == apiclient.NOT_COMMITTED:
        raise _not_committed(instance, sent, found, " ".join(answer.errors.split())[-1000:])
    if answer.code != apiclient.NOT_READ_AGAIN:
        _check_succeeded(answer, version)
    try:
        first = _page(answer)
        state = _state([first]) if len(first.text) == first.size else _read(instance, sent)
    except _Failed as failed:
        raise _Failed(f"the settings were set, but could not be read again from the node: {failed}", changed=True) from None
    still_different = settings_changes.changes({change.place: sent[change.place] for change in found}, state.settings)
    return state, [
        f"{one.path} is stored by Bottlerocket in another form, so every run sets it again: write it in the form that the node has"
        for one in still_different
    ]


def _not_committed(instance: Instance, sent: Leaves, found: Sequence[Change], message: str) -> _Failed:
    """The failure of a commit, explained by the current settings of the node."""
    wanted = {change.place: sent[change.place] for change in found}
    still = settings_changes.changes(wanted, _read(instance, sent).settings)
    if len(still) == len(found):
        return _Failed(f"Bottlerocket did not commit the transaction, and the settings are the old ones: {message}")
    if still:
        return _Failed(
            f"Bottlerocket committed only a part, and still lacks {', '.join(one.path for one in still)}: {message}. Run again",
            changed=True,
        )
    return _Failed(
        f"the settings are stored, but Bottlerocket could not apply them: {message}. They take effect at its next boot", changed=True
    )


def _result_before_verification(
    instance: Instance, state: apiclient.State, found: Sequence[Change], applies: bool, warnings: list[str]
) -> dict[str, Any]:
    """The result so far, and the lines for the user."""
    paths = [change.path for change in found]
    boot = list(settings_changes.at_boot(found))
    result: dict[str, Any] = {
        "changed": bool(found),
        "actions": [*(f"set {path}" for path in paths), *(["apply settings"] if found and applies else [])],
        "changes": settings_changes.rows(found),
        "needs_reboot": boot if applies else paths,
        "warnings": warnings,
        "os": {"variant": state.variant, "version": state.version},
        "healthy": None,
        "missing": [],
    }
    if instance.diff:
        result["diff"] = settings_changes.diff(found, instance.name)
    if found:
        word = "would set" if instance.check_mode else "set"
        instance.say(f"{instance.name}: configure: {word} {', '.join(paths)} in one transaction")
    for path in result["needs_reboot"] if found else ():
        instance.say(f"{instance.name}: start: {path} takes effect at the next boot; this run does not reboot")
    return result


def _wait_for_kubelet(instance: Instance, healthy: bool | None, restarted: bool, timeout: int, result: Mapping[str, Any]) -> dict[str, Any]:
    """Poll until kubelet is healthy or the wait ends. healthy: the known state; None after a restart, or if it cannot be checked."""
    started = instance.clock()
    settle, asked = (_SETTLE if restarted else 0), not restarted
    while not healthy:
        passed = instance.clock() - started
        if asked and healthy is None:
            warning = "the control container has no curl, so the health of kubelet is unknown"
            return {"healthy": None, "warnings": [*result["warnings"], warning]}
        if asked and passed >= timeout:
            return {"failed": True, "healthy": False, "missing": [_NO_HEALTH], "msg": report.unhealthy([_NO_HEALTH], timeout, _LOGS)}
        instance.say(f"{instance.name}: {report.progress(_NO_HEALTH if asked else 'kubelet restarts', passed, timeout)}")
        wait = max(1, min(_WAIT, round(timeout - passed)))
        answer = instance.run("wait for kubelet", apiclient.wait_healthy(wait, settle), False)
        _check_succeeded(answer, "")
        healthy, settle, asked = _page(answer).healthy, 0, True
    if instance.clock() - started >= 1:
        instance.say(f"{instance.name}: {report.healthy(instance.clock() - started)}")
    return {"healthy": True, "missing": []}

# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The real world of an upgrade: the API server and the Auto Scaling group, behind functions that the caller passes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, suppress
from typing import Any, Protocol

from . import lease, marks
from .drainer import Drainer
from .loop import LeaseLost, RequestRefused, TemporaryError
from .model import (
    Action,
    DrainState,
    Finish,
    Group,
    Node,
    Observed,
    Protect,
    Release,
    Reserve,
    ResumeProcesses,
    Run,
    SetGroup,
    SetMark,
    Suspend,
    Terminate,
    WriteCapacity,
    WriteRun,
)  # fmt: skip
from .observe import read_group, read_node
from .requests import patch_of

NODES = "/api/v1/nodes"
_FEW = 20
"""Nodes that are read one by one. More are read as a list."""


class Api(Protocol):
    """The API server. Its methods raise the errors of C(loop)."""

    def get(self, path: str) -> dict[str, Any] | None:
        """An object, None if it does not exist."""

    def list(self, path: str, **query: Any) -> Iterable[dict[str, Any]]:
        """The items of a list."""

    def patch(self, path: str, body: Mapping[str, Any]) -> None:
        """Change an object by a merge patch."""

    def create(self, path: str, body: Mapping[str, Any]) -> dict[str, Any] | None:
        """Create an object. None if others changed it meanwhile."""

    def replace(self, path: str, body: Mapping[str, Any]) -> dict[str, Any] | None:
        """Replace an object. None if others changed it meanwhile."""

    def delete(self, path: str, resource_version: str) -> None:
        """Delete an object, unless others changed it meanwhile."""

    def explained(self) -> AbstractContextManager[None]:
        """Convert errors of the client to those of C(loop)."""


class GroupApi(Protocol):
    """The Auto Scaling group. Its methods raise the errors of C(loop)."""

    def describe(self) -> dict[str, Any]:
        """The group."""

    def template(self, group: Mapping[str, Any]) -> Mapping[str, Any]:
        """Its launch template."""

    def numbers(self, group: Mapping[str, Any]) -> dict[str, str]:
        """The numbers that C($Latest) and C($Default) stand for."""

    def change(self, group: Mapping[str, Any], desired: int | None, max_size: int | None, version: str) -> None:
        """Change sizes and version."""

    def suspend(self, processes: Iterable[str]) -> None:
        """Suspend processes."""

    def resume(self, processes: Iterable[str]) -> None:
        """Resume processes."""

    def terminate(self, instance: str, decrement: bool) -> None:
        """Terminate an instance."""

    def write_tag(self, key: str, value: str) -> None:
        """Write a tag."""

    def remove_tag(self, key: str) -> None:
        """Remove a tag."""

    def failures(self) -> list[str]:
        """Why the group did not launch or terminate instances, newest first."""


class Lease:
    """The lease of this process. gone: says of a holder whether it was a process of this machine that does not exist any more."""

    def __init__(
        self, api: Api, name: str, holder: str, now: Callable[[], float], *, gone: Callable[[str], bool], duration: int = lease.DURATION
    ) -> None:
        self._api, self._name, self._holder, self._now, self._gone, self._duration = api, name, holder, now, gone, duration
        self._path = f"{lease.PATH}/{name}"
        self._renewed = 0.0

    def acquire(self, sleep: Callable[[float], None], say: Callable[[str], None]) -> None:
        """Take the lease. A lease that another machine does not renew is watched until it expires. Raises C(LeaseLost)."""
        watched: lease.Watched | None = None
        while not self._try(watched):
            found = self._api.get(self._path)
            if found is None:
                continue
            version = lease.version_of(found)
            if watched is not None and watched.resource_version != version:
                raise LeaseLost(lease.held(self._name, found))
            if watched is None:
                watched = lease.Watched(version, self._now())
                say(f"the Lease {self._name} belongs to {lease.holder_of(found)}: waiting whether that still runs")
            sleep(2.0)

    def read_run(self) -> Run | None:
        """The run that is recorded in the lease."""
        found = self._api.get(self._path)
        return None if found is None else marks.read_run((found["metadata"].get("annotations") or {}).get(marks.NODE))

    def write_run(self, run: Run) -> None:
        """Record a run in the lease."""
        self._api.patch(self._path, {"metadata": {"annotations": {marks.NODE: marks.write_run(run)}}})

    def hold(self) -> None:
        """Renew the lease if it is time. Raises C(LeaseLost) if another process has it."""
        if self._now() - self._renewed >= lease.RENEW_SECONDS and not self._try(None):
            raise LeaseLost(f"another run has taken over the Lease {self._name}; this run ends")

    def release_quietly(self, *, keep: bool = False) -> None:
        """Give the lease up. keep: its object stays, with the run that it records. If that fails, it expires."""
        with suppress(TemporaryError, RequestRefused):
            found = self._api.get(self._path)
            if found is None or lease.holder_of(found) != self._holder:
                return
            if keep:
                self._api.patch(self._path, {"spec": {"holderIdentity": ""}})
            else:
                self._api.delete(self._path, lease.version_of(found))

    def _try(self, watched: lease.Watched | None) -> bool:
        now = self._now()
        found = self._api.get(self._path)
        if found is None:
            written = self._api.create(lease.PATH, lease.taken(self._name, self._holder, now, None, self._duration))
        else:
            holder = lease.holder_of(found)
            if holder not in ("", self._holder) and not self._gone(holder) and not lease.is_expired(found, watched, now):
                return False
            written = self._api.replace(self._path, lease.taken(self._name, self._holder, now, found, self._duration))
        if written is not None:
            self._renewed = now
        return written is not None


class GroupWorld:
    """The world of the replacement of an Auto Scaling group."""

    def __init__(
        self, api: Api, group: GroupApi, held: Lease, drainer: Drainer, *, clock: Callable[[], float], sleep: Callable[[float], None]
    ) -> None:
        self._api, self._group, self._lease, self._drainer = api, group, held, drainer
        self.clock, self.sleep = clock, sleep
        self.changes = 0
        self._raw: dict[str, Any] = {}
        self._versions: dict[str, str] = {}
        self._nodes: dict[str, Node] = {}

    def hold(self) -> None:
        """Renew the lease."""
        self._lease.hold()

    def observe(self) -> Observed:
        """The group, and the nodes of its instances."""
        self._raw = self._group.describe()
        group = read_group(self._raw, self._group.template(self._raw), self._group.numbers(self._raw))
        raws = list(self._read_nodes(group))
        found = {node.name: node for node in map(read_node, raws)}
        ids = {instance.id for instance in group.instances}
        self._nodes = {name: node for name, node in found.items() if node.instance in ids}
        self._versions = {raw["metadata"]["name"]: str(raw["metadata"].get("resourceVersion") or "") for raw in raws}
        return Observed(self.clock(), tuple(self._nodes.values()), group)

    @property
    def subnets(self) -> list[str]:
        """The IDs of the subnets in which the group launches instances."""
        return [one for one in str(self._raw.get("VPCZoneIdentifier") or "").split(",") if one]

    def _read_nodes(self, group: Group) -> Iterable[dict[str, Any]]:
        """The nodes of a small group one by one, once they are known: others may have thousands."""
        known = {node.instance for node in self._nodes.values()}
        if (
            not self._nodes
            or len(self._nodes) > _FEW
            or any(instance.id not in known for instance in group.instances if instance.is_active)
        ):
            return self._api.list(NODES)
        answers = (self._api.get(f"{NODES}/{name}") for name in self._nodes)
        return [answer for answer in answers if answer is not None]

    def drain(self, node: str) -> DrainState:
        """One turn of evictions."""
        mark = self._nodes[node].mark if node in self._nodes else None
        if mark is None:
            return DrainState()
        with self._api.explained():
            return self._drainer.turn(node, mark)

    def failures(self) -> list[str]:
        """Why the group did not launch or terminate instances, newest first."""
        return self._group.failures()

    def perform(self, action: Action) -> None:
        """Carry out one step."""
        self.changes += 1
        if isinstance(action, (Reserve, SetMark, Release, Protect)):
            self._api.patch(f"{NODES}/{action.node}", patch_of(action, self._versions.get(action.node, "")))
        elif isinstance(action, WriteRun):
            self._group.write_tag(marks.NODE, marks.write_run(action.run))
        elif isinstance(action, WriteCapacity):
            run = marks.read_run(self._tag(marks.NODE))
            self._group.write_tag(marks.CAPACITY, marks.write_capacity("" if run is None else run.id, action.capacity))
        elif isinstance(action, Finish):
            # That of the run is removed last: without it, the other one has no meaning.
            self._group.remove_tag(marks.CAPACITY)
            self._group.remove_tag(marks.NODE)
        else:
            self._change(action)

    def _change(self, action: Action) -> None:
        if isinstance(action, SetGroup):
            self._group.change(self._raw, action.desired, action.max_size, action.version)
        elif isinstance(action, Suspend):
            self._group.suspend(action.processes)
        elif isinstance(action, ResumeProcesses):
            self._group.resume(action.processes)
        elif isinstance(action, Terminate):
            self._group.terminate(action.instance, action.decrement)
        else:
            raise RequestRefused(f"{type(action).__name__} is not a request")

    def _tag(self, key: str) -> str | None:
        return next((tag.get("Value") or "" for tag in self._raw.get("Tags", []) if tag["Key"] == key), None)


class NodesWorld:
    """The world of an upgrade in place: nodes by their names."""

    def __init__(
        self,
        api: Api,
        names: Iterable[str],
        held: Lease,
        drainer: Drainer,
        run: Run | None,
        *,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
    ) -> None:
        self._api, self._names, self._lease, self._drainer, self._run = api, tuple(names), held, drainer, run
        self.clock, self.sleep = clock, sleep
        self.changes = 0
        self.raws: list[dict[str, Any]] = []
        self._nodes: dict[str, Node] = {}

    def hold(self) -> None:
        """Renew the lease."""
        self._lease.hold()

    def observe(self) -> Observed:
        """The nodes that exist."""
        if len(self._names) > _FEW:
            wanted = set(self._names)
            self.raws = [raw for raw in self._api.list(NODES) if raw["metadata"]["name"] in wanted]
        else:
            answers = [self._api.get(f"{NODES}/{name}") for name in self._names]
            self.raws = [answer for answer in answers if answer is not None]
        self._nodes = {raw["metadata"]["name"]: read_node(raw) for raw in self.raws}
        return Observed(self.clock(), tuple(self._nodes.values()), None, self._run)

    def drain(self, node: str) -> DrainState:
        """One turn of evictions."""
        mark = self._nodes[node].mark if node in self._nodes else None
        if mark is None:
            return DrainState()
        with self._api.explained():
            return self._drainer.turn(node, mark)

    def failures(self) -> list[str]:
        """No group launches these nodes."""
        return []

    def perform(self, action: Action) -> None:
        """Carry out one step."""
        if not isinstance(action, (Reserve, SetMark, Release, Protect)):
            raise RequestRefused(f"{type(action).__name__} is not a request")
        self.changes += 1
        raw = next((raw for raw in self.raws if raw["metadata"]["name"] == action.node), None)
        version = "" if raw is None else str(raw["metadata"].get("resourceVersion") or "")
        self._api.patch(f"{NODES}/{action.node}", patch_of(action, version))

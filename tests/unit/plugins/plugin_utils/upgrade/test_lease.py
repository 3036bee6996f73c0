# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lease keeps a second run out, and is taken over when its holder has ended."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.upgrade import lease
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.upgrade.loop import LeaseLost
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.upgrade.world import Lease

NAME = "nodebootstrap-upgrade-x"
PATH = f"{lease.PATH}/{NAME}"


class Api:
    """Objects with resource versions. C(renewing): the holder renews before each look."""

    def __init__(self) -> None:
        self.objects: dict[str, dict[str, Any]] = {}
        self.version = 0
        self.renewing = False

    def get(self, path: str) -> dict[str, Any] | None:
        if self.renewing and path in self.objects:
            self._store(path, self.objects[path])
        return self.objects.get(path)

    def _store(self, path: str, body: Any) -> dict[str, Any]:
        self.version += 1
        self.objects[path] = {**body, "metadata": {**body["metadata"], "resourceVersion": str(self.version)}}
        return self.objects[path]

    def create(self, path: str, body: Any) -> dict[str, Any] | None:
        name = f"{path}/{body['metadata']['name']}"
        return None if name in self.objects else self._store(name, body)

    def replace(self, path: str, body: Any) -> dict[str, Any] | None:
        same = body["metadata"]["resourceVersion"] == self.objects[path]["metadata"]["resourceVersion"]
        return self._store(path, body) if same else None

    def delete(self, path: str, resource_version: str) -> None:
        if self.objects[path]["metadata"]["resourceVersion"] == resource_version:
            del self.objects[path]

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(name)


class Clock:
    def __init__(self) -> None:
        self.time = 1_000_000.0

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.time += seconds


def held(api: Any, clock: Clock, holder: str, gone: frozenset[str] = frozenset()) -> Lease:
    return Lease(api, NAME, holder, clock.now, gone=lambda one: one in gone)


def test_a_free_lease_is_taken_and_released() -> None:
    api, clock = Api(), Clock()
    first = held(api, clock, "a")
    first.acquire(clock.sleep, print)
    assert lease.holder_of(api.objects[PATH]) == "a"
    first.release_quietly()
    assert api.objects == {}


def test_a_lease_that_is_renewed_keeps_others_out() -> None:
    api, clock = Api(), Clock()
    held(api, clock, "a").acquire(clock.sleep, print)
    api.renewing = True
    with pytest.raises(LeaseLost):
        held(api, clock, "b").acquire(clock.sleep, print)
    assert lease.holder_of(api.objects[PATH]) == "a"


def test_a_lease_that_is_not_renewed_is_taken_over_after_its_duration() -> None:
    api, clock = Api(), Clock()
    first = held(api, clock, "a")
    first.acquire(clock.sleep, print)
    began = clock.time
    held(api, clock, "b").acquire(clock.sleep, print)
    assert clock.time - began > lease.DURATION
    assert lease.holder_of(api.objects[PATH]) == "b"
    with pytest.raises(LeaseLost):
        first.hold()


def test_the_lease_of_a_process_that_has_ended_is_taken_over_at_once() -> None:
    api, clock = Api(), Clock()
    held(api, clock, "a").acquire(clock.sleep, print)
    held(api, clock, "b", frozenset({"a"})).acquire(clock.sleep, print)
    assert (lease.holder_of(api.objects[PATH]), clock.time) == ("b", 1_000_000.0)
    assert api.objects[PATH]["spec"]["leaseTransitions"] == 1


def test_the_holder_renews_in_time() -> None:
    api, clock = Api(), Clock()
    first = held(api, clock, "a")
    first.acquire(clock.sleep, print)
    before = api.objects[PATH]["spec"]["renewTime"]
    first.hold()
    assert api.objects[PATH]["spec"]["renewTime"] == before
    clock.sleep(lease.RENEW_SECONDS)
    first.hold()
    assert api.objects[PATH]["spec"]["renewTime"] > before


@pytest.mark.parametrize("group", ["workers", "Workers_1", "a" * 300, "ä", ""])
def test_names_are_names_of_objects(group: str) -> None:
    name = lease.name_of("auto-scaling-group", group)
    assert len(name) <= 63
    assert all(char.isascii() and (char.islower() or char.isdigit() or char == "-") for char in name)
    assert name != lease.name_of("in-place", group)

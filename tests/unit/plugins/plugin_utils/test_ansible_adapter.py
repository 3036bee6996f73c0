# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible's values become plain data, and the library's errors become Ansible's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from ansible.errors import AnsibleFilterError
from ansible.utils.display import Display

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import ansible_adapter
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problem, SpecError


class Text(str):
    """As Ansible's tagged text."""

    def __str__(self) -> str:
        return "never asked"


class Number(int):
    pass


class Lazy(Mapping[str, Any]):
    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def __iter__(self) -> Any:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


class LazyList(Sequence[Any]):
    def __init__(self, *values: Any) -> None:
        self._values = values

    def __getitem__(self, index: Any) -> Any:
        return self._values[index]

    def __len__(self) -> int:
        return len(self._values)


class Vaulted(LazyList):
    """As ansible-core 2.16 to 2.18 hand over a vaulted value: a sequence of characters."""

    __ENCRYPTED__ = True

    def __str__(self) -> str:
        return "".join(self)


def test_plain_data() -> None:
    found = ansible_adapter.to_plain(Lazy({Text("a"): LazyList(Text("x"), Number(3), True, None, 1.5)}))
    assert found == {"a": ["x", 3, True, None, 1.5]}
    assert [type(item) for item in found["a"]] == [str, int, bool, type(None), float]
    assert next(iter(found)).__class__ is str


def test_a_key_that_is_no_text_stays_as_it_is() -> None:
    assert ansible_adapter.to_plain({("a", 1): 2, None: 3, Text("b"): 4}) == {("a", 1): 2, None: 3, "b": 4}


def test_what_is_no_data_stays_for_the_library_to_refuse() -> None:
    thing = object()
    assert ansible_adapter.to_plain([thing, b"x"]) == [thing, b"x"]


def test_a_vaulted_value_is_its_text() -> None:
    assert ansible_adapter.to_plain({"a": Vaulted(*"hello")}) == {"a": "hello"}


def test_errors() -> None:
    @ansible_adapter.as_filter
    def named(*_unused: Any) -> None:
        raise SpecError([Problem("input.conflict", "b", "is wrong"), Problem("input.conflict", "a", "is wrong too")])

    with pytest.raises(AnsibleFilterError) as caught:
        named({})
    first, second, third = str(caught.value).split("\n")
    assert first.endswith("named: 2 problems")
    assert (second.partition(";")[0], third.partition(";")[0]) == ("a: is wrong too", "b: is wrong")


def test_an_error_names_the_group() -> None:
    @ansible_adapter.as_filter
    def named(_node_group: Any) -> None:
        raise SpecError([Problem("input.conflict", "node_group.a", "is wrong")])

    with pytest.raises(AnsibleFilterError) as caught:
        named({"name": "web"})
    first, second = str(caught.value).split("\n")
    assert first.endswith(" web") and second.startswith("node_group.a: ")


@pytest.mark.parametrize(
    ("core", "no_log", "paths", "is_printed"),
    [
        ("2.16.14", False, "ab", True),
        ("2.18.0", False, "ab", True),
        ("2.19.0rc1", False, "ab", False),
        ("2.21.1", False, "ab", False),
        ("2.16.14", True, "ab", False),
        ("2.16.14", False, "", False),
    ],
)
def test_older_versions_of_ansible_get_the_lines_of_a_failure(
    monkeypatch: pytest.MonkeyPatch, core: str, no_log: bool, paths: str, is_printed: bool
) -> None:
    def work() -> dict[str, Any]:
        if not paths:
            return {"changed": True, "msg": "first\nsecond"}
        raise SpecError([Problem("input.conflict", path, "is wrong") for path in paths])

    printed: list[str] = []
    monkeypatch.setattr(ansible_adapter, "__version__", core)
    monkeypatch.setattr(Display, "display", lambda _self, text, **_unused: printed.append(text))
    action = SimpleNamespace(_task=SimpleNamespace(action="nodebootstrap.eks.apply", no_log=no_log))
    result = ansible_adapter.run_action(action, {"inventory_hostname": "one"}, work)
    assert [(text.splitlines()[0], len(text.splitlines())) for text in printed] == (
        [("[ERROR]: one: apply: 2 problems", 3)] if is_printed else []
    )
    assert [problem["path"] for problem in result.get("problems", [])] == list(paths)

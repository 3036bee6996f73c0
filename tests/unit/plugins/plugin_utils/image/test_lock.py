# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lock of an image: what is written is read, in any order the same bytes, and every problem at once."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problems, SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.image import lock as locks
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.image.lock import Download, Lock, Package, System
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.image.inputs import A, B, document, locked

_NAMES = st.from_regex(r"[0-9A-Za-z][0-9A-Za-z._+~%^:@=-]{0,30}", fullmatch=True)
_WORDS = st.from_regex(r"[!-~]{1,20}", fullmatch=True)
_DIGESTS = st.from_regex("[0-9a-f]{64}", fullmatch=True)
_URLS = st.from_regex(r"(https?://[a-z.:0-9]{1,20}|file://)/[a-z0-9./%~+-]{1,30}", fullmatch=True)
_SIZES = st.integers(0, 1 << 40)
_FILES = {"name": _WORDS, "file": _NAMES, "url": _URLS, "sha256": _DIGESTS, "size": _SIZES}
_LOCKS = st.builds(
    Lock,
    st.builds(System, _WORDS, _WORDS, _WORDS),
    st.lists(_WORDS, max_size=4).map(tuple),
    st.lists(st.builds(Package, version=_WORDS, architecture=_WORDS, **_FILES), max_size=4, unique_by=lambda one: one.file).map(tuple),
    st.lists(st.builds(Download, **_FILES), max_size=4, unique_by=lambda one: one.file).map(tuple),
)


def problems(content: Any) -> list[tuple[str, str]]:
    """(rule, path) of the problems of a lock."""
    with pytest.raises(SpecError) as caught:
        locks.load(content if isinstance(content, str) else json.dumps(content))
    return [(problem.rule, problem.path) for problem in caught.value.problems]


@given(_LOCKS)
def test_a_lock_is_read_as_it_was_written(lock: Lock) -> None:
    text = locks.dump(lock)
    found = locks.load(text)
    assert locks.dump(found) == text
    assert set(found.packages) == set(lock.packages)
    assert set(found.downloads) == set(lock.downloads)
    assert found.requested == tuple(sorted(set(lock.requested)))


def test_the_same_inputs_give_the_same_bytes() -> None:
    shuffled = list(locked().packages)
    random.Random(1).shuffle(shuffled)
    text = locks.dump(replace(locked(), packages=tuple(shuffled)))
    assert text == locks.dump(locked())
    assert text.endswith("}\n")
    assert list(json.loads(text)) == sorted(json.loads(text))


def test_the_files_of_a_lock_have_places() -> None:
    assert [(one.path, one.place) for one in locks.inputs(locked())] == [
        ("lock.packages[0]", f"packages/{A}"),
        ("lock.packages[1]", f"packages/{B}"),
        ("lock.downloads[0]", "downloads/kubelet"),
    ]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", [("lock.unreadable", "lock")]),
        ("[]", [("lock.unreadable", "lock")]),
        ('{"format": 1, "format": 1}', [("lock.unreadable", "lock")]),
        (document(format=2), [("lock.unreadable", "lock.format")]),
        (document(system=None), [("input.missing_field", "lock.system")]),
        (document(extra=1), [("input.unknown_field", "lock.extra")]),
        (document(requested="jq"), [("input.wrong_type", "lock.requested")]),
    ],
    ids=["empty", "list", "key twice", "newer format", "no system", "unknown field", "no list"],
)
def test_what_is_not_a_lock_is_refused(content: Any, expected: list[tuple[str, str]]) -> None:
    assert problems(content) == expected


@pytest.mark.parametrize("file", ["../kubelet", "a/b", ".hidden", "", "a\nb", "-rf", "x" * 201])
def test_a_file_stays_in_its_directory(file: str) -> None:
    given = document()
    given["downloads"][0]["file"] = file
    assert [path for _rule, path in problems(given)] == ["lock.downloads[0].file"]


@pytest.mark.parametrize("url", ["ftp://a/b", "http://user:secret@a/b", "file://host/b", "/b", "https://a", "https://a/b c"])
def test_a_url_of_another_form_is_refused_and_not_repeated(url: str) -> None:
    given = document()
    given["downloads"][0]["url"] = url
    with pytest.raises(SpecError) as caught:
        locks.of_document(given)
    assert [problem.path for problem in caught.value.problems] == ["lock.downloads[0].url"]
    assert url not in str(caught.value)


def test_every_problem_is_reported_at_once() -> None:
    given = document()
    given["packages"][0] |= {"sha256": "x", "size": -1}
    given["downloads"].append(dict(given["downloads"][0]))
    assert problems(given) == [
        ("lock.duplicate_file", "lock.downloads[1].file"),
        ("input.invalid_text", "lock.packages[0].sha256"),
        ("input.out_of_range", "lock.packages[0].size"),
    ]


@given(
    st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))
)
def test_any_document_is_a_lock_or_refused(given_document: Any) -> None:
    with pytest.raises(SpecError):
        locks.of_document(given_document)


def compared(**plan: Any) -> list[tuple[str, str]]:
    found = Problems()
    locks.check_plan(locked(), {"packages": ["jq"], "downloads": [{"file": "kubelet", "sha256": "c" * 64}], "images": [], **plan}, found)
    return [(problem.rule, problem.path) for problem in found]


def test_a_lock_fits_its_plan() -> None:
    assert compared() == []
    assert compared(packages=["jq", "curl"]) == [("lock.outdated", "lock.requested")]
    assert compared(packages=[]) == [("lock.outdated", "lock.requested")]
    assert compared(images=[{"file": "pause.tar", "sha256": "d" * 64}]) == [("lock.outdated", "lock.downloads")]
    assert compared(downloads=[]) == [("lock.outdated", "lock.downloads[0]")]
    assert compared(downloads=[{"file": "kubelet", "sha256": "d" * 64}]) == [("lock.outdated", "lock.downloads[0].sha256")]


@pytest.mark.parametrize("change", [{}, {"id": "debian"}, {"version_id": "22.04"}, {"architecture": "aarch64"}, {"id": None}])
def test_a_lock_fits_its_system(change: dict[str, Any]) -> None:
    found = Problems()
    locks.check_system(locked(), {"id": "ubuntu", "version_id": "24.04", "architecture": "x86_64", **change}, found)
    assert [problem.rule for problem in found] == (["lock.other_system"] if change else [])

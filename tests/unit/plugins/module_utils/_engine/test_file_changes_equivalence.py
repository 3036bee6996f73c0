# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Contents that differ in bytes only, and contents that differ in effect."""

from __future__ import annotations

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine.file_changes import is_equivalent
from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine.validation import _without_imports


@pytest.mark.parametrize(
    ("form", "before", "after", "equal"),
    [
        ("text", b"a", b"a", True),
        ("text", b"a", b"a\n", False),
        ("json", b'{"a": 1, "b": [1, 2]}', b'{\n "b":[1,2],"a":1}\n', True),
        ("json", b'{"a": 1}', b'{"a": true}', False),
        ("json", b'{"a": 1}', b'{"a": 1.0}', False),
        ("json", b'{"b": [1, 2]}', b'{"b": [2, 1]}', False),
        ("json", b"{", b"{ ", False),
        ("json", b"\xff", b"\xfe", False),
        ("unit", b"[Service]\nExecStart=/a\n", b"# why\n[Service]\n\n; so\nExecStart=/a", True),
        ("unit", b"[Service]\nExecStart=/a \\\n# in between\n  b\n", b"[Service]\nExecStart=/a    b\n", True),
        ("unit", b"[Service]\nExecStart=/a\n", b"[Service]\nExecStart=\nExecStart=/a\n", False),
        ("unit", b"[Service]\nExecStart=/a #b\n", b"[Service]\nExecStart=/a\n", False),
        ("unit", b"[Service]\nA=1\nB=2\n", b"[Service]\nB=2\nA=1\n", False),
        ("containerd", b"version = 2", b"version = 2 # two", False),
    ],
)
def test_the_reader_decides(form: str, before: bytes, after: bytes, equal: bool) -> None:
    assert is_equivalent(form, before, after) is equal and is_equivalent(form, after, before) is equal


def test_containerd_is_asked_and_doubt_means_another() -> None:
    dumps = {b"a": "x", b"b": "x", b"c": "y", b"broken": None, b"as broken": None}
    assert is_equivalent("containerd", b"a", b"b", dumps.get) and not is_equivalent("containerd", b"a", b"c", dumps.get)
    assert not is_equivalent("containerd", b"broken", b"as broken", dumps.get)


def test_the_files_that_a_dump_was_read_from_do_not_count() -> None:
    dump = 'disabled_plugins = []\nimports = ["/run/x/a.toml", "/etc/b.toml"]\nroot = "/var"\n'
    assert _without_imports(dump) == 'disabled_plugins = []\nroot = "/var"\n'

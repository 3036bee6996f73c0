# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""gzip and base64: the same bytes every time, undone once each, within bounds."""

from __future__ import annotations

import base64
import gzip
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problems
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats.compression import MAX_UNPACKED, gzip_bytes, unpack

TEXT = "#!/bin/bash\necho hi\n"
PACKED = gzip_bytes(TEXT.encode())


def unpacked(data):
    problems = Problems()
    return unpack(data, "node_group.user_data", problems), [str(problem) for problem in problems]


@given(st.binary())
def test_gzip_comes_back_and_is_always_the_same(data):
    packed = gzip_bytes(data)
    assert gzip.decompress(packed) == data
    assert gzip.GzipFile(fileobj=io.BytesIO(packed)).read() == data
    assert packed == gzip_bytes(data)


def test_gzip_names_no_time_no_file_and_no_system():
    assert PACKED[:10] == b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(TEXT, id="text"),
        pytest.param(TEXT.encode(), id="bytes"),
        pytest.param(base64.b64encode(TEXT.encode()).decode(), id="base64"),
        pytest.param(base64.b64encode(TEXT.encode()).decode().replace("o", "o\r\n", 1) + "\n", id="wrapped base64"),
        pytest.param(PACKED, id="gzip"),
        pytest.param(base64.b64encode(PACKED).decode(), id="base64 of gzip"),
        pytest.param(base64.b64encode(PACKED), id="base64 of gzip, bytes"),
        pytest.param(gzip_bytes(b"#!/bin/bash\n") + gzip_bytes(b"echo hi\n"), id="two members"),
    ],
)
def test_every_form_is_undone(data):
    assert unpacked(data) == (TEXT, [])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        pytest.param(PACKED[:-9], "ends too early", id="truncated"),
        pytest.param(PACKED[:12] + b"\xff\xff\xff" + PACKED[15:], "damaged gzip", id="damaged"),
        pytest.param(PACKED + b"rest", "damaged gzip", id="rest behind"),
        pytest.param(gzip_bytes(b"x" * (MAX_UNPACKED + 1)), "more than 1,048,576 bytes", id="bomb"),
        pytest.param(gzip_bytes(b"x" * MAX_UNPACKED) + gzip_bytes(b"x"), "more than 1,048,576 bytes", id="bomb of two members"),
        pytest.param(gzip_bytes(PACKED), "not UTF-8", id="gzip twice"),
        pytest.param(base64.b64encode(base64.b64encode(TEXT.encode())), "encoded twice", id="base64 twice"),
        pytest.param(gzip_bytes(base64.b64encode(TEXT.encode())), "encoded twice", id="base64 in gzip"),
        pytest.param(base64.b64encode(TEXT.encode() * 3)[:-2], "looks like base64", id="cut base64"),
        pytest.param("\x1f\x8b\x08abc", "raw gzip in a string", id="gzip in a string"),
        pytest.param(b"\xff\xfe#", "not UTF-8", id="UTF-16"),
        pytest.param("\ufeff#!/bin/sh", "byte order mark", id="BOM"),
        pytest.param("a\0b", "NUL", id="NUL"),
        pytest.param("\udc80", "lone surrogate", id="surrogate"),
    ],
)
def test_what_cannot_be_undone_is_a_problem(data, message):
    text, problems = unpacked(data)
    assert text == ""
    assert len(problems) == 1
    assert problems[0].startswith("node_group.user_data: ")
    assert message in problems[0]


def test_a_bomb_stays_small_in_memory():
    bomb = gzip_bytes(b"\0" * (64 << 20))
    assert len(bomb) < 100_000
    assert "more than" in unpacked(bomb)[1][0]


@pytest.mark.parametrize("text", ["", "true", "reboot", "echo hi", "#cloud-config\n"])
def test_short_words_are_text(text):
    assert unpacked(text) == (text, [])


@given(
    st.one_of(
        st.text(st.characters()), st.binary(), st.binary().map(lambda data: b"\x1f\x8b\x08" + data), st.binary().map(base64.b64encode)
    )
)
def test_nothing_raises(data):
    text, problems = unpacked(data)
    assert isinstance(text, str)
    assert not (text and problems)

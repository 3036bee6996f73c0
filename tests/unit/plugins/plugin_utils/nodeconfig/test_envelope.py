# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""User data as nodeadm takes it apart, beyond the recorded rows."""

from __future__ import annotations

import base64
import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.nodeconfig import encoding, envelope, read
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages

CONFIG = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  cluster:\n    name: demo\n"
DEMO = {"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig", "spec": {"cluster": {"name": "demo"}}}
PART = f"Content-Type: {envelope.CONTENT_TYPE}\n\n"


def mime(*parts: str, boundary: str = "B") -> bytes:
    head = f'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="{boundary}"\n\n'
    return (head + "".join(f"--{boundary}\n{part}\n" for part in parts) + f"--{boundary}--\n").encode()


FOUND = [
    ("plain", CONFIG.encode(), 1),
    ("base64 then gzip", base64.encodebytes(gzip.compress(CONFIG.encode(), mtime=0)), 1),
    ("two parts", mime(PART + CONFIG, "Content-Type: text/x-shellscript\n\n#!/bin/sh", PART + CONFIG), 2),
    ("a part in base64", mime(PART + base64.b64encode(CONFIG.encode()).decode()), 1),
    ("line ends of a mail", mime(PART + CONFIG).replace(b"\n", b"\r\n"), 1),
    ("an empty part", mime("Content-Type: text/plain\n", PART + CONFIG), 1),
    ("a boundary as the beginning of a longer word", mime("Content-Type: text/x-shellscript\n\n#!/bin/sh\n--Bx", PART + CONFIG), 1),
    ("a header with a comment-like parameter", mime(f"Content-Type: {envelope.CONTENT_TYPE} ; a=b;\n\n{CONFIG}"), 1),
]


@pytest.mark.parametrize(("data", "count"), [row[1:] for row in FOUND], ids=[row[0] for row in FOUND])
def test_found(data: bytes, count: int) -> None:
    assert envelope.node_configs(data) == [DEMO] * count


REFUSED = [
    ("no UTF-8", b"\xff\xfe", False),
    ("a part without headers' end", mime("Content-Type: text/plain"), True),
    ("a boundary that occurs nowhere", mime(PART + CONFIG).replace(b'"B"', b'"C"'), True),
    ("no boundary named", mime(PART).replace(b'; boundary="B"', b""), True),
    ("only a closing boundary", mime(), False),
    ("a gzip bomb", gzip.compress(bytes(20_000_000), mtime=0), True),
    ("half a gzip", gzip.compress(CONFIG.encode(), mtime=0)[:-9], True),
    ("parameters twice", mime(f"Content-Type: {envelope.CONTENT_TYPE}; a=1; a=2\n\n{CONFIG}"), True),
]


@pytest.mark.parametrize(("data", "fatal"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_refused(data: bytes, fatal: bool, golden_message: GoldenMessages) -> None:
    with pytest.raises(read.NodeConfigError) as caught:
        envelope.node_configs(data)
    golden_message(caught.value)
    assert caught.value.fatal == fatal


def test_files_are_not_unpacked() -> None:
    packed = base64.b64encode(CONFIG.encode())
    assert envelope.node_configs(packed) == [DEMO]
    with pytest.raises(read.NodeConfigError):
        envelope.node_configs(packed, user_data=False)


def test_drop_ins_come_after_user_data_in_order_of_their_names() -> None:
    second, third = (CONFIG.replace("demo", name).encode() for name in ("second", "third"))
    merged = envelope.effective(CONFIG.encode(), {"20.YAML": third, "10.json": second, "30.conf": b"ignored"})
    assert merged["spec"]["cluster"]["name"] == "third"


@pytest.mark.parametrize(
    ("text", "decoded"), [("aGk=", b"hi"), ("aG\nk=\r\n", b"hi"), ("", b""), ("aGk", None), ("aGk==", None), ("a Gk=", None)]
)
def test_base64(text: str, decoded: bytes | None) -> None:
    assert encoding.decode_base64(text.encode()) == decoded


LINES = [
    b"--B",
    b"--B--",
    b"--B ",
    b"Content-Type: application/node.eks.aws",
    b"Content-Type: ;",
    b"A : b",
    b"a: b",
    b" x",
    b"",
    b"\r",
    b"\xff",
]
HEAD = b"Content-Type: multipart/mixed; boundary=B\n\n"


@given(st.one_of(st.binary(), st.lists(st.sampled_from(LINES)).map(lambda lines: HEAD + b"\n".join(lines))))
def test_no_data_brings_another_error(data: bytes) -> None:
    try:
        envelope.effective(data, {"a.yaml": data})
    except read.NodeConfigError as error:
        assert str(error)

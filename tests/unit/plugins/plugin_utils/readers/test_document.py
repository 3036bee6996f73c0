# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Taking user data apart: every part has its kind, its text and its position, and nothing is lost."""

from __future__ import annotations

import base64
import email
import gzip
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import mime_reader
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats.compression import MAX_UNPACKED, gzip_bytes
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.readers.document import structure
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.readers.model import Place, UserData
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages

SCRIPT = "#!/bin/bash\necho hi\n"
NODE_CONFIG = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {}\n"
HEAD = 'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="B"\n'
SHELL_PART = f"--B\nContent-Type: text/x-shellscript\n\n{SCRIPT}\n"
NODE_PART = f"--B\nContent-Type: application/node.eks.aws\n\n{NODE_CONFIG}\n"
GOOD = f"{HEAD}\n{SHELL_PART}{NODE_PART}--B--\n"


def rules(found: UserData) -> list[str]:
    return [problem.rule for problem in found.problems]


def kinds(found: UserData) -> list[str]:
    return [part.kind for part in found.parts]


@pytest.mark.parametrize(
    ("data", "layers"),
    [
        (GOOD, ()),
        (GOOD.encode(), ()),
        (base64.b64encode(GOOD.encode()).decode(), ("base64",)),
        (gzip.compress(GOOD.encode(), mtime=0), ("gzip",)),
        (base64.b64encode(gzip_bytes(GOOD.encode())), ("base64", "gzip")),
    ],
)
def test_layers_are_removed_and_named(data: str | bytes, layers: tuple[str, ...]) -> None:
    found = structure(data)
    assert (found.layers, found.document, found.problems, found.not_understood) == (layers, GOOD, (), ())
    assert kinds(found) == ["shell", "nodeconfig"]


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_parts_have_their_position(line_end: str) -> None:
    text = GOOD.replace("\n", line_end)
    found = structure(text)
    assert [part.text for part in found.parts] == [SCRIPT, NODE_CONFIG]
    for part in found.parts:
        content = text[part.offset : part.offset + part.size]
        assert content.replace("\r\n", "\n") == part.text
        assert text[: part.offset].count("\n") == part.line - 1
        assert part.path == f"parts[{part.index}]"


def test_transfer_encodings_are_decoded_and_named() -> None:
    encoded = base64.b64encode(gzip_bytes(SCRIPT.encode())).decode()
    part = f"--B\nContent-Type: application/gzip\nContent-Transfer-Encoding: base64\n\n{encoded}\n"
    [one] = structure(f"{HEAD}\n{part}--B--\n").parts
    assert (one.kind, one.text, one.encoding, one.size) == ("shell", SCRIPT, "base64, gzip", len(encoded))


def test_text_after_the_closing_delimiter_is_ignored_as_on_the_node() -> None:
    found = structure(f"{HEAD}\n{SHELL_PART}--B--\n{NODE_PART}--B--\n")
    assert kinds(found) == ["shell"]
    assert rules(found) == ["mime.text_after_end"]
    [lost] = found.not_understood
    assert lost.text.startswith(NODE_PART) and lost.place == Place(None, 11, 1, 3)


def test_nested_documents_are_flattened() -> None:
    inner = f'--B\nContent-Type: multipart/mixed; boundary="I"\n\n--I\nContent-Type: text/x-shellscript\n\n{SCRIPT}\n--I--\n'
    found = structure(f"{HEAD}\n{inner}{NODE_PART}--B--\n")
    assert [(part.kind, part.path, part.text) for part in found.parts] == [
        ("shell", "parts[0].parts[0]", SCRIPT),
        ("nodeconfig", "parts[1]", NODE_CONFIG),
    ]
    assert rules(found) == ["mime.nested_document"]


def test_a_missing_blank_line_swallows_a_node_config() -> None:
    found = structure(f"{HEAD}\n--B\nContent-Type: application/node.eks.aws\n{NODE_CONFIG}--B--\n")
    assert rules(found) == ["mime.invalid_header"]
    [lost] = found.not_understood
    assert lost.text == NODE_CONFIG.rstrip("\n") and lost.place.line == 6


@pytest.mark.parametrize("text", ["\n" + GOOD, re.sub("^", "  ", GOOD, flags=re.MULTILINE), GOOD.replace("MIME-Version: 1.0\n", "")])
def test_a_document_that_is_no_mime_to_the_node_is_one_unknown_part(text: str) -> None:
    found = structure(text)
    assert kinds(found) == ["unknown"]
    assert [lost.text for lost in found.not_understood] == [text]
    assert found.problems


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(base64.b64encode(base64.b64encode(SCRIPT.encode())), id="twice"),
        pytest.param(b"\x1f\x8b nonsense", id="damaged"),
        pytest.param(gzip_bytes(b"x" * (MAX_UNPACKED + 1)), id="bomb"),
        pytest.param("\ud800", id="surrogate"),
        pytest.param(b"\xff\xfe\x00", id="binary"),
        pytest.param("x" * (2 * MAX_UNPACKED + 1), id="large"),
    ],
)
def test_data_that_cannot_be_decoded_is_a_problem(data: str | bytes, golden_message: GoldenMessages) -> None:
    found = structure(data)
    assert (found.parts, rules(found), len(found.not_understood)) == ((), ["user_data.unreadable"], 1)
    golden_message(found.problems[0])


def test_files_in_cloud_config_are_found() -> None:
    text = f"#cloud-config\nwrite_files:\n- path: /etc/eks/nodeadm.d/a.yaml\n  content: {NODE_CONFIG!r}\n- path: /x\n  source: {{}}\n"
    text = text.replace("'", '"')
    found = structure(text)
    assert [(file.key, file.path, file.text, file.kind) for file in found.files] == [
        ("write_files[0].content", "/etc/eks/nodeadm.d/a.yaml", NODE_CONFIG, "nodeconfig"),
        ("write_files[1].content", "/x", None, "empty"),
    ]
    assert not found.problems


def test_limits_of_parts_and_nesting() -> None:
    many = structure(f"{HEAD}\n" + SHELL_PART * (mime_reader.MAX_PARTS + 1) + "--B--\n")
    assert (len(many.parts), rules(many)) == (mime_reader.MAX_PARTS, ["mime.too_complex"])
    deep = "".join(f'--B{n}\nContent-Type: multipart/mixed; boundary="B{n + 1}"\n\n' for n in range(1000))
    found = structure(HEAD.replace('"B"', '"B0"') + "\n" + deep)
    assert "mime.too_complex" in rules(found) and found.not_understood


# cloud-init reads MIME with Python's email.

_LINES = st.sampled_from(
    [
        "--B",
        "--B--",
        "--B  ",
        "--Bx",
        "--I",
        "--I--",
        "",
        "",
        "Content-Type: text/x-shellscript",
        "Content-Type: text/cloud-config",
        'Content-Type: multipart/mixed; boundary="I"',
        "Content-Type: multipart/mixed; boundary=I",
        "  folded: line",
        "X-Other: value",
        "no header",
        "#!/bin/bash",
        "echo hi",
        ": no name",
        "bad name : x",
    ]
)


@given(st.sampled_from(['"B"', "B", "=B=", ""]), st.lists(_LINES, max_size=25))
def test_parts_are_those_of_cloud_init(boundary: str, lines: list[str]) -> None:
    used = boundary.strip('"') or "B"
    body = "\n".join(line.replace("B", used) for line in lines)
    text = f"MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary={boundary}\n\n{body}\n"
    theirs = [part.get_payload() for part in email.message_from_string(text).walk() if part.get_content_maintype() != "multipart"]
    found = mime_reader.examine(text, "")
    assert [part.part.body for part in found.parts] == theirs

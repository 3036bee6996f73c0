# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""MIME: what is written comes back from Python's email and from a model of Go's readers; what is read, both accept."""

from __future__ import annotations

import base64
import email
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problems
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import mime, mime_reader
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats.mime import Part
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.problem_list import error_of, rules_and_paths

NODE_CONFIG = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {}\n"
SCRIPT = "#!/bin/bash\necho hi\n"


# --- two readers of our own: cloud-init's way through Python's email, and a model of Go's net/mail and mime/multipart --------


def cloud_init(text: str) -> list[tuple[str, str]]:
    """Type and text of every part, as cloud-init 22.4 gets them; a text that it takes for one script is one part."""
    if "mime-version:" not in text[:4096].lower():
        return [("", text)]
    found = []
    for part in email.message_from_string(text).walk():
        if part.get_content_maintype() != "multipart":
            found.append((part.get_content_type(), part.get_payload(decode=True).decode("utf-8", "surrogateescape")))
    return found


class GoError(ValueError):
    """What Go's readers refuse."""


def _go_header(lines: list[bytes]) -> dict[str, str]:
    """net/textproto: consumes the header lines of C(lines) and the blank line behind them."""
    found: dict[str, str] = {}
    if lines and lines[0][:1] in (b" ", b"\t"):
        raise GoError("initial line")
    last = None
    while lines:
        line = re.sub(rb"\r?\n\Z", b"", lines.pop(0))
        if not line:
            return found
        if line[:1] in (b" ", b"\t") and last:
            found[last] += " " + line.strip().decode("latin-1")
            continue
        key, colon, value = line.partition(b":")
        if not colon or not re.fullmatch(rb"[!#$%&'*+.^_`|~0-9A-Za-z -]+", key) or re.search(rb"[^\t\x20-\x7e\x80-\xff]", value):
            raise GoError(f"header {line!r}")
        last = key.decode().lower()
        found.setdefault(last, value.strip().decode("latin-1"))
    raise GoError("unexpected EOF")


def _go_media(value: str) -> tuple[str, dict[str, str]]:
    token = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
    kind, _unused, rest = value.partition(";")
    if not re.fullmatch(rf"{token}(/{token})?", kind.strip()):
        raise GoError("no media type")
    found: dict[str, str] = {}
    rest = f";{rest}" if rest else ""
    while rest.strip():
        match = re.match(rf"\s*;\s*({token})\s*=\s*({token}|\"(?:[^\"\\]|\\.)*\")", rest)
        if not match:
            if rest.strip() == ";":
                break
            raise GoError("parameter")
        if match[1].lower() in found:
            raise GoError("duplicate parameter")
        found[match[1].lower()] = match[2].strip('"')
        rest = rest[match.end() :]
    return kind.strip().lower(), found


def go(text: str) -> list[tuple[str, bytes]]:
    """Content type and raw body of every part, as mime/multipart cuts them."""
    lines = re.findall(rb"[^\n]*\n|[^\n]+", text.encode("utf-8"))
    kind, parameters = _go_media(_go_header(lines).get("content-type", ""))
    if not kind.startswith("multipart/"):
        raise GoError("no multipart")
    dash = b"--" + parameters.get("boundary", "").encode()
    if dash == b"--":
        raise GoError("boundary is empty")
    found: list[tuple[str, bytes]] = []
    newline = b"\r\n"
    while True:
        if not lines:
            raise GoError("EOF")
        line = lines.pop(0)
        rest = line[len(dash) :].lstrip(b" \t") if line.startswith(dash) else None
        if rest == b"\n" and not found:
            newline = b"\n"
        if rest == newline:
            headers = _go_header(lines)
            body = _go_body(lines, dash, newline)
            if headers.get("content-type"):
                found.append((_go_media(headers["content-type"])[0], body))
            else:
                found.append(("", body))
            continue
        if line.startswith(dash + b"--") and line[len(dash) + 2 :].lstrip(b" \t") in (b"", newline):
            return found
        if found:
            raise GoError(f"unexpected line {line!r}")


def _go_body(lines: list[bytes], dash: bytes, newline: bytes) -> bytes:
    taken = b""
    while lines:
        line = lines[0]
        if line.startswith(dash) and (taken.endswith(newline) or not taken):
            after = line[len(dash) : len(dash) + 2]
            if not after or after[:1] in b" \t\r\n" or after == b"--":
                return taken[: -len(newline)] if taken else b""
        taken += lines.pop(0)
    raise GoError("unexpected EOF")


def go_text(part: tuple[str, bytes]) -> str:
    """What nodeadm makes of a body: base64 by its looks."""
    try:
        return base64.b64decode(part[1].replace(b"\n", b""), validate=True).decode()
    except ValueError:
        return part[1].decode()


# --- writing -------------------------------------------------------------------------------------------------------------

NASTY = [
    "--=_",
    "=_",
    "=_0",
    "--=_--",
    "\n--=_\n",
    "\n\n",
    "\r",
    "\r\n",
    "é",
    "\x0b",
    "\x85",
    "\u2028",
    "\0",
    "From ",
    "--",
    "=3D",
    "a: b\n",
    " ",
    "\t",
]
BODY = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.lists(st.one_of(st.sampled_from(NASTY), st.text(max_size=3))).map("".join),
    st.text(st.sampled_from("ab \n=-_")),
)


@given(st.lists(BODY, min_size=1, max_size=4))
@example(["", "\n", "x" * 5000, "\r"])
def test_every_body_comes_back_byte_for_byte_from_both_readers(bodies):
    parts = [Part(mime.SHELL, body) for body in bodies]
    text = mime.write(parts)
    assert [body for _unused, body in cloud_init(text)] == bodies
    assert [kind for kind, _unused in cloud_init(text)] == [mime.SHELL] * len(bodies)
    found = go(text)
    assert len(found) == len(bodies)
    for body, part in zip(bodies, found, strict=True):
        if re.fullmatch(r"[\t\n\x20-\x7e]*", body):
            assert part[1] == body.encode()
        else:
            assert base64.b64decode(part[1]) == body.encode()


@given(st.lists(st.tuples(st.sampled_from([mime.SHELL, mime.CLOUD_CONFIG, mime.NODE_CONFIG]), BODY), min_size=1, max_size=4))
def test_the_boundary_occurs_in_no_part_encoded_or_decoded(pairs):
    text = mime.write([Part(kind, body) for kind, body in pairs])
    boundary = email.message_from_string(text).get_boundary()
    assert not any(boundary in body for _unused, body in pairs)
    assert not any(boundary in body for _unused, body in cloud_init(text))
    assert text.count(boundary) == len(pairs) + 2


@given(st.lists(BODY, min_size=1, max_size=3))
def test_what_is_written_is_read_and_written_again_unchanged(bodies):
    text = mime.write([Part(mime.SHELL, SCRIPT + body) for body in bodies])
    problems = Problems()
    parts = mime_reader.read(text, "user_data", problems)
    assert list(problems) == []
    assert [mime.decoded(part, "x", problems) for part in parts] == [SCRIPT + body for body in bodies]
    assert mime.write(parts) == text


@given(st.lists(BODY))
def test_the_same_parts_give_the_same_bytes(bodies):
    parts = [Part(mime.SHELL, body) for body in bodies]
    assert mime.write(parts) == mime.write(tuple(parts))


def test_a_plain_document_has_no_byte_too_many():
    assert mime.write([Part(mime.SHELL, SCRIPT), Part(mime.NODE_CONFIG, NODE_CONFIG)]) == (
        'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="=_"\n\n--=_\nContent-Type: text/x-shellscript\n\n'
        f"{SCRIPT}\n--=_\nContent-Type: application/node.eks.aws\n\n{NODE_CONFIG}\n--=_--\n"
    )


def test_text_beyond_ascii_is_base64_with_one_charset():
    text = mime.write(
        [Part('text/x-shellscript; charset="us-ascii"', "#!/bin/sh\n# é\n", (("Content-Disposition", 'attachment; filename="a.sh"'),))]
    )
    assert "Content-Type: text/x-shellscript; charset=utf-8\n" in text
    assert "Content-Transfer-Encoding: base64\n" in text
    assert 'Content-Disposition: attachment; filename="a.sh"\n' in text
    assert text.isascii()
    assert cloud_init(text) == [(mime.SHELL, "#!/bin/sh\n# é\n")]


def test_encoded_user_parts_stand_as_they_are():
    part = Part(mime.SHELL, "IyEvYmluL3NoCg==\n", (("Content-Transfer-Encoding", "base64"), ("Merge-Type", "list(append)")))
    text = mime.write([part])
    assert "Merge-Type: list(append)\n\nIyEvYmluL3NoCg==\n" in text
    assert mime_reader.read(text, "user_data", Problems()) == (part,)


@pytest.mark.parametrize(
    ("part", "problem"),
    [
        (Part("multipart/mixed", ""), "mime.unwritable_part parts[0]"),
        (Part("message/rfc822", ""), "mime.unwritable_part parts[0]"),
        (Part("text/plain\nX: y", ""), "mime.unwritable_part parts[0]"),
        (Part("nonsense", ""), "mime.unwritable_part parts[0]"),
        (Part(mime.SHELL, "\ud800"), "mime.unwritable_part parts[0]"),
        (Part(mime.SHELL, "", (("X", "a\nb"),)), "mime.unwritable_part parts[0]"),
        (Part(mime.SHELL, "", (("X:", "a"),)), "mime.unwritable_part parts[0]"),
        (Part(mime.SHELL, "", (("Content-Transfer-Encoding", "x-uuencode"),)), "mime.unwritable_part parts[0]"),
        (Part(mime.SHELL, "é", (("Content-Transfer-Encoding", "base64"),)), "mime.unwritable_part parts[0]"),
        (Part(mime.SHELL, "a=b", (("Content-Transfer-Encoding", "quoted-printable"),)), "mime.unwritable_part parts[0]"),
    ],
)
def test_what_cannot_be_written_is_refused(part, problem, golden_message: GoldenMessages):
    error = error_of(mime.write, [part])
    assert problem in rules_and_paths(error)
    golden_message(error)


# --- reading -------------------------------------------------------------------------------------------------------------


def document(*parts: str, head: str = 'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="B"\n', end: str = "--B--\n") -> str:
    return f"{head}\n" + "".join(f"--B\n{part}\n" for part in parts) + end


SHELL_PART = f"Content-Type: text/x-shellscript\n\n{SCRIPT}"
NODE_PART = f"Content-Type: application/node.eks.aws\n\n{NODE_CONFIG}"
GOOD = document(SHELL_PART, NODE_PART)

ACCEPTED = [
    pytest.param(GOOD, id="plain"),
    pytest.param(GOOD.replace("\n", "\r\n"), id="CRLF"),
    pytest.param(GOOD.replace("\n", "\r\n").replace("\r\n", "\n", 1), id="LF behind the first header, as Terraform writes"),
    pytest.param(GOOD.replace("\n", "\r\n", 2), id="CRLF in the headers only"),
    pytest.param(GOOD.replace("Content-Type", "content-type"), id="lower case"),
    pytest.param(GOOD.replace("; boundary", ";\n boundary"), id="folded"),
    pytest.param(GOOD.replace('"B"', "B"), id="unquoted word"),
    pytest.param(GOOD.replace("--B\n", "--B  \n"), id="blanks behind the delimiter"),
    pytest.param(GOOD.replace("\n\n--B", "\n\nThis is a multi-part message in MIME format.\n--B", 1), id="preamble"),
    pytest.param(GOOD.replace("MIME-Version", "From: a@b\nMIME-Version"), id="other headers"),
    pytest.param(GOOD.replace("multipart/mixed", "multipart/alternative"), id="alternative"),
    pytest.param(GOOD.rstrip("\n"), id="no line feed at the end"),
]


@pytest.mark.parametrize("text", ACCEPTED)
def test_what_both_readers_accept_is_read(text):
    problems = Problems()
    parts = mime_reader.read(text, "user_data", problems)
    assert list(problems) == []
    assert [part.media_type for part in parts] == [mime.SHELL, mime.NODE_CONFIG]
    assert [mime.decoded(part, "x", problems) for part in parts] == [SCRIPT.rstrip("\n") + "\n", NODE_CONFIG]
    assert [kind for kind, _unused in go(text)] == [kind for kind, _unused in cloud_init(text)]


ENCODED = [
    pytest.param(
        "Content-Type: text/x-shellscript\nContent-Transfer-Encoding: base64\n\nIyEvYmluL3No\nCmVjaG8K", "#!/bin/sh\necho\n", id="base64"
    ),
    pytest.param(
        "Content-Type: text/x-shellscript\nContent-Transfer-Encoding: quoted-printable\n\n#!/bin/sh\na=3Db =\nc",
        "#!/bin/sh\na=b c",
        id="quoted-printable",
    ),
    pytest.param(
        f"Content-Type: application/node.eks.aws\n\n{base64.b64encode(NODE_CONFIG.encode()).decode()}",
        NODE_CONFIG,
        id="NodeConfig that looks like base64",
    ),
    pytest.param("\n#!/bin/sh\n", "#!/bin/sh\n", id="no headers"),
    pytest.param("Content-Type: text/plain\n\n#cloud-config\n{}\n", "#cloud-config\n{}\n", id="sniffed cloud-config"),
]


@pytest.mark.parametrize(("part", "text"), ENCODED)
def test_encoded_parts_are_read_and_stay_as_they_stand(part, text):
    problems = Problems()
    (found,) = mime_reader.read(document(part), "user_data", problems)
    assert mime.decoded(found, "x", problems) == text
    assert list(problems) == []
    assert part.partition("\n\n")[2].removesuffix("\n") in mime.write([found])


MUTATIONS = st.lists(
    st.tuples(
        st.integers(0, len(GOOD)),
        st.integers(0, 12),
        st.one_of(st.sampled_from([*NASTY, "--B", "--B--", "\n--B\n", "\n--B--\n", '"', ";", ":"]), st.text(max_size=2)),
    ),
    min_size=1,
    max_size=4,
)


@given(MUTATIONS)
def test_what_is_read_from_a_damaged_document_is_what_both_readers_see(mutations):
    text = GOOD
    for at, length, insertion in mutations:
        text = text[:at] + insertion + text[at + length :]
    problems = Problems()
    parts = mime_reader.read(text, "user_data", problems)
    if len(problems):
        return
    texts = [mime.decoded(part, "x", problems) for part in parts]
    seen_by_go = go(text)
    assert len(seen_by_go) == len(parts)
    if text.count("\r\n") == text.count("\r"):
        # The reader gives out LF, and so does cloud-init to the shell.
        text = text.replace("\r\n", "\n")
        seen_by_go = [(kind, body.replace(b"\r\n", b"\n")) for kind, body in seen_by_go]
    assert [body.removesuffix(b"\r") for _unused, body in seen_by_go] == [part.body.removesuffix("\r").encode() for part in parts]
    seen_by_cloud_init = cloud_init(text)
    assert [kind for kind, _unused in seen_by_cloud_init] == [part.media_type for part in parts]
    for part, expected, (_unused, body) in zip(parts, texts, seen_by_cloud_init, strict=True):
        if part.media_type != mime.NODE_CONFIG:
            # email ends a line at a lone carriage return, too; the last one is taken for the delimiter's.
            assert body in (expected, expected.removesuffix("\r"))


@given(st.one_of(st.text(st.characters()), BODY.map(document), BODY.map(lambda body: GOOD + body)))
def test_reading_never_raises(text):
    problems = Problems()
    parts = mime_reader.read(text, "user_data", problems)
    assert parts or len(problems)

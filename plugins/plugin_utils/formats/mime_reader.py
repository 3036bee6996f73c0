# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads MIME multipart user data, and accepts only what cloud-init and nodeadm parse in the same way.

Everything else is a problem with its fix (cloud-init 22.4, nodeadm of July 2026).
"""

from __future__ import annotations

import re

from ..errors import Problems
from .mime import CLOUD_CONFIG, GZIPPED, HEADER_VALUE, MEDIA_TYPE, NODE_CONFIG, SHELL, TOKEN, Part, decoded
from .read_once import read_once
from .user_data_kind import classify

_HEADER = re.compile(rf"({TOKEN}):(.*)")
_PARAMETER = re.compile(rf";[ \t]*({TOKEN})=({TOKEN}|\"(?:[^\"\\]|\\.)*\")")
_BOUNDARY = re.compile(r"[0-9A-Za-z'()+_,./:=?-](?:[0-9A-Za-z'()+_,./:=? -]{0,68}[0-9A-Za-z'()+_,./:=?-])?")

# For these types, cloud-init checks the beginning of the text and ignores the header. For others it trusts the header.
_SNIFFED = frozenset({"text/plain", "text/x-not-multipart", "application/octet-stream", SHELL})
_NEEDS_SHEBANG = frozenset({"text/x-shellscript-per-boot", "text/x-shellscript-per-instance", "text/x-shellscript-per-once"})
_BELIEVED = frozenset(
    {
        CLOUD_CONFIG,
        "text/cloud-config-archive",
        "text/cloud-config-jsonp",
        "text/cloud-boothook",
        "text/jinja2",
        "text/part-handler",
        "text/upstart-job",
        "text/x-include-once-url",
        "text/x-include-url",
    }
)
_STARTS = ("#cloud-config", "#cloud-boothook", "#include", "#part-handler", "#upstart-job", "## template: jinja")
_LONGEST_PREAMBLE_LINE = 4000
_MIME_VERSION_WITHIN = 4096


@read_once
def read(text: str, path: str, problems: Problems) -> tuple[Part, ...]:
    """The parts of a document that cloud-init and nodeadm parse in the same way. Other documents are problems with a fix.

    text: decoded already (no base64, no gzip around it). path: its place in the user's input. Parts keep their
    headers and their encoding, so C(write) gives them out as they stand; lines of CRLF become LF.
    """
    if text[:1] in (" ", "\t", "\r", "\n"):
        problems.add(
            "mime.leading_blank",
            path,
            "begins with white space, so neither cloud-init nor nodeadm recognizes it as MIME",
            fix="begin with MIME-Version: 1.0, without indentation",
        )
        return ()
    if "\r\n" in text and text.count("\r\n") == text.count("\n") == text.count("\r"):
        text = text.replace("\r\n", "\n")
    lines = text.split("\n")
    headers, at = _headers(lines, 0, path, problems)
    boundary = _boundary(headers, text, path, problems)
    if boundary is None:
        return ()
    before = len(problems)
    spans = _spans(lines, at, boundary, path, problems)
    if len(problems) > before:
        return ()
    parts: list[Part] = []
    for index, (start, end) in enumerate(spans):
        if part := _part(lines[start:end], start, f"{path}.parts[{index}]", problems):
            parts.append(part)
    if not spans:
        problems.add("mime.no_part", path, "is a MIME document without a part", fix="add a part or remove it")
    return tuple(parts)


def _headers(lines: list[str], start: int, path: str, problems: Problems) -> tuple[list[tuple[str, str]] | None, int]:
    """The headers from line C(start) (from 0) to the blank line, folded ones joined, and the line behind it; None when broken."""
    found: list[tuple[str, str]] = []
    for number in range(start, len(lines)):
        line = lines[number]
        if line == "":
            return found, number + 1
        if line[0] in " \t" and found and line.strip():
            found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}")
            continue
        header = _HEADER.fullmatch(line)
        if header is None or not HEADER_VALUE.fullmatch(header[2]) or header[1].lower() in ("apiversion", "kind"):
            problems.add(
                "mime.invalid_header",
                path,
                f"line {number + 1} is not a header",
                value=line,
                fix="add an empty line after the headers, and remove spaces before colons",
            )
            return None, number
        found.append((header[1], header[2].strip(" \t")))
    problems.add("mime.invalid_header", path, "has no empty line after its headers", fix="add an empty line after the headers")
    return None, len(lines)


def _boundary(headers: list[tuple[str, str]] | None, text: str, path: str, problems: Problems) -> str | None:
    """The boundary in the headers of the document, or None with a problem."""
    if headers is None:
        return None
    before = len(problems)
    types = [value for name, value in headers if name.lower() == "content-type"]
    if not any(name.lower() == "mime-version" for name, _unused in headers):
        problems.add(
            "mime.missing_version",
            path,
            "has no MIME-Version header, without which cloud-init does not recognize MIME",
            fix="begin with MIME-Version: 1.0",
        )
    elif "mime-version:" not in text[:_MIME_VERSION_WITHIN].lower():
        problems.add(
            "mime.missing_version", path, "has its MIME-Version header too far down for cloud-init", fix="begin with MIME-Version: 1.0"
        )
    if any(name.lower() == "content-transfer-encoding" and value.lower() not in ("7bit", "8bit", "binary") for name, value in headers):
        problems.add(
            "mime.encoded_document",
            path,
            "has a Content-Transfer-Encoding around the parts, which no reader decodes",
            fix="encode the single parts instead",
        )
    if len(types) != 1:
        problems.add(
            "mime.invalid_content_type",
            path,
            "needs exactly one Content-Type header",
            fix='Content-Type: multipart/mixed; boundary="BOUNDARY"',
        )
        return None
    media = _media(types[0])
    if media is None:
        problems.add(
            "mime.invalid_content_type",
            path,
            "has a Content-Type that nodeadm cannot parse",
            value=types[0],
            fix='put the boundary into double quotes, once: Content-Type: multipart/mixed; boundary="BOUNDARY"',
        )
        return None
    kind, parameters = media
    if not kind.startswith("multipart/") or kind == "multipart/digest":
        fix = "use the text itself, without headers" if not kind.startswith("multipart/") else None
        problems.add("mime.not_multipart", path, "is not a multipart document", value=kind, allowed="multipart/mixed", fix=fix)
        return None
    boundary = parameters.get("boundary", "")
    if not _BOUNDARY.fullmatch(boundary):
        problems.add(
            "mime.invalid_boundary",
            path,
            "has no boundary that both readers accept",
            value=boundary,
            allowed="1 to 70 letters, digits and '()+_,-./:=?",
        )
    return boundary if len(problems) == before else None


def _media(value: str) -> tuple[str, dict[str, str]] | None:
    """Type and parameters as parsed by Go, without its leniencies. None if Go rejects them."""
    match = MEDIA_TYPE.fullmatch(value)
    if match is None:
        return None
    parameters: dict[str, str] = {}
    for name, raw in _PARAMETER.findall(match[2]):
        key = name.lower()
        if key in parameters or "*" in key:
            return None
        parameters[key] = re.sub(r"\\(.)", r"\1", raw[1:-1]) if raw.startswith('"') else raw
    return match[1].lower(), parameters


def _spans(lines: list[str], start: int, boundary: str, path: str, problems: Problems) -> list[tuple[int, int]]:
    """First and last line (from 0, the last excluded) of every part."""
    delimiter = f"--{boundary}"
    marks: list[int] = []
    closed: int | None = None
    for number in range(start, len(lines)):
        line = lines[number]
        if not line.startswith(delimiter):
            continue
        rest = line[len(delimiter) :].rstrip(" \t")
        if rest == "" and closed is None:
            marks.append(number)
        elif rest == "--" and closed is None:
            closed = number
        elif closed is None:
            problems.add(
                "mime.invalid_boundary",
                path,
                f"line {number + 1} begins with the boundary, so nodeadm refuses the document",
                value=line,
                fix="choose another boundary",
            )
    if closed is None:
        problems.add(
            "mime.missing_end",
            path,
            "does not end with the closing delimiter, so nodeadm refuses it",
            fix=f"end with the line {delimiter}--",
        )
        return []
    if any(line.strip() for line in lines[closed + 1 :]):
        problems.add(
            "mime.text_after_end",
            path,
            f"continues after the closing delimiter in line {closed + 1}; cloud-init and nodeadm silently ignore the rest",
            fix=f"write {delimiter} between parts and {delimiter}-- only at the end",
        )
    first = marks[0] if marks else closed
    preamble = lines[start:first]
    if classify("\n".join(preamble)) not in ("empty", "unknown"):
        problems.add(
            "mime.text_before_parts",
            path,
            f"contains text before its first part, line {start + 1}, which no program reads",
            fix="put it into a part",
        )
    elif any(len(line) >= _LONGEST_PREAMBLE_LINE for line in preamble):
        problems.add("mime.text_before_parts", path, "contains a line before its first part that is too long for nodeadm", fix="remove it")
    return [(mark + 1, end) for mark, end in zip(marks, [*marks, closed][1:], strict=True)]


def _part(lines: list[str], start: int, path: str, problems: Problems) -> Part | None:
    """One part, if both readers accept it and the node uses it."""
    headers, at = _headers(lines, 0, f"{path} (from line {start + 1})", problems)
    if headers is None:
        return None
    types = [value for name, value in headers if name.lower() == "content-type"]
    encodings = [value for name, value in headers if name.lower() == "content-transfer-encoding"]
    if len(types) > 1 or len(encodings) > 1:
        problems.add(
            "mime.repeated_header",
            path,
            "has a duplicate header; only the first one is used",
            fix="keep one Content-Type and one Content-Transfer-Encoding",
        )
        return None
    content_type = types[0] if types else "text/plain"
    if _media(content_type) is None:
        problems.add(
            "mime.invalid_content_type",
            path,
            "has a Content-Type that nodeadm cannot parse, so it refuses the whole document",
            value=content_type,
        )
        return None
    others = tuple((name, value) for name, value in headers if name.lower() != "content-type")
    part = Part(content_type, "\n".join(lines[at:]), others)
    before = len(problems)
    _check_use(part, path, problems)
    return part if len(problems) == before else None


def _check_use(part: Part, path: str, problems: Problems) -> None:
    """Report a part that no program on the node runs, or that would be changed."""
    kind = part.media_type
    if kind.startswith(("multipart/", "message/")):
        problems.add(
            "mime.nested_document",
            path,
            "is a nested document, which nodeadm does not read",
            fix="put its parts into the outer document",
        )
        return
    before = len(problems)
    if part.transfer_encoding == "" and kind != NODE_CONFIG and not part.body.isascii():
        problems.add(
            "mime.missing_encoding",
            path,
            "contains non-ASCII characters without a transfer encoding, which cloud-init corrupts",
            fix="add Content-Transfer-Encoding: base64 and encode the part, or use the script itself instead of MIME",
        )
        return
    text = decoded(part, path, problems)
    if len(problems) > before:
        return
    if kind == NODE_CONFIG:
        if classify(text) != "nodeconfig":
            problems.add(
                "nodeconfig.wrong_document",
                path,
                "is not a NodeConfig, so nodeadm refuses the document",
                fix="write apiVersion: node.eks.aws/v1alpha1 and kind: NodeConfig",
            )
    elif kind in _SNIFFED or kind in _NEEDS_SHEBANG or kind in GZIPPED:
        if not text.startswith("#!") and (kind in _NEEDS_SHEBANG or not text.lstrip().lower().startswith(_STARTS)):
            problems.add(
                "mime.no_interpreter",
                path,
                "does not begin with #!, so cloud-init does not run it",
                value=text.split("\n", 1)[0],
                fix="begin with #!/bin/bash in its first line",
            )
    elif kind not in _BELIEVED:
        problems.add(
            "mime.unknown_type",
            path,
            "has a type that no program on the node reads",
            value=kind,
            allowed=f"{SHELL}, {CLOUD_CONFIG}, {NODE_CONFIG}",
        )

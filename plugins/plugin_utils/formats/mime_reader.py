# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads MIME multipart user data.

C(read) accepts only what cloud-init and nodeadm parse in the same way; everything else is a problem with its fix (cloud-init 22.4,
nodeadm of July 2026). C(examine) also returns what cloud-init sees in a document with problems, with positions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import accumulate

from ..errors import Problem, Problems
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
_LIKE_A_DOCUMENT = re.compile(r"(?:apiVersion|kind)[ \t]*:", re.IGNORECASE)
"""A line of a NodeConfig where a header is expected: the blank line before it is missing."""

_ANY_BOUNDARY = re.compile(r"boundary=\"?([^\"\s;]+)", re.IGNORECASE)

_NESTED = ("multipart/", "message/")

_LONGEST_PREAMBLE_LINE = 4000
_LONGEST_CONTENT_TYPE = 4000
"""For a longer one, email needs a time that grows with the square of its length."""
_MIME_VERSION_WITHIN = 4096

MAX_PARTS = 1000
MAX_NESTING = 20
"""Limits for a document. User data of EC2 has room for a few hundred parts."""

_HEADER_OF_EMAIL = re.compile(r"From |[!-9;-~]*:|[ \t]")
"""The beginning of a line that Python's email takes for a header. At any other line, it begins the content."""


@dataclass(frozen=True)
class FoundPart:
    """A part as cloud-init sees it. path: C(parts[1]), or C(parts[1].parts[0]) in a nested document.

    line: the line of the document on which the content begins, from 1. offset: the same place in characters, from 0.
    size: bytes of the content in the document, still encoded.
    """

    part: Part
    path: str
    line: int
    offset: int
    size: int


@dataclass(frozen=True)
class IgnoredText:
    """Text that no program reads. line: where it begins, from 1. reason: continues the sentence "the text"."""

    line: int
    text: str
    reason: str


@dataclass(frozen=True)
class Examined:
    """A document as cloud-init sees it. is_mime: whether cloud-init takes it for MIME. Nested documents are flattened."""

    parts: tuple[FoundPart, ...]
    ignored: tuple[IgnoredText, ...]
    problems: tuple[Problem, ...]
    is_mime: bool


@read_once
def read(text: str, path: str, problems: Problems) -> tuple[Part, ...]:
    """The parts of a document that cloud-init and nodeadm parse in the same way. Other documents are problems with a fix.

    text: decoded already (no base64, no gzip around it). path: its place in the user's input. Parts keep their
    headers and their encoding, so C(write) gives them out as they stand; lines of CRLF become LF.
    """
    reader = _Reader(text, path)
    reader.read()
    broken = next((stage for stage in reader.stages if len(stage)), None)
    problems.extend(reader.part_problems if broken is None else broken)
    return tuple(reader.accepted) if broken is None else ()


def examine(text: str, path: str) -> Examined:
    """What cloud-init sees in a document, and all its problems. text, path: as for C(read)."""
    reader = _Reader(text, path)
    is_mime = reader.read()
    problems = tuple(problem for stage in (*reader.stages, reader.part_problems, reader.nested_problems) for problem in stage)
    return Examined(tuple(reader.parts), tuple(reader.ignored), problems, is_mime)


class _Reader:
    """Reads one document. Each stage has its own problems: what follows a broken stage is not worth a message to C(read)."""

    def __init__(self, text: str, path: str) -> None:
        self._text = text
        self._path = path
        self._lines = (text.replace("\r\n", "\n") if _has_usable_line_ends(text) else text).split("\n")
        self._starts = (0, *accumulate(len(line) + 1 for line in text.split("\n")))
        self.stages = (Problems(), Problems(), Problems(), Problems())
        self.part_problems = Problems()
        self.nested_problems = Problems()
        self.parts: list[FoundPart] = []
        self.accepted: list[Part] = []
        self.ignored: list[IgnoredText] = []

    def read(self) -> bool:
        """Read everything. Returns whether cloud-init takes the text for MIME."""
        begin, head, content_type, delimiters = self.stages
        if self._text[:1] in (" ", "\t", "\r", "\n"):
            begin.add(
                "mime.leading_blank",
                self._path,
                "begins with white space, so neither cloud-init nor nodeadm recognizes it as MIME",
                fix="begin with MIME-Version: 1.0, without indentation",
            )
            return False
        headers, at = _headers(self._lines, self._path, head)
        strict = _boundary(headers, self._text, self._path, content_type)
        if "mime-version:" not in self._text[:_MIME_VERSION_WITHIN].lower():
            return False
        end = len(self._lines)
        if not _is_multipart(headers):
            self._keep(_part_of(headers, self._lines[at:end]), at, end, self._path)
        elif (boundary := strict or _boundary_of_email(headers)) is None:
            self._ignore(at, end, "belongs to no part, because the document has no boundary")
        else:
            # A part without a delimiter behind it ends before the last line end, as any other.
            self._multipart(at, max(at, end - (self._lines[-1] == "")), boundary, self._path, delimiters, 0)
        return True

    def _ignore(self, start: int, end: int, reason: str) -> None:
        text = "\n".join(self._lines[start:end])
        if text.strip():
            self.ignored.append(IgnoredText(start + 1, text, reason))

    def _keep(self, part: Part, start: int, end: int, path: str) -> None:
        """Keep a part whose content stands between the lines C(start) and C(end) (from 0, the last excluded)."""
        offset = min(self._starts[start], len(self._text))
        content = self._text[offset : max(offset, self._starts[end] - 1)]
        if end < len(self._lines):
            content = content.removesuffix("\r")
        self.parts.append(FoundPart(part, path, start + 1, offset, len(content.encode("utf-8", "surrogatepass"))))

    def _multipart(self, start: int, end: int, boundary: str, path: str, problems: Problems, depth: int) -> None:
        """The parts between the lines C(start) and C(end). depth: 0 for the document itself."""
        delimiters = _delimiters(self._lines, start, end, boundary, path, problems)
        spans, closed = _spans(delimiters, end)
        first = delimiters[0].line if delimiters else end
        if any(delimiter.is_end for delimiter in delimiters):
            _check_preamble(self._lines[start:first], start, path, problems)
        self._ignore(start, first, "stands before the first part")
        if not spans and not depth:
            self.part_problems.add("mime.no_part", path, "is a MIME document without a part", fix="add a part or remove it")
        for index, (begin, stop) in enumerate(spans):
            if len(self.parts) >= MAX_PARTS or depth > MAX_NESTING:
                limit = f"more than {MAX_PARTS:,} parts" if len(self.parts) >= MAX_PARTS else f"more than {MAX_NESTING} nested documents"
                self.part_problems.add("mime.too_complex", self._path, f"has {limit}")
                self._ignore(begin, end, "is beyond the limits of this reader")
                return
            self._part(begin, stop, f"{path}.parts[{index}]".removeprefix("."), depth)
        if closed is not None:
            self._ignore(closed + 1, end, "stands after the closing delimiter")

    def _part(self, start: int, end: int, path: str, depth: int) -> None:
        problems = Problems()
        lines = self._lines[start:end]
        headers, at = _headers(lines, f"{path} (from line {start + 1})", problems)
        part = _part_of(headers, lines[at:])
        # A nested document is not one of the found parts, so only the message can tell its place.
        line = f" (line {start + 1})" if part.media_type.startswith(_NESTED) else ""
        if not len(problems) and _check_headers(headers, part, path, line, problems):
            _check_use(part, path, line, problems)
        if not len(problems):
            self.accepted.append(part)
        (self.nested_problems if depth else self.part_problems).extend(problems)
        if _is_multipart(headers):
            if (boundary := _boundary_of_email(headers)) is None:
                self._ignore(start + at, end, "belongs to no part, because the nested document has no boundary")
            else:
                self._multipart(start + at, end, boundary, path, Problems(), depth + 1)
            return
        self._keep(part, start + at, end, path)
        swallowed = next((number for number, line in enumerate(lines[:at]) if _LIKE_A_DOCUMENT.match(line)), at)
        self._ignore(start + swallowed, start + at, "is taken for headers of the part")


def _has_usable_line_ends(text: str) -> bool:
    """Whether CRLF makes no difference to both readers. Terraform's cloudinit provider, for example, ends the first line with LF.

    Go takes the line end of the first delimiter line for all delimiters, and expects it in front of each of them, too.
    """
    if "\r\n" not in text or text.count("\r\n") != text.count("\r"):
        return False
    boundary = _ANY_BOUNDARY.search(text)
    if boundary is None or text.count("\r\n") == text.count("\n"):
        return text.count("\r\n") == text.count("\n")
    lines = text.split("\n")
    delimiters = [number for number, line in enumerate(lines) if line.startswith(f"--{boundary[1]}")]
    ends = [lines[number].endswith("\r") for number in delimiters if number < len(lines) - 1]
    ends += [lines[number - 1].endswith("\r") for number in delimiters[1:]]
    return len(set(ends)) == 1


def _headers(lines: list[str], path: str, problems: Problems) -> tuple[list[tuple[str, str]], int]:
    """The headers up to the blank line, folded ones joined, and the line behind it.

    If they are broken, report the first defect, and return what Python's email makes of them.
    """
    found: list[tuple[str, list[str]]] = []
    is_broken = False
    at = len(lines)
    for number, line in enumerate(lines):
        if line == "" or (is_broken and line == "\r"):
            at = number + 1
            break
        if line[0] in " \t" and found and line.strip():
            found[-1][1].append(line.strip())
            continue
        header = _HEADER.fullmatch(line)
        if header is not None and HEADER_VALUE.fullmatch(header[2]) and not _LIKE_A_DOCUMENT.match(line):
            found.append((header[1], [header[2].strip(" \t")]))
            continue
        if not is_broken:
            problems.add(
                "mime.invalid_header",
                path,
                f"line {number + 1} is not a header",
                value=line,
                fix="add an empty line after the headers, and remove spaces before colons",
            )
        is_broken = True
        if not _HEADER_OF_EMAIL.match(line):
            at = number
            break
        name, _colon, value = line.partition(":")
        found.append((name, [value.strip()]))
    else:
        if not is_broken:
            problems.add("mime.invalid_header", path, "has no empty line after its headers", fix="add an empty line after the headers")
    return [(name, " ".join(values)) for name, values in found], at


def _part_of(headers: list[tuple[str, str]], lines: list[str]) -> Part:
    types = [value for name, value in headers if name.lower() == "content-type"]
    others = tuple((name, value) for name, value in headers if name.lower() != "content-type")
    return Part(types[0] if types else "text/plain", "\n".join(lines), others)


def _is_multipart(headers: list[tuple[str, str]]) -> bool:
    return _part_of(headers, []).media_type.startswith("multipart/")


def _boundary_of_email(headers: list[tuple[str, str]]) -> str | None:
    """The boundary as Python's email reads it, which is more lenient than nodeadm."""
    from email.errors import MessageError
    from email.message import Message

    content_type = _part_of(headers, []).content_type
    if len(content_type) > _LONGEST_CONTENT_TYPE:
        return None
    message = Message()
    message["content-type"] = " ".join(content_type.split())
    try:
        return message.get_boundary() or None
    except (MessageError, LookupError, ValueError, TypeError, AttributeError):
        # Parameters of RFC 2231 with a wrong encoding.
        return None


def _boundary(headers: list[tuple[str, str]], text: str, path: str, problems: Problems) -> str | None:
    """The boundary in the headers of the document, or None with a problem."""
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


@dataclass(frozen=True)
class _Delimiter:
    line: int
    is_end: bool


def _delimiters(lines: list[str], start: int, end: int, boundary: str, path: str, problems: Problems) -> list[_Delimiter]:
    """The lines that separate parts. What is wrong with them is a problem."""
    delimiter = f"--{boundary}"
    found: list[_Delimiter] = []
    closed: int | None = None
    for number in range(start, end):
        line = lines[number]
        if not line.startswith(delimiter):
            continue
        rest = line[len(delimiter) :].rstrip(" \t")
        if closed is None and rest not in ("", "--"):
            problems.add(
                "mime.invalid_boundary",
                path,
                f"line {number + 1} begins with the boundary, so nodeadm refuses the document",
                value=line,
                fix="choose another boundary",
            )
        rest = rest.removesuffix("\r")
        if rest in ("", "--"):
            found.append(_Delimiter(number, rest == "--"))
        if rest == "--" and closed is None:
            closed = number
    if closed is None:
        problems.add(
            "mime.missing_end",
            path,
            "does not end with the closing delimiter, so nodeadm refuses it",
            fix=f"end with the line {delimiter}--",
        )
    elif any(line.strip() for line in lines[closed + 1 : end]):
        problems.add(
            "mime.text_after_end",
            path,
            f"continues after the closing delimiter in line {closed + 1}; cloud-init and nodeadm silently ignore the rest",
            fix=f"write {delimiter} between parts and {delimiter}-- only at the end",
        )
    return found


def _spans(delimiters: list[_Delimiter], end: int) -> tuple[list[tuple[int, int]], int | None]:
    """First and last line (the last excluded) of every part, and the line of the closing delimiter.

    As in Python's email, delimiters that follow each other count as one, also if the second one is a closing delimiter.
    """
    found: list[tuple[int, int]] = []
    before = -1
    for number, delimiter in enumerate(delimiters):
        follows = before >= 0 and delimiter.line == before + 1
        if delimiter.is_end and not follows:
            return found, delimiter.line
        if follows:
            found.pop()
        stop = delimiters[number + 1].line if number + 1 < len(delimiters) else end
        found.append((delimiter.line + 1, stop))
        before = delimiter.line
    return found, None


def _check_preamble(preamble: list[str], start: int, path: str, problems: Problems) -> None:
    """Report text before the first part."""
    if classify("\n".join(preamble)) not in ("empty", "unknown"):
        problems.add(
            "mime.text_before_parts",
            path,
            f"contains text before its first part, line {start + 1}, which no program reads",
            fix="put it into a part",
        )
    elif any(len(line) >= _LONGEST_PREAMBLE_LINE for line in preamble):
        problems.add("mime.text_before_parts", path, "contains a line before its first part that is too long for nodeadm", fix="remove it")


def _check_headers(headers: list[tuple[str, str]], part: Part, path: str, line: str, problems: Problems) -> bool:
    """Report headers of a part that the two readers take differently. line: for messages. Returns whether they are valid."""
    names = [name.lower() for name, _unused in headers]
    if names.count("content-type") > 1 or names.count("content-transfer-encoding") > 1:
        problems.add(
            "mime.repeated_header",
            path,
            f"has a duplicate header{line}; only the first one is used",
            fix="keep one Content-Type and one Content-Transfer-Encoding",
        )
        return False
    if _media(part.content_type) is None:
        problems.add(
            "mime.invalid_content_type",
            path,
            f"has a Content-Type{line} that nodeadm cannot parse, so it refuses the whole document",
            value=part.content_type,
        )
        return False
    return True


def _check_use(part: Part, path: str, line: str, problems: Problems) -> None:
    """Report a part that no program on the node runs, or that would be changed. line: for messages."""
    kind = part.media_type
    if kind.startswith(_NESTED):
        problems.add(
            "mime.nested_document",
            path,
            f"is a nested document{line}, which nodeadm does not read",
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
        # Nothing is lost with an empty part. Tools write one for a list of commands without an item, or for two delimiters in a row.
        if text.strip() and not text.startswith("#!") and (kind in _NEEDS_SHEBANG or not text.lstrip().lower().startswith(_STARTS)):
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

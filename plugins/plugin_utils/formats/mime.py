# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""MIME multipart user data that cloud-init (Python's email) and nodeadm (Go's mime/multipart) parse in the same way.

Both read the same bytes on Amazon Linux 2023, and disagree about several inputs. Written is what both give back byte for
byte; read is only what both accept, everything else is a problem with its cure (cloud-init 22.4, nodeadm of July 2026).
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import Problems, shown
from .compression import unpack
from .read_once import read_once
from .user_data_kind import classify

NODE_CONFIG = "application/node.eks.aws"
SHELL = "text/x-shellscript"
CLOUD_CONFIG = "text/cloud-config"

_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_HEADER_NAME = re.compile(_TOKEN)
_HEADER = re.compile(rf"({_TOKEN}):(.*)")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e]*")
_MEDIA_TYPE = re.compile(rf"({_TOKEN}/{_TOKEN})[ \t]*((?:;[ \t]*{_TOKEN}=(?:{_TOKEN}|\"(?:[^\"\\]|\\.)*\")[ \t]*)*);?[ \t]*")
_PARAMETER = re.compile(rf";[ \t]*({_TOKEN})=({_TOKEN}|\"(?:[^\"\\]|\\.)*\")")
_CHARSET = re.compile(r";[ \t]*charset[ \t]*=[ \t]*(?:\"[^\"]*\"|[^;\s]*)[ \t]*", re.IGNORECASE)
_BOUNDARY = re.compile(r"[0-9A-Za-z'()+_,./:=?-](?:[0-9A-Za-z'()+_,./:=? -]{0,68}[0-9A-Za-z'()+_,./:=?-])?")

# Anything else than visible ASCII, blanks, tabs and line feeds is written as base64: email ends a line at a lone carriage
# return, and cloud-init misreads text beyond ASCII that is not encoded.
_NOT_PLAIN = re.compile(r"[^\t\n\x20-\x7e]")
_BROKEN_QUOTED_PRINTABLE = re.compile(r"=(?![0-9A-Fa-f]{2}|[ \t]*$)", re.MULTILINE)

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
_GZIPPED = frozenset(
    f"application/{name}"
    for name in ("gzip", "gzip-compressed", "gzipped", "x-compress", "x-compressed", "x-gunzip", "x-gzip", "x-gzip-compressed")
)
_STARTS = ("#cloud-config", "#cloud-boothook", "#include", "#part-handler", "#upstart-job", "## template: jinja")
_LONGEST_PREAMBLE_LINE = 4000
_MIME_VERSION_WITHIN = 4096


@dataclass(frozen=True)
class Part:
    """One part. content_type: with its parameters. body: as in the document, so it is encoded when C(headers) hold a
    Content-Transfer-Encoding of base64 or quoted-printable (see C(decoded)). headers: all others, in order.
    """

    content_type: str
    body: str
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def media_type(self) -> str:
        """The content type in lower case, without parameters."""
        return self.content_type.partition(";")[0].strip().lower()

    @property
    def transfer_encoding(self) -> str:
        """C(base64), C(quoted-printable), or C('') for text without encoding."""
        for name, value in self.headers:
            if name.lower() == "content-transfer-encoding":
                lowered = value.strip().lower()
                return "" if lowered in ("7bit", "8bit", "binary") else lowered
        return ""


def write(parts: Sequence[Part]) -> str:
    """A multipart/mixed document with LF line ends. Both parsers return its parts byte for byte. It is as short as possible.

    Text that is not plain ASCII is written as base64, with its charset in the part's one Content-Type. The boundary is the
    first of C(=_), C(=_0), C(=_1) … that occurs in no part, encoded or decoded. Raises C(SpecError) for what cannot be
    written: lone surrogates, invalid headers, nested multiparts.
    """
    problems = Problems()
    blocks: list[str] = []
    plain: list[str] = []
    for index, part in enumerate(parts):
        try:
            block = _block(part, plain)
        except _Unwritable as error:
            problems.add("mime.unwritable_part", f"parts[{index}]", str(error), fix=error.fix)
            continue
        blocks.append(block)
    problems.raise_any()
    everything = "\n".join(blocks + plain) if plain else "\n".join(blocks)
    boundary, number = "=_", 0
    while boundary in everything:
        boundary, number = f"=_{number}", number + 1
    head = f'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="{boundary}"\n'
    return "".join([head, *(f"\n--{boundary}\n{block}" for block in blocks), f"\n--{boundary}--\n"])


class _Unwritable(ValueError):
    def __init__(self, message: str, fix: str | None = None) -> None:
        super().__init__(message)
        self.fix = fix


def _block(part: Part, plain: list[str]) -> str:
    """Headers, blank line and body of one part. C(plain) gets the text behind every encoded body."""
    media = _MEDIA_TYPE.fullmatch(part.content_type)
    if media is None:
        raise _Unwritable(f"the content type {shown(part.content_type)} is invalid", "write it as type/subtype, such as text/x-shellscript")
    if part.content_type.lower().startswith(("multipart/", "message/")):
        raise _Unwritable("is a nested document, which nodeadm does not read", "put its parts into the outer document")
    encoding = part.transfer_encoding
    content_type, body, headers = part.content_type, part.body, part.headers
    if encoding or _NOT_PLAIN.search(body):
        raw = _raw(part)
        plain.append(raw.decode("utf-8", "replace"))
        if _NOT_PLAIN.search(body):
            body = base64.b64encode(raw).decode("ascii")
            headers = (
                *(pair for pair in headers if pair[0].lower() != "content-transfer-encoding"),
                ("Content-Transfer-Encoding", "base64"),
            )
            if media[1].lower().startswith("text/") and not encoding:
                content_type = f"{_CHARSET.sub('', content_type)}; charset=utf-8"
    lines = [f"Content-Type: {content_type}\n"]
    for name, value in headers:
        if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
            raise _Unwritable(f"the header {shown(name)} is invalid, or its value contains line breaks or characters beyond ASCII")
        lines.append(f"{name}: {value}\n")
    return f"{''.join(lines)}\n{body}"


def _raw(part: Part) -> bytes:
    """The bytes of the part after decoding its transfer encoding."""
    try:
        data = part.body.encode("utf-8")
    except UnicodeEncodeError as error:
        raise _Unwritable("contains a lone surrogate, which UTF-8 cannot represent") from error
    if part.transfer_encoding == "":
        return data
    if part.transfer_encoding == "quoted-printable":
        if _BROKEN_QUOTED_PRINTABLE.search(part.body):
            raise _Unwritable("is not quoted-printable text", "write an equals sign as =3D")
        return binascii.a2b_qp(data)
    if part.transfer_encoding != "base64":
        message = f"has the transfer encoding {shown(part.transfer_encoding)}, which nodeadm or cloud-init cannot decode"
        raise _Unwritable(message, "use base64")
    try:
        return base64.b64decode(b"".join(data.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise _Unwritable("has the transfer encoding base64, but cannot be decoded", "encode the part again") from error


def decoded(part: Part, path: str, problems: Problems) -> str:
    """The text of a part as its consumer sees it: with the transfer encoding decoded, and decompressed if the consumer does so.

    What cannot be decoded is a problem, and the result is C('').
    """
    before = len(problems)
    try:
        # nodeadm supports only the transfer encoding quoted-printable. It detects base64 and gzip from the content.
        sniffed = part.media_type == NODE_CONFIG and part.transfer_encoding != "quoted-printable"
        raw = part.body.encode("utf-8") if sniffed else _raw(part)
    except _Unwritable as error:
        problems.add("mime.unreadable_part", path, str(error), fix=error.fix)
        return ""
    except UnicodeEncodeError:
        problems.add("mime.unwritable_part", path, "contains a lone surrogate, which UTF-8 cannot represent")
        return ""
    if part.media_type == NODE_CONFIG or part.media_type in _GZIPPED:
        text = unpack(raw, path, problems)
        return text if len(problems) == before else ""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        problems.add("mime.unreadable_part", path, "is not UTF-8 text", fix="gzip belongs into a part of type application/gzip")
        return ""


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
        if header is None or not _HEADER_VALUE.fullmatch(header[2]) or header[1].lower() in ("apiversion", "kind"):
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
    match = _MEDIA_TYPE.fullmatch(value)
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
    elif kind in _SNIFFED or kind in _NEEDS_SHEBANG or kind in _GZIPPED:
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

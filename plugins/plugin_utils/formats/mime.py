# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""MIME multipart user data, written so that cloud-init (Python's email) and nodeadm (Go's mime/multipart) parse it in the same way.

Both read the same bytes on Amazon Linux 2023, and disagree about several inputs. What is written here, both return byte for byte
(cloud-init 22.4, nodeadm of July 2026). C(mime_reader) reads such documents.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import Problems, shown
from .compression import unwrap

NODE_CONFIG = "application/node.eks.aws"
SHELL = "text/x-shellscript"
CLOUD_CONFIG = "text/cloud-config"

TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_HEADER_NAME = re.compile(TOKEN)
HEADER_VALUE = re.compile(r"[\t\x20-\x7e]*")
MEDIA_TYPE = re.compile(rf"({TOKEN}/{TOKEN})[ \t]*((?:;[ \t]*{TOKEN}=(?:{TOKEN}|\"(?:[^\"\\]|\\.)*\")[ \t]*)*);?[ \t]*")
_CHARSET = re.compile(r";[ \t]*charset[ \t]*=[ \t]*(?:\"[^\"]*\"|[^;\s]*)[ \t]*", re.IGNORECASE)

# Anything else than visible ASCII, blanks, tabs and line feeds is written as base64: email ends a line at a lone carriage
# return, and cloud-init misreads text beyond ASCII that is not encoded.
_NOT_PLAIN = re.compile(r"[^\t\n\x20-\x7e]")
_BROKEN_QUOTED_PRINTABLE = re.compile(r"=(?![0-9A-Fa-f]{2}|[ \t]*$)", re.MULTILINE)

GZIPPED = frozenset(
    f"application/{name}"
    for name in ("gzip", "gzip-compressed", "gzipped", "x-compress", "x-compressed", "x-gunzip", "x-gzip", "x-gzip-compressed")
)


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
    media = MEDIA_TYPE.fullmatch(part.content_type)
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
        if not _HEADER_NAME.fullmatch(name) or not HEADER_VALUE.fullmatch(value):
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
    return unwrapped(part, path, problems)[0]


def unwrapped(part: Part, path: str, problems: Problems) -> tuple[str, tuple[str, ...]]:
    """The same as C(decoded), with the encodings around the text, outermost first."""
    before = len(problems)
    # nodeadm supports only the transfer encoding quoted-printable. It detects base64 and gzip from the content.
    sniffed = part.media_type == NODE_CONFIG and part.transfer_encoding != "quoted-printable"
    encodings = () if sniffed else tuple(filter(None, [part.transfer_encoding]))
    try:
        raw = part.body.encode("utf-8") if sniffed else _raw(part)
    except _Unwritable as error:
        problems.add("mime.unreadable_part", path, str(error), fix=error.fix)
        return "", encodings
    except UnicodeEncodeError:
        problems.add("mime.unwritable_part", path, "contains a lone surrogate, which UTF-8 cannot represent")
        return "", encodings
    if part.media_type == NODE_CONFIG or part.media_type in GZIPPED:
        found = unwrap(raw, path, problems)
        return found.text if len(problems) == before else "", (*encodings, *found.layers)
    try:
        return raw.decode("utf-8"), encodings
    except UnicodeDecodeError:
        problems.add("mime.unreadable_part", path, "is not UTF-8 text", fix="gzip belongs into a part of type application/gzip")
        return "", encodings

# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds the NodeConfigs in user data and files in the same way as nodeadm (amazon-eks-ami, July 2026).

nodeadm parses MIME with Go's net/mail, mime and mime/multipart. They reject input that Python's email accepts: a blank before
the colon of a header, an unquoted boundary with a slash, a missing last boundary. This module implements the rules of the Go
packages for the parts of MIME that nodeadm uses.
"""

from __future__ import annotations

import binascii
import quopri
import re
from collections.abc import Mapping
from typing import Any

from .encoding import GzipError, unwrap
from .merge import merge
from .read import NodeConfigError, parse

CONTENT_TYPE = "application/node.eks.aws"
_DROP_IN_SUFFIXES = (".yaml", ".yml", ".json")

_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_MEDIA_TYPE = re.compile(rf"\s*({_TOKEN}(?:/{_TOKEN})?)\s*")
_PARAMETER = re.compile(rf"\s*;\s*({_TOKEN})\s*=\s*(?:({_TOKEN})|\"((?:[^\"\\\r\n]|\\.)*)\")\s*")
_HEADER_NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")

Headers = dict[str, str]


def node_configs(data: bytes, *, user_data: bool = True) -> list[dict[str, Any]]:
    """All NodeConfigs in C(data), in document order, as results of C(read.parse). Arguments and errors are those of C(documents)."""
    return [parse(text) for text in documents(data, user_data=user_data)]


def documents(data: bytes, *, user_data: bool = True) -> list[str]:
    """The texts in C(data) that nodeadm decodes as NodeConfigs, in order.

    user_data: True for the user data of an instance, which nodeadm decodes from base64 and gzip; False for a file in
    C(/etc/eks/nodeadm.d), which it does not decode. Raises C(NodeConfigError). If it is C(fatal), nodeadm stops.
    Otherwise nodeadm logs a warning and ignores this user data.
    """
    content = _unwrapped(data) if user_data else data
    parts = _multipart(content)
    if parts is None:
        return [_text(content)]
    found = []
    for headers, body in parts:
        kind = headers.get("content-type", "")
        if not kind:
            continue
        media_type, _unused = _parsed(kind)
        if media_type is None:
            raise NodeConfigError(f"the Content-Type {kind!r:.80} of a part cannot be read", fatal=True)
        if media_type == CONTENT_TYPE:
            found.append(_text(_unwrapped(body)))
    if not found:
        raise NodeConfigError(f"no part has the Content-Type {CONTENT_TYPE}")
    return found


def effective(user_data: bytes, drop_ins: Mapping[str, bytes] | None = None) -> dict[str, Any]:
    """The merged NodeConfig that nodeadm gets from user data and the files of C(/etc/eks/nodeadm.d), by name.

    Raises C(NodeConfigError) if nodeadm fails. Input that nodeadm ignores with a warning is ignored.
    """
    configs: list[dict[str, Any]] = []
    ignored: NodeConfigError | None = None
    try:
        configs.append(merge(node_configs(user_data)))
    except NodeConfigError as error:
        if error.fatal:
            raise
        ignored = error
    for name, data in sorted((drop_ins or {}).items()):
        if name.lower().endswith(_DROP_IN_SUFFIXES):
            try:
                configs.append(merge(node_configs(data, user_data=False)))
            except NodeConfigError as error:
                raise NodeConfigError(f"{name}: {error}", fatal=True) from error
    if not configs:
        raise NodeConfigError(f"nodeadm finds no NodeConfig: the user data {ignored}", fatal=True)
    return merge(configs)


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NodeConfigError(f"is not UTF-8: {error}") from error


def _unwrapped(data: bytes) -> bytes:
    try:
        return unwrap(data)
    except GzipError as error:
        raise NodeConfigError(str(error), fatal=True) from error


def _multipart(content: bytes) -> list[tuple[Headers, bytes]] | None:
    """The parts of a MIME multipart document, or None if nodeadm does not treat C(content) as MIME."""
    found = _headers(content)
    if isinstance(found, str):
        return None
    headers, body = found
    media_type, parameters = _parsed(headers.get("content-type", ""))
    if media_type is None or not media_type.startswith("multipart/"):
        return None
    boundary = parameters.get("boundary", "")
    if not boundary:
        raise NodeConfigError("the multipart document names no boundary", fatal=True)
    return _parts(body, boundary.encode())


def _headers(content: bytes) -> tuple[Headers, bytes] | str:
    """The header fields by lower-case name (the first of several) and the text after them, or the problem."""
    fields: list[list[bytes]] = []
    rest = content
    while True:
        line, newline, rest = rest.partition(b"\n")
        line = line.removesuffix(b"\r")
        if not line and newline:
            break
        if not newline:
            return "the headers do not end"
        if line[:1] in b" \t":
            if not fields:
                return "the first header begins with white space"
            fields[-1][1] += b" " + line.strip()
            continue
        name, colon, value = line.partition(b":")
        if not colon:
            return f"a header has no colon: {line[:60]!r}"
        if not _HEADER_NAME.fullmatch(name):
            return f"this is not the name of a header: {name[:60]!r}"
        fields.append([name.lower(), value.strip()])
    return {name.decode(): value.decode("latin-1").strip() for name, value in reversed(fields)}, rest


def _parsed(value: str) -> tuple[str | None, dict[str, str]]:
    """The media type in lower case and the parameters of a Content-Type, or None if Go's mime package rejects it."""
    match = _MEDIA_TYPE.match(value)
    if match is None:
        return None, {}
    media_type, at = match[1].lower(), match.end()
    parameters: dict[str, str] = {}
    while at < len(value):
        parameter = _PARAMETER.match(value, at)
        if parameter is None:
            return (media_type, parameters) if value[at:].strip() == ";" else (None, {})
        name = parameter[1].lower()
        text = parameter[2] if parameter[2] is not None else re.sub(r"\\([\"\\])", r"\1", parameter[3])
        if parameters.setdefault(name, text) != text:
            return None, {}
        at = parameter.end()
    return media_type, parameters


def _parts(body: bytes, boundary: bytes) -> list[tuple[Headers, bytes]]:
    """The parts between boundary lines. The line end after the first boundary decides which one separates parts."""
    dashes = b"--" + boundary
    opening = re.compile(rb"^" + re.escape(dashes) + rb"[ \t]*(\r?\n)", re.MULTILINE).search(body)
    closing = re.compile(rb"^" + re.escape(dashes) + rb"--[ \t]*\r?(?:\n|\Z)", re.MULTILINE)
    if opening is None:
        if closing.search(body):
            return []
        raise NodeConfigError("the boundary that the header names occurs nowhere", fatal=True)
    newline = opening[1]
    # A line that begins with the boundary and a blank or two dashes ends the part, whatever follows.
    border = re.compile(newline + re.escape(dashes) + rb"(?=[ \t\r\n]|--)")
    parts = []
    at = opening.end()
    while True:
        # Headers are read first. They continue past a boundary if no blank line ends them.
        found = _headers(body[at:])
        if isinstance(found, str):
            raise NodeConfigError(f"a part cannot be read: {found}", fatal=True)
        headers, rest = found
        at = len(body) - len(rest)
        # An empty part: its boundary follows directly, and the line break before it belongs to the headers.
        end = border.search(body, at - len(newline) if rest.startswith(dashes) else at)
        if end is None:
            raise NodeConfigError("the last part is not closed by a boundary", fatal=True)
        parts.append((headers, _decoded(headers, body[at : max(end.start(), at)])))
        line, _unused, _unused = body[end.end() :].partition(b"\n")
        if line.removesuffix(b"\r").rstrip(b" \t") == b"--":
            return parts
        if line.strip(b" \t\r"):
            raise NodeConfigError(f"a line begins with the boundary and has more text: {line[:60]!r}", fatal=True)
        at = end.end() + len(line) + 1


def _decoded(headers: Headers, body: bytes) -> bytes:
    if headers.get("content-transfer-encoding", "").lower() != "quoted-printable":
        return body
    try:
        return quopri.decodestring(body)
    except (binascii.Error, ValueError) as error:
        raise NodeConfigError(f"a part is not quoted-printable: {error}", fatal=True) from error

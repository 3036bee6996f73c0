# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""gzip and base64 for EC2 user data. Encoding is deterministic, and decoding is limited in size."""

from __future__ import annotations

import base64
import binascii
import re
import struct
import zlib
from dataclasses import dataclass
from typing import Literal

from ..errors import Problems

LIMIT = 16384
"""Bytes of user data that EC2 stores: counted after gzip and before base64 (Amazon EC2 user guide)."""

MAX_UNPACKED = 64 * LIMIT
"""The limit of decompressed user data in bytes."""

_GZIP_MAGIC = b"\x1f\x8b"
_CHUNK = 4096
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")
_SHORTEST_BROKEN_BASE64 = 40
"""Shorter words of base64 characters that cannot be decoded are treated as plain text, not as damaged base64."""


def gzip_bytes(data: bytes) -> bytes:
    """One gzip member: level 9, no name, modification time 0, operating system "unknown", so the same bytes every time."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    body = packer.compress(data) + packer.flush()
    header = _GZIP_MAGIC + b"\x08\x00\x00\x00\x00\x00\x02\xff"
    return header + body + struct.pack("<II", zlib.crc32(data), len(data) & 0xFFFFFFFF)


Layer = Literal["base64", "gzip"]


@dataclass(frozen=True)
class Unpacked:
    """text: C('') if the data cannot be decoded. layers: what stood around it, outermost first."""

    text: str
    layers: tuple[Layer, ...] = ()


def unpack(data: str | bytes, path: str, problems: Problems) -> str:
    """User data as text: plain, base64, gzip or base64 of gzip. If it cannot be decoded, report a problem and return C('').

    path: its place in the user's input. Each layer is decoded once, as the consumers on a node do.
    """
    return unwrap(data, path, problems).text


def unwrap(data: str | bytes, path: str, problems: Problems) -> Unpacked:
    """The same as C(unpack), with the layers."""
    layers: list[Layer] = []
    return Unpacked(_unwrap(data, layers, path, problems), tuple(layers))


def _unwrap(data: str | bytes, layers: list[Layer], path: str, problems: Problems) -> str:
    if isinstance(data, str):
        if "\x1f\x8b" in data[:2]:
            return _refuse(problems, path, "is raw gzip in a string, which does not survive as text", "pass it as base64 of gzip")
        try:
            raw = data.encode("utf-8")
        except UnicodeEncodeError:
            return _refuse(problems, path, "contains a lone surrogate, which UTF-8 cannot represent", "remove it")
    else:
        raw = data
    if not raw.startswith(_GZIP_MAGIC):
        decoded = _from_base64(raw)
        if isinstance(decoded, str):
            return _refuse(problems, path, decoded, "encode the text again")
        if decoded is not None:
            layers.append("base64")
            raw = decoded
    if raw.startswith(_GZIP_MAGIC):
        unzipped = _gunzip(raw)
        if isinstance(unzipped, str):
            return _refuse(problems, path, unzipped, "compress the text again")
        layers.append("gzip")
        raw = unzipped
    return _as_text(raw, bool(layers), path, problems)


def _as_text(raw: bytes, encoded: bool, path: str, problems: Problems) -> str:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return _refuse(problems, path, "is not UTF-8 text", "use text, base64, gzip or base64 of gzip")
    if text.startswith("\ufeff"):
        return _refuse(problems, path, "starts with a byte order mark, which cloud-init does not skip", "save the text without it")
    if "\0" in text:
        return _refuse(problems, path, "contains a NUL character", "use text, base64, gzip or base64 of gzip")
    if encoded and (raw.startswith(_GZIP_MAGIC) or isinstance(_from_base64(raw), bytes)):
        return _refuse(problems, path, "is encoded twice; a node decodes base64 and gzip only once", "encode it once")
    return text


def _from_base64(raw: bytes) -> bytes | str | None:
    """The decoded C(raw); None if it is not base64, or a message if the base64 is damaged."""
    try:
        word = "".join(raw.decode("ascii").split("\n"))
    except UnicodeDecodeError:
        return None
    word = word.replace("\r", "").strip(" \t")
    if not _BASE64.fullmatch(word):
        return None
    try:
        decoded = base64.b64decode(word, validate=True)
        if not decoded.startswith(_GZIP_MAGIC):
            decoded.decode("utf-8")
    except (binascii.Error, ValueError):
        return "looks like base64, but does not decode to text or gzip" if len(word) >= _SHORTEST_BROKEN_BASE64 else None
    return decoded


def _gunzip(raw: bytes) -> bytes | str:
    """The decompressed gzip members of C(raw), or a message."""
    out = bytearray()
    at = 0
    while at < len(raw):
        reader = zlib.decompressobj(31)
        while not reader.eof:
            if at >= len(raw):
                return "is gzip that ends too early"
            # Small chunks, because zlib copies the rest of the data after each member, and there may be thousands of members.
            chunk = raw[at : at + _CHUNK]
            try:
                out += reader.decompress(chunk, MAX_UNPACKED + 1 - len(out))
            except zlib.error:
                return "is damaged gzip"
            if len(out) > MAX_UNPACKED:
                return f"unpacks to more than {MAX_UNPACKED:,} bytes"
            at += len(chunk) - len(reader.unused_data)
    return bytes(out)


def _refuse(problems: Problems, path: str, message: str, fix: str) -> str:
    problems.add("user_data.unreadable", path, message, fix=fix)
    return ""

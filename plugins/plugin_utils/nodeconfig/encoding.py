# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decodes base64 and gzip like nodeadm: with the rules of Go's encoding/base64 and compress/gzip, each once, base64 first."""

from __future__ import annotations

import binascii
import gzip
import io
import re
import zlib

_BASE64 = re.compile(rb"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
_GZIP_MAGIC = b"\x1f\x8b"
_MOST_BYTES = 16 * 1024 * 1024
"""User data has at most 16 KiB. Data that decompresses to a thousand times as much is a zip bomb."""


class GzipError(ValueError):
    """Data with a gzip header that is not valid gzip."""


def decode_base64(data: bytes) -> bytes | None:
    """The decoded bytes, or None if C(data) is not standard padded base64. Line breaks are ignored."""
    joined = data.replace(b"\r", b"").replace(b"\n", b"")
    return binascii.a2b_base64(joined) if _BASE64.fullmatch(joined) else None


def unwrap(data: bytes) -> bytes:
    """C(data), decoded from base64 and decompressed from gzip if necessary. Raises C(GzipError)."""
    decoded = decode_base64(data)
    return gunzip(data if decoded is None else decoded)


def gunzip(data: bytes) -> bytes:
    """C(data), decompressed if it has a gzip header. Raises C(GzipError)."""
    if not data.startswith(_GZIP_MAGIC):
        return data
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            unpacked = stream.read(_MOST_BYTES + 1)
    except (EOFError, OSError, zlib.error) as error:
        raise GzipError(f"the gzip is incomplete: {error}") from error
    if len(unpacked) > _MOST_BYTES:
        raise GzipError(f"this unpacks to more than {_MOST_BYTES} bytes")
    return unpacked

# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks the tools that an admin machine gets: their names, versions, checksums and places."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from ..errors import Problems, joined, nearest
from .preflight_tools import TOOLS

NAMES = tuple(tool.name for tool in TOOLS if tool.name != "docker")
"""The tools that can be installed. Docker comes from the distribution."""

ARCHIVES = (".tar.gz", ".tgz", ".tar.xz", ".tar")
_OLDEST = {tool.name: tool.oldest for tool in TOOLS if tool.name in NAMES}
_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)
_VERSION = re.compile(r"v?(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)", re.ASCII)
_SCHEMES = ("file", "http", "https")
_PRINTABLE = re.compile(r"[^\x00-\x1f\x7f]+")


@dataclass(frozen=True)
class ToolSource:
    """A program with its checksum: C(url), or C(path) on the controller. version: what it must say, without C(v).

    member: its path in the archive; None if the archive has one file with the name of the tool, or if there is no archive.
    """

    name: str
    version: str
    sha256: str
    url: str | None
    path: str | None
    member: str | None


def check_tools(rows: Sequence[Mapping[str, Any]], path: str, problems: Problems) -> tuple[ToolSource, ...]:
    """The tools of a list. Reports what is wrong with each of them."""
    found: list[ToolSource] = []
    first: dict[str, int] = {}
    for index, row in enumerate(rows):
        below = joined(path, index)
        name = row.get("name") or ""
        if not problems.touches(joined(below, "name")):
            _check_name(name, below, first.setdefault(name, index) != index, problems)
        version = _version(name, row.get("version") or "", joined(below, "version"), problems)
        sha256 = _digest(row.get("sha256") or "", joined(below, "sha256"), problems)
        _check_place(row, below, problems)
        found.append(ToolSource(name, version, sha256, row.get("url"), row.get("path"), row.get("member")))
    return tuple(found)


def _check_name(name: str, path: str, is_second: bool, problems: Problems) -> None:
    place = joined(path, "name")
    if name not in NAMES:
        message = "comes from the distribution" if name == "docker" else "is not a tool of an admin machine"
        problems.add("anywhere.admin_machine", place, message, value=name, allowed=", ".join(NAMES), nearest=nearest(name, NAMES))
    elif is_second:
        problems.add("anywhere.admin_machine", place, "is there twice", value=name, fix="remove one of the two")


def _version(name: str, text: str, path: str, problems: Problems) -> str:
    match = _VERSION.fullmatch(text)
    if match is None:
        if not problems.touches(path):
            allowed = "three numbers, such as 0.33.0, as the tool prints them"
            problems.add("anywhere.admin_machine", path, "is not the version of a tool", value=text, allowed=allowed)
        return ""
    numbers = tuple(int(part) for part in match.groups())
    oldest = _OLDEST.get(name)
    if oldest is not None and numbers < oldest:
        allowed = f"{'.'.join(map(str, oldest))} or newer"
        problems.add("anywhere.admin_machine", path, f"is too old for {name}", value=text, allowed=allowed)
    return text.removeprefix("v")


def _digest(text: str, path: str, problems: Problems) -> str:
    digest = text.lower().removeprefix("sha256:")
    if not _SHA256.fullmatch(digest) and not problems.touches(path):
        message = f"is not a SHA-256 checksum: it has {len(text)} characters" if len(digest) != 64 else "is not a SHA-256 checksum"
        allowed = "64 hexadecimal digits, as sha256sum prints them"
        problems.add("anywhere.admin_machine", path, message, value=text, allowed=allowed)
    return digest


def _check_place(row: Mapping[str, Any], path: str, problems: Problems) -> None:
    url, file = row.get("url"), row.get("path")
    if problems.touches(joined(path, "url")) or problems.touches(joined(path, "path")):
        return
    if url and file:
        problems.add("input.conflict", joined(path, "path"), "is set, and url is set, too", fix="remove one of the two")
    elif not url and not file:
        problems.add("input.missing_field", joined(path, "url"), "is required, or path", fix="add the URL, or the path on the controller")
    elif url:
        _check_url(url, joined(path, "url"), problems)
    elif not _PRINTABLE.fullmatch(str(file)):
        problems.add("anywhere.admin_machine", joined(path, "path"), "contains control characters", fix="correct the path")
    _check_member(row, str(url or file or ""), joined(path, "member"), problems)


def _check_url(url: str, path: str, problems: Problems) -> None:
    """Report what is not a plain URL. The value is not repeated, because it may contain a password."""
    try:
        parts = urlsplit(url)
        host, _unused = parts.hostname, parts.port
    except ValueError:
        parts, host = urlsplit(""), None
    has_place = bool(host) or (parts.scheme == "file" and parts.path.startswith("/"))
    if parts.scheme not in _SCHEMES or not has_place or not _PRINTABLE.fullmatch(url) or " " in url:
        problems.add("anywhere.url", path, "is not a URL", allowed="a URL with https://, http:// or file:///")
    elif "@" in parts.netloc or parts.query:
        message = "contains a password or a signature, which logs would show"
        fix = "download the file first, and use path"
        problems.add("anywhere.url", path, message, allowed="a URL without a user and without ?", fix=fix)


def _check_member(row: Mapping[str, Any], place: str, path: str, problems: Problems) -> None:
    member = row.get("member")
    if place.lower().endswith(".zip"):
        source = path.removesuffix("member") + ("url" if row.get("url") else "path")
        problems.add("anywhere.admin_machine", source, "is a ZIP archive", allowed="a program, or an archive with .tar.gz")
    if member and not place.lower().endswith(ARCHIVES):
        message = "is set, and the file is not an archive"
        problems.add("input.conflict", path, message, allowed=f"with a file that ends with {', '.join(ARCHIVES)}", fix="remove it")

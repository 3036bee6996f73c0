# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fetches files from URLs, and checks their sizes and digests.

A file gets its name only after it was checked, so an interrupted run leaves no wrong file.
"""

from __future__ import annotations

import errno
import hashlib
import http.client
import os
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any
from urllib.parse import urlsplit

from ..image import lock as locks
from ..network import public_url

Say = Callable[[str], None]
"""Shows a line of progress."""

_CHUNK = 1 << 20
_UNFINISHED = ".part"
"""The end of the name of a file that is being fetched. The name begins with a dot."""

_AGAIN = "run it again: files that are complete are not fetched again"


class DownloadFailed(Exception):
    """Why one file cannot be fetched. is_final: whether no other file can be fetched either."""

    def __init__(self, rule: str, message: str, fix: str, is_final: bool = False) -> None:
        super().__init__(message)
        self.rule, self.message, self.fix, self.is_final = rule, message, fix, is_final


@dataclass(frozen=True)
class Transfer:
    """Fetches files. timeout: seconds without data. Proxies are those of the environment."""

    timeout: int
    say: Say

    def store(self, url: str, path: str | None, sha256: str, size: int | None = None) -> int:
        """Fetch a file to C(path), or only read it. Returns its size. Raises C(DownloadFailed), and then C(path) did not change."""
        if path is None:
            return self._copy(url, None, sha256, size)
        temporary = os.path.join(os.path.dirname(path), f".{os.path.basename(path)}{_UNFINISHED}")
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(temporary, "wb") as target:
                found = self._copy(url, target, sha256, size)
            os.replace(temporary, path)
        except OSError as error:
            raise write_failure(error) from None
        finally:
            with suppress(OSError):
                os.unlink(temporary)
        return found

    def _copy(self, url: str, target: IO[bytes] | None, sha256: str, size: int | None) -> int:
        digest, count = hashlib.sha256(), 0
        for part in self._parts(url):
            digest.update(part)
            count += len(part)
            if size is not None and count > size:
                raise _wrong(f"at {_shown_url(url)} is longer than the {size} bytes of the lock")
            if target is not None:
                target.write(part)
        if size is not None and count < size:
            raise _cut_off(url, count, size)
        if digest.hexdigest() != sha256:
            raise _wrong(f"at {_shown_url(url)} has the digest {digest.hexdigest()}, not {sha256}")
        return count

    def _parts(self, url: str) -> Iterator[bytes]:
        """The content at a URL. Raises C(DownloadFailed)."""
        opener = urllib.request.build_opener()
        # Some servers refuse the usual name of urllib.
        opener.addheaders = [("User-Agent", "nodebootstrap.eks")]
        try:
            if "@" in urlsplit(url).netloc:
                raise _not_fetched(
                    url, "a lock cannot have a URL with a user name", "download the file, and use its path instead of the URL"
                )
            with opener.open(url, timeout=self.timeout) as answer:
                count = 0
                while part := answer.read(_CHUNK):
                    count += len(part)
                    yield part
                size = int(answer.headers.get("Content-Length") or count)
                if count < size:
                    raise _cut_off(url, count, size)
        except urllib.error.HTTPError as error:
            # The reason of the server, and that of a refused redirection, may contain a URL with a signature.
            status = f"HTTP {error.code} {http.client.responses.get(error.code, '')}".rstrip()
            raise _not_fetched(url, status, f"use a mirror that still has it, or {locks.MAKE_AGAIN}") from None
        except (http.client.InvalidURL, ValueError):
            # The text of the error may contain the whole URL, or the password of the proxy.
            raise _not_fetched(url, "the URL or the proxy is not valid") from None
        except (OSError, http.client.HTTPException) as error:
            cause: Any = getattr(error, "reason", error)
            raise _not_fetched(url, getattr(cause, "strerror", None) or cause) from None


def _not_fetched(url: str, cause: object, fix: str = f"check the URL, the network and the proxy, and {_AGAIN}") -> DownloadFailed:
    return DownloadFailed("lock.fetch_failed", f"cannot be fetched from {_shown_url(url)}: {cause}", fix)


def _cut_off(url: str, count: int, size: int) -> DownloadFailed:
    message = f"was cut off: {_shown_url(url)} sent {count} of {size} bytes"
    return DownloadFailed("lock.fetch_failed", message, f"check the mirror and the proxy, and {_AGAIN}")


def _wrong(message: str) -> DownloadFailed:
    return DownloadFailed("lock.wrong_content", message, f"check where the file comes from; if the change is intended, {locks.MAKE_AGAIN}")


def write_failure(error: OSError) -> DownloadFailed:
    """The failure of a file or folder that cannot be written."""
    is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    fix = "free some space, or use a folder on another disk" if is_full else "correct the permissions, or use another folder"
    return DownloadFailed("lock.unwritable_folder", f"cannot be written: {error.strerror or error}", fix, is_final=is_full)


def _shown_url(url: str) -> str:
    return public_url(url) or "an invalid URL"


def shown_size(size: int) -> str:
    """A number of bytes, as messages show it."""
    return f"{size / 1_000_000:.1f} MB"


def digest_of(path: str) -> str:
    """The SHA-256 digest of a file."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while part := file.read(_CHUNK):
            digest.update(part)
    return digest.hexdigest()


def is_unfinished(path: str) -> bool:
    """Whether a file has the name of a file that is being fetched."""
    name = os.path.basename(path)
    return name.startswith(".") and name.endswith(_UNFINISHED)

# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes an archive in memory. Standard library, Python 3.7 and newer."""

from __future__ import annotations

import gzip
import io
import tarfile
from typing import Mapping


def pack(entries: Mapping[str, bytes], folder: str) -> bytes:
    """A compressed archive of files in one folder. The same entries give the same bytes."""
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0) as packed, tarfile.open(fileobj=packed, mode="w") as archive:
        for place, content in sorted(entries.items()):
            entry = tarfile.TarInfo(f"{folder}/{place}")
            entry.size = len(content)
            entry.mode = 0o600
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()

# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Archives of container images, as C(docker save) writes them, and the question to containerd's CRI whether an image is pinned."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

STATUS_URL = "http://containerd/runtime.v1.ImageService/ImageStatus"


def _tar(files: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(content), 0o755
            archive.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def archive(names: Sequence[str], files: Mapping[str, bytes], command: Sequence[str] = (), machine: str = "amd64") -> bytes:
    """An archive with one image of one layer: its names, its files, and what it runs."""
    layer = _tar(files)
    digest = f"sha256:{hashlib.sha256(layer).hexdigest()}"
    runs = {"Entrypoint": list(command)} if command else {}
    config = json.dumps({"architecture": machine, "os": "linux", "config": runs, "rootfs": {"type": "layers", "diff_ids": [digest]}})
    manifest = json.dumps([{"Config": "config.json", "RepoTags": list(names), "Layers": ["layer.tar"]}])
    return _tar({"config.json": config.encode(), "layer.tar": layer, "manifest.json": manifest.encode()})


def content(name: str, text: str = "probe") -> bytes:
    """An archive with one image of one layer. C(text): the content of its one file."""
    return archive([name], {"probe": text.encode()})


def write(folder: Path, name: str, text: str = "probe", file: str = "image.tar", pinned: bool = True) -> dict[str, Any]:
    """Write an archive. Returns the image as in a plan."""
    packed = content(name, text)
    (folder / file).write_bytes(packed)
    return {"name": name, "file": file, "sha256": hashlib.sha256(packed).hexdigest(), "pinned": pinned}


def status_request(socket: str) -> list[str]:
    """The command that sends a request of CRI, on its standard input, to containerd."""
    words = ["curl", "-sS", "--http2-prior-knowledge", "--unix-socket", socket, "-m", "60"]
    return [*words, "-H", "Content-Type: application/grpc", "--data-binary", "@-", STATUS_URL]


def status_message(name: str) -> bytes:
    """The request for the status of an image."""
    spec = _field(1, name.encode())
    message = _field(1, spec)
    # gRPC: a byte that says "not compressed", the length, the message.
    return b"\0" + len(message).to_bytes(4, "big") + message


def is_pinned(answer: bytes) -> bool | None:
    """Whether CRI calls the image pinned. None if it does not know the image."""
    image = dict(_fields(answer[5:])).get(1)
    if not isinstance(image, bytes):
        return None
    return dict(_fields(image)).get(8) == 1


def _field(number: int, value: bytes) -> bytes:
    """A field of a protobuf message, for content that is shorter than 128 bytes."""
    return bytes([number << 3 | 2, len(value)]) + value


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a protobuf message that are numbers, texts or messages."""
    position = 0

    def number() -> int:
        nonlocal position
        value = shift = 0
        while True:
            byte = message[position]
            position += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while position < len(message):
        key = number()
        if key & 7 == 2:
            length = number()
            yield key >> 3, message[position : position + length]
            position += length
        else:
            yield key >> 3, number()

# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A registry and a proxy on the lab's network that record their requests, and a pull through containerd's CRI.

with Registry(lab.network.gateway) as mirror:
    … nodes that have mirror.url as mirror of docker.io …
    pull(node, "docker.io/library/probe:1"); mirror.seen      # ["10.0.1.5 HEAD /v2/library/probe/manifests/1?ns=docker.io", …]
"""

from __future__ import annotations

import hashlib
import http.server
import io
import json
import re
import tarfile
import threading
from types import TracebackType
from typing import Any

from .node import LabNode

#: Tag and name of the one image.
IMAGE = "library/probe:1"

_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_CONFIG = "application/vnd.oci.image.config.v1+json"
_LAYER = "application/vnd.oci.image.layer.v1.tar"


class Listener:
    """An HTTP server for a `with` block. `url` is its address; `seen` has a line for each request: CLIENT METHOD TARGET."""

    def __init__(self, address: str) -> None:
        self.seen: list[str] = []
        listener = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                listener.seen.append(f"{self.client_address[0]} {self.command} {self.path}")
                status, kind, body = listener.answer(self.path)
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                if kind == _MANIFEST:
                    self.send_header("Docker-Content-Digest", _digest(body))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

            do_GET = do_HEAD = do_CONNECT = answer

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer((address, 0), Handler)
        self.url = f"http://{address}:{self._server.server_port}"

    def answer(self, _target: str) -> tuple[int, str, bytes]:
        """Status, content type and body of an answer. This one refuses, like a proxy without a route."""
        return 502, "text/plain", b"the laboratory has no way out\n"

    def of(self, node: LabNode) -> list[str]:
        """The requests of this node: METHOD TARGET."""
        return [line.partition(" ")[2] for line in self.seen if line.startswith(f"{node.address} ")]

    def __enter__(self: Listener) -> Any:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()


class Registry(Listener):
    """A registry with one image, IMAGE: a layer with one file."""

    def answer(self, target: str) -> tuple[int, str, bytes]:
        kind, body = _CONTENT.get(target.partition("?")[0].rpartition("/")[2], ("", b""))
        return (200, kind, body) if body else (404, "application/json", b"{}")


def pull(node: LabNode, reference: str) -> str:
    """Have containerd pull an image as kubelet has it: by its CRI, so with the registries of its configuration. What it answers.

    The answer holds the image's digest, or the reason against it.
    """
    image = _field(_field(reference.encode()))
    words = [
        "curl", "-sS", "--http2-prior-knowledge", "--unix-socket", "/run/containerd/containerd.sock", "-D", "-", "-m", "60",
        "-H", "Content-Type: application/grpc", "--data-binary", "@-",
        "http://containerd/runtime.v1.ImageService/PullImage",
    ]  # fmt: skip
    # gRPC: a byte that says "not compressed", the length, the message.
    done = node.exec(words, b"\0" + len(image).to_bytes(4, "big") + image)
    return (done.stdout + done.stderr).decode(errors="replace")


def digest_of_image() -> str:
    """The answer of a complete pull."""
    config = next(body for kind, body in _CONTENT.values() if kind == _CONFIG)
    return _digest(config)


def _field(content: bytes) -> bytes:
    """Field 1 of a protobuf message, for content that is shorter than 128 bytes."""
    return b"\x0a" + bytes([len(content)]) + content


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _content() -> dict[str, tuple[str, bytes]]:
    """The content of the registry, by tag or digest."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("probe"))
    layer = packed.getvalue()
    config = json.dumps({"architecture": "amd64", "os": "linux", "config": {}, "rootfs": {"type": "layers", "diff_ids": [_digest(layer)]}})
    parts = [(_CONFIG, config.encode()), (_LAYER, layer)]
    descriptors = [{"mediaType": kind, "digest": _digest(body), "size": len(body)} for kind, body in parts]
    manifest = json.dumps({"schemaVersion": 2, "mediaType": _MANIFEST, "config": descriptors[0], "layers": descriptors[1:]}).encode()
    found = {_digest(body): (kind, body) for kind, body in [*parts, (_MANIFEST, manifest)]}
    return found | {re.split(":", IMAGE)[1]: (_MANIFEST, manifest)}


_CONTENT = _content()

# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A kubeconfig in a folder, a program that gets credentials, and the one who asks the API server with them."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.module_utils._join import api_answers as answers
from ansible_collections.nodebootstrap.eks.plugins.module_utils._join import api_client as apis
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.host import Machine
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.api_stand_in import NAME, TOKEN

V1BETA1, V1 = "client.authentication.k8s.io/v1beta1", "client.authentication.k8s.io/v1"
SECRET = "cAnArY-from-the-kubeconfig"


def program(folder: Path, text: str) -> str:
    """A program that gets credentials, in Python."""
    path = folder / "get-token"
    path.write_text(f"#!{sys.executable}\nimport json, os, sys, time\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def gives(version: str = V1BETA1, **fields: Any) -> str:
    credential = {"kind": "ExecCredential", "apiVersion": version, "status": {"token": TOKEN, **fields}}
    return f"print({json.dumps(credential)!r})"


class Asking:
    """A kubeconfig in a folder, and the one who asks with it."""

    def __init__(self, folder: Path, ca: Path | None) -> None:
        self.folder = folder
        self.cluster: dict[str, Any] = {"server": "https://127.0.0.1:1"}
        if ca is not None:
            self.cluster["certificate-authority"] = str(ca)
        self.user: dict[str, Any] = {"exec": {"apiVersion": V1BETA1, "command": program(folder, gives()), "args": ["-i", "demo"]}}
        self.environment = {"PATH": os.environ["PATH"]}
        self._api: Any = None

    def __call__(self, server: Any = None, limit: float = 5.0, again: bool = False, name: str = NAME) -> dict[str, Any]:
        if server is not None:
            self.cluster["server"] = server if isinstance(server, str) else server.url
        document = {
            "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
            "clusters": [{"name": "k", "cluster": self.cluster}],
            "users": [{"name": "u", "user": self.user}],
        }
        path = self.folder / "kubeconfig"
        path.write_text(json.dumps(document), encoding="utf-8")
        if not again:
            self._api = apis.Api(Machine(5.0), str(path), self.environment, limit)
        found: dict[str, Any] = self._api.ask(name)
        text = json.dumps(found)
        for secret in (TOKEN, SECRET, "cAnArY"):
            assert secret not in text
        return found


def cause(found: dict[str, Any], **seen: Any) -> Any:
    """The finding that follows, for a kubelet that said nothing."""
    kubelet = {"unit": "kubelet.service", "lines": [], "registers": True, "bootstraps": False}
    whole = {"api": found, "node": None, "kubelet": kubelet, "time": time.time(), "name": NAME, "instance": None, **seen}
    return answers.diagnose(whole)

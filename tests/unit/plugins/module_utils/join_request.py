# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A kubeconfig in a directory, a program that gets credentials, and a request to the API server with them."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.module_utils._join import api_client, api_diagnosis
from ansible_collections.nodebootstrap.eks.plugins.module_utils._join.model import (
    ApiResult,
    Evidence,
    Finding,
    Instance,
    Kubelet,
    KubeletProcess,
)
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.host import Host
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.api_stand_in import NAME, TOKEN

V1BETA1, V1 = "client.authentication.k8s.io/v1beta1", "client.authentication.k8s.io/v1"
SECRET = "cAnArY-from-the-kubeconfig"


def program(folder: Path, text: str) -> str:
    """A program that gets credentials, in Python."""
    path = folder / "get-token"
    path.write_text(f"#!{sys.executable}\nimport json, os, sys, time\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def prints(version: str = V1BETA1, **fields: Any) -> str:
    credential = {"kind": "ExecCredential", "apiVersion": version, "status": {"token": TOKEN, **fields}}
    return f"print({json.dumps(credential)!r})"


class Request:
    """A request with the kubeconfig of a directory. Change `cluster`, `user` and `environment`, then call it."""

    def __init__(self, folder: Path, ca: Path | None) -> None:
        self.folder = folder
        self.cluster: dict[str, Any] = {"server": "https://127.0.0.1:1"}
        if ca is not None:
            self.cluster["certificate-authority"] = str(ca)
        self.user: dict[str, Any] = {"exec": {"apiVersion": V1BETA1, "command": program(folder, prints()), "args": ["-i", "demo"]}}
        self.environment = {"PATH": os.environ["PATH"]}
        self.client: Any = None

    def __call__(self, server: Any = None, limit: float = 5.0, again: bool = False, name: str = NAME) -> ApiResult:
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
            self.client = api_client.ApiClient(Host(5.0), str(path), self.environment, limit)
        result: ApiResult = self.client.request_node(name)
        for secret in (TOKEN, SECRET, "cAnArY"):
            assert secret not in repr(result)
        return result


def diagnose(result: ApiResult, instance: Instance | None = None, is_bootstrapping: bool = False) -> Finding:
    """The finding that follows, for a kubelet with an empty log."""
    kubelet = Kubelet("kubelet.service", True, process=KubeletProcess(is_bootstrapping=is_bootstrapping))
    finding = api_diagnosis.diagnose(Evidence(time.time(), NAME, kubelet=kubelet, api=result, instance=instance))
    assert finding is not None
    return finding

# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Descriptions of images for tests, and the builders that fit them."""

from __future__ import annotations

from typing import Any

from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import PEM

BUILDERS: dict[str, dict[str, str]] = {
    "al2": {"id": "amzn", "version_id": "2", "architecture": "x86_64"},
    "al2023": {"id": "amzn", "version_id": "2023", "architecture": "aarch64"},
    "rocky": {"id": "rocky", "version_id": "9.6", "architecture": "x86_64"},
    "ubuntu": {"id": "ubuntu", "version_id": "24.04", "architecture": "x86_64"},
}

KEY = "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nmQENBF\n-----END PGP PUBLIC KEY BLOCK-----\n"


def source(name: str, digit: str = "a") -> dict[str, str]:
    """A file with a checksum."""
    return {"url": f"https://example.com/1.34.1/{name}", "sha256": digit * 64}


def minimal(family: str) -> dict[str, Any]:
    """The required fields."""
    return {"family": family, "kubernetes_version": "1.32"}


def full(family: str) -> dict[str, Any]:
    """Every field that a family has."""
    programs = {
        "aws_iam_authenticator": source("aws-iam-authenticator", "1"),
        "cni_plugins": source("cni-plugins-linux-amd64-v1.8.0.tgz?signature=x%2Fy", "2"),
        "containerd": source("containerd-2.1.4-linux-amd64.tar.gz", "3"),
        "crictl": {"path": "files/crictl-v1.34.0.tar.gz", "sha256": "4" * 64},
        "ecr_credential_provider": source("ecr-credential-provider-linux-amd64", "5"),
        "kubelet": source("kubelet", "6"),
        "runc": source("runc.amd64", "7"),
    }
    image: dict[str, Any] = {
        **minimal(family),
        "programs": programs,
        "packages": ["htop", "jq=1.7.1-3build1" if family == "ubuntu" else "jq-1.7.1-2.amzn2023"],
        "repositories": [
            {"name": "tools", "url": "https://example.com/tools", "key": KEY},
            {"name": "local", "url": "file:///srv/packages", "unsigned": True},
        ],
        "files": [{"path": "/etc/motd", "content": "hello\n"}, {"path": "/opt/x/run", "content": "#!/bin/sh\n", "mode": "0755"}],
        "modules": ["nvme"],
        "sysctls": {"vm.max_map_count": 1048576, "net/core/somaxconn": "1024"},
        "pause_image": {"name": "localhost/kubernetes/pause:latest", "archive": source("pause.tar", "8")},
        "images": [{"name": "example.com/agent:1", "archive": {"path": "agent.tar", "sha256": "9" * 64}, "pinned": False}],
        "image_import": "boot",
        "registry": {"mirrors": {"docker.io": "https://mirror.example.com"}},
        "trust": PEM,
        "proxy": {"build": {"http": "http://build:3128"}, "image": {"https": "http://proxy:3128", "no_proxy": ["10.0.0.0/8"]}},
        "release": {"TEAM": "platform"},
    }
    if family == "ubuntu":
        image["repositories"].append(
            {"name": "own", "url": "https://example.com/apt", "suite": "noble", "components": ["main", "extra"], "unsigned": True}
        )
    if family == "al2023":
        programs["nodeadm"] = source("nodeadm", "b")
        document = {"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig", "spec": {"kubelet": {"flags": ["--v=3"]}}}
        image["nodeadm_defaults"] = [document]
    return image

# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""User data for examples of rules, and the row of an example."""

from __future__ import annotations

import base64
from dataclasses import dataclass

CA = base64.b64encode(b"-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUPx==\n-----END CERTIFICATE-----\n").decode()
ENDPOINT = "https://0123456789abcdef.gr7.eu-west-1.eks.amazonaws.com"
CLUSTER = f"    name: shop\n    apiServerEndpoint: {ENDPOINT}\n    certificateAuthority: {CA}\n    cidr: 10.100.0.0/16\n"


@dataclass(frozen=True)
class Row:
    """rule, severity: of the catalogue. wrong: breaks the rule. right: a near miss. family, version, instance_type: of the nodes."""

    rule: str
    severity: str
    wrong: str | bytes
    right: str | bytes
    family: str | None = None
    version: tuple[int, int] | None = None
    instance_type: str | None = None


def document(body: str) -> str:
    """A NodeConfig with a spec."""
    return f"apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n{body}"


def node_config(body: str = "") -> str:
    """A NodeConfig with a cluster. body: more of its spec, indented by two."""
    return document(f"  cluster:\n{CLUSTER}{body}")


def config(body: str) -> str:
    """A NodeConfig with a configuration of kubelet. body: lines of YAML, without indentation."""
    return node_config("  kubelet:\n    config:\n" + "".join(f"      {line}\n" for line in body.split("\n")))


def kubelet_config(body: str) -> str:
    """A NodeConfig with a configuration of kubelet, without a cluster, which is in another document."""
    return document("  kubelet:\n    config:\n" + "".join(f"      {line}\n" for line in body.split("\n")))


def flags(*words: str) -> str:
    """A NodeConfig with flags of kubelet."""
    return node_config("  kubelet:\n    flags:\n" + "".join(f'      - "{word}"\n' for word in words))


def containerd(toml: str) -> str:
    """A NodeConfig with a configuration of containerd."""
    return node_config("  containerd:\n    config: |\n" + "".join(f"      {line}\n" for line in toml.split("\n")))


def call(*words: str) -> str:
    """A script with a call of the image's bootstrap script that looks nothing up."""
    facts = f"--apiserver-endpoint {ENDPOINT} --b64-cluster-ca {CA} --dns-cluster-ip 10.100.0.10"
    return f"#!/bin/bash\n/etc/eks/bootstrap.sh shop {facts} {' '.join(words)}\n"


def conditional(*words: str) -> str:
    """A script with a call that may not run."""
    return call(*words).replace("/etc", "if [ -e /etc/eks/bootstrap.sh ]; then\n  /etc", 1) + "fi\n"


def extra(words: str) -> str:
    """A call with flags of kubelet."""
    return call(f"--kubelet-extra-args '{words}'")


def shell(*lines: str) -> str:
    """A script."""
    return "\n".join(["#!/bin/bash", *lines, ""])


def cloud(*lines: str) -> str:
    """A cloud-config."""
    return "\n".join(["#cloud-config", *lines, ""])


HEAD = 'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="B"\n\n'
SCRIPT = "--B\nContent-Type: text/x-shellscript\n\n#!/bin/bash\ntrue\n"
END = "--B--\n"


def part(text: str, content_type: str = "text/x-shellscript", *headers: str) -> str:
    """A part of a MIME document."""
    return "\n".join(["--B", f"Content-Type: {content_type}", *headers, "", text]) + "\n"


def mime(*parts: str) -> str:
    """A MIME document."""
    return HEAD + "".join(parts) + END


def settings(body: str, table: str = "settings.kubernetes") -> str:
    """Settings of Bottlerocket with a cluster. body: lines below C(table)."""
    own = f'cluster-name = "shop"\napi-server = "{ENDPOINT}"\ncluster-certificate = "{CA}"\n'
    if table == "settings.kubernetes":
        return f"[settings.kubernetes]\n{own}{body}\n"
    return f"[settings.kubernetes]\n{own}\n[{table}]\n{body}\n"


def powershell(*lines: str) -> str:
    """User data of Windows."""
    return "\n".join(["<powershell>", *lines, "</powershell>", ""])


def tasks(*lines: str) -> str:
    """Tasks for EC2Launch v2."""
    head = ["version: 1.1", "tasks:", "- task: executeScript", "  inputs:", "  - frequency: always", "    type: powershell"]
    return "\n".join([*head, "    content: |", *(f"      {line}" for line in lines), ""])


def merged(headers: str) -> str:
    """Two cloud-configs with the same key, the second one with more headers."""
    content = "--x\nContent-Type: text/cloud-config\n{}\n#cloud-config\nruncmd: [{}]\n"
    parts = content.format("", "a") + content.format(headers, "b")
    return f'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="x"\n\n{parts}--x--\n'


def start(*words: str) -> str:
    """User data of Windows with a call of EKS's script."""
    script = r'[string]$EKSBootstrapScriptFile = "$env:ProgramFiles\Amazon\EKS\Start-EKSBootstrap.ps1"'
    return powershell(script, f"& $EKSBootstrapScriptFile -EKSClusterName 'shop' {' '.join(words)}")


E64 = base64.b64encode(shell("true").encode()).decode()
KEY = "-----BEGIN RSA PRIVATE KEY-----"
ARGS = "-KubeletExtraArgs"
V3 = '[plugins."io.containerd.cri.v1.images"]\nsnapshotter = "overlayfs"'
V2 = '[plugins."io.containerd.grpc.v1.cri".containerd]\nsnapshotter = "overlayfs"'

SLASHES = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=%s\n\n--//\nContent-Type: text/x-shellscript\n\n#!/bin/sh\n--//--\n"

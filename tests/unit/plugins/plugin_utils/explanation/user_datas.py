# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""User data of every family and form, for the tests of the explanation."""

from __future__ import annotations

NODE_CONFIG = """apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  cluster:
    name: demo
    apiServerEndpoint: https://example.com
    certificateAuthority: aGVsbG8=
    cidr: 10.100.0.0/16
  instance:
    localStorage:
      strategy: RAID0
  kubelet:
    config:
      maxPods: 42
      evictionHard:
        memory.available: 5%
      featureGates:
        KubeletCrashLoopBackOffMax: true
    flags:
      - --node-labels=role=web
      - --register-with-taints=dedicated=web:NoSchedule
"""

BOOTSTRAP = """#!/bin/bash
set -e
yum install -y nfs-utils
if [ -e /etc/proxy ]; then
  echo "proxy"
fi
/etc/eks/bootstrap.sh demo --apiserver-endpoint https://example.com --b64-cluster-ca aGVsbG8= \\
  --dns-cluster-ip 10.100.0.10 --kubelet-extra-args '--node-labels=role=web --max-pods=58'
systemctl restart chronyd
"""

LOOKS_UP = "#!/bin/bash\n/etc/eks/bootstrap.sh demo --use-max-pods false --kubelet-extra-args '--node-labels=zone=$ZONE,role=web'\n"

TOML = """[settings.kubernetes]
cluster-name = "demo"
api-server = "https://example.com"
cluster-certificate = "aGVsbG8="
max-pods = 42

[settings.kubernetes.node-labels]
"example.com/role" = "web"

[settings.bootstrap-containers.setup]
source = "example.com/setup:1"
mode = "once"
"""

POWERSHELL = """<powershell>
[string]$EKSBootstrapScriptFile = "$env:ProgramFiles\\Amazon\\EKS\\Start-EKSBootstrap.ps1"
& $EKSBootstrapScriptFile -EKSClusterName 'demo' -APIServerEndpoint 'https://example.com' -Base64ClusterCA 'aGVsbG8=' `
  -KubeletExtraArgs '--max-pods=20 --node-labels=role=web'
</powershell>
<persist>true</persist>
"""

CLOUD_CONFIG = """#cloud-config
bootcmd:
- echo early
write_files:
- path: /etc/eks/nodeadm.d/10-pods.yaml
  content: |
    apiVersion: node.eks.aws/v1alpha1
    kind: NodeConfig
    spec: {kubelet: {config: {maxPods: 7}}}
- path: /etc/motd
  content: hello
packages: [jq]
runcmd:
- [systemctl, restart, chronyd]
- test -e /etc/x && echo "late"
"""


def mime(*parts: tuple[str, str]) -> str:
    """A document of parts, each with its headers and its text."""
    body = "".join(f"--B\n{headers}\n\n{text}\n" for headers, text in parts)
    return f'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="B"\n\n{body}--B--\n'


SHELL, CONFIG, NODEADM = "Content-Type: text/x-shellscript", "Content-Type: text/cloud-config", "Content-Type: application/node.eks.aws"
ALL_PARTS = mime(
    ('Content-Type: text/x-shellscript\nContent-Disposition: attachment; filename="z-last.sh"', "#!/bin/bash\necho second"),
    (CONFIG, CLOUD_CONFIG),
    (SHELL, "#!/bin/bash\necho first"),
    ("Content-Type: text/cloud-boothook", "#cloud-boothook\n#!/bin/sh\necho hook"),
    (NODEADM, NODE_CONFIG),
)

# name → user data, instance type, version, family
CASES: dict[str, tuple[str, str | None, str | None, str | None]] = {
    "al2": (BOOTSTRAP, "m5.large", "1.30", "al2"),
    "al2-looks-up": (LOOKS_UP, "m5.large", None, "al2"),
    "al2023": (NODE_CONFIG, "m5.large", "1.33", None),
    "al2023-any-node": (NODE_CONFIG, None, None, None),
    "al2023-all-parts": (ALL_PARTS, "m5.large", "1.33", None),
    "al2023-addition": ("#!/bin/bash\necho hello\n", "m5.large", "1.33", "al2023"),
    "al2023-broken": (NODE_CONFIG.replace("    cidr: 10.100.0.0/16\n", ""), "m5.large", "1.33", None),
    "bottlerocket": (TOML, "m5.large", "1.33", None),
    "ubuntu": (BOOTSTRAP.replace("yum", "apt-get"), "m5.large", "1.30", "ubuntu"),
    "unknown": ("#!/bin/bash\necho hello\n", None, None, None),
    "windows": (POWERSHELL, "m5.large", "1.33", None),
}

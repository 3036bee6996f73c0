# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Valid user data as whole documents, in the form of tools and of people: the files in the directory texts.

In each file, @CA@ and @EP@ stand for the certificate authority and the endpoint of the cluster.
"""

from __future__ import annotations

from pathlib import Path

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.readers.user_data import read
from ansible_collections.nodebootstrap.eks.tests.known_good.model import CA, ENDPOINT, KnownGood

URLS = {
    "amazon-eks-ami": "https://awslabs.github.io/amazon-eks-ami/nodeadm/doc/examples/",
    "aws-cdk": "https://github.com/aws/aws-cdk/blob/main/packages/aws-cdk-lib/aws-eks/lib/user-data.ts",
    "aws-docs": "https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html",
    "bottlerocket": "https://bottlerocket.dev/en/os/latest/#/api/settings/",
    "cloud-init": "https://docs.cloud-init.io/en/latest/explanation/format.html",
    "cluster-api": "https://github.com/kubernetes-sigs/cluster-api-provider-aws/tree/main/bootstrap/eks/internal/userdata",
    "eksctl": "https://github.com/eksctl-io/eksctl/blob/main/pkg/nodebootstrap",
    "hand-written": "https://repost.aws/knowledge-center/eks-worker-nodes-cluster",
    "karpenter": "https://karpenter.sh/docs/concepts/nodeclasses/#specuserdata",
    "kops": "https://github.com/kubernetes/kops/tree/master/upup/models",
    "pulumi-eks": "https://github.com/pulumi/pulumi-eks/blob/master/nodejs/eks/nodes/userdata.ts",
    "rancher": "https://longhorn.io/docs/latest/advanced-resources/os-distro-specific/csi-on-eks/",
    "terraform-aws-eks": "https://github.com/terraform-aws-modules/terraform-aws-eks/tree/master/templates",
}
"""The tool, or the page, whose form a document has. The documents are not copies."""

NAMES: tuple[tuple[str, str, str, tuple[int, int] | None], ...] = (
    ("tf-v18-self-managed", "terraform-aws-eks", "al2", None),
    ("tf-v18-cloudinit-config-multi", "terraform-aws-eks", "al2", None),
    ("tf-v19-al2-eks-managed-custom-ami-enable-bootstrap", "terraform-aws-eks", "al2", None),
    ("tf-v20-al2023-post-nodeadm", "terraform-aws-eks", "al2023", (1, 29)),
    ("tf-v20-al2023-local-disks-gate", "terraform-aws-eks", "al2023", None),
    ("tf-v21-al2023-nodeadm-json", "terraform-aws-eks", "al2023", None),
    ("tf-v20-windows", "terraform-aws-eks", "windows", None),
    ("tf-v20-bottlerocket", "terraform-aws-eks", "bottlerocket", None),
    ("eksctl-al2023-unmanaged-efa", "eksctl", "al2023", None),
    ("eksctl-ubuntu", "eksctl", "ubuntu", None),
    ("karpenter-al2023-merged", "karpenter", "al2023", None),
    ("karpenter-bottlerocket-gen", "karpenter", "bottlerocket", None),
    ("karpenter-windows-merged", "karpenter", "windows", None),
    ("karpenter-block-device-mount-al2023", "karpenter", "al2023", None),
    ("capa-al2023-nodeadm", "cluster-api", "al2023", None),
    ("capa-eksconfig-full", "cluster-api", "al2", None),
    ("capa-ubuntu", "cluster-api", "ubuntu", None),
    ("cdk-al2", "aws-cdk", "al2", None),
    ("cdk-token", "aws-cdk", "al2", None),
    ("pulumi-eks-al2023-v3", "pulumi-eks", "al2023", None),
    ("pulumi-v1-al2", "pulumi-eks", "al2", None),
    ("rancher-registration-in-lt", "rancher", "al2", None),
    ("rancher-longhorn-al2023", "rancher", "al2023", None),
    ("kops-like-nodeup", "kops", "ubuntu", None),
    ("gpu-time-slicing-al2023", "amazon-eks-ami", "al2023", (1, 31)),
    ("gpu-neuron-al2", "hand-written", "al2", None),
    ("bottlerocket-host-containers", "bottlerocket", "bottlerocket", None),
    ("bottlerocket-inline-header", "bottlerocket", "bottlerocket", None),
    ("windows-domain-join", "aws-docs", "windows", None),
    ("windows-splat", "aws-docs", "windows", None),
    ("windows-backtick", "aws-docs", "windows", None),
    ("al2-instance-store-raid", "hand-written", "al2", None),
    ("al2-imds-labels", "hand-written", "al2", None),
    ("al2-heredoc-python", "hand-written", "al2", None),
    ("al2-boothook", "aws-docs", "al2", None),
    ("al2023-boothook", "amazon-eks-ami", "al2023", None),
    ("al2023-nodeconfig-comments-multi-doc-shell-env", "amazon-eks-ami", "al2023", None),
    ("al2023-kubelet-many", "amazon-eks-ami", "al2023", (1, 34)),
    ("al2023-shell-only-with-nodeadm-helper", "amazon-eks-ami", "al2023", None),
    ("ubuntu-snap", "hand-written", "ubuntu", None),
    ("ubuntu-2404-nodeadm-like", "hand-written", "ubuntu", None),
    ("al2-config-jinja", "cloud-init", "al2", None),
    ("al2-archive", "cloud-init", "al2", None),
    ("al2-nested-mime", "cloud-init", "al2", None),
    ("sudo-var", "hand-written", "al2", None),
    ("env-var", "hand-written", "al2", None),
    ("al2-array-args", "hand-written", "al2", None),
    ("al2-perl", "hand-written", "al2", None),
    ("al2-python", "hand-written", "al2", None),
    ("tf-templatefile", "hand-written", "al2", None),
    ("blueprints-al2023-ssm", "terraform-aws-eks", "al2023", (1, 33)),
    ("soci-snapshotter", "amazon-eks-ami", "al2023", (1, 32)),
    ("cilium-taint-custom-networking", "hand-written", "al2", None),
    ("cis-level", "hand-written", "al2023", None),
)
"""The name of the file, the tool, the family, and the version of the nodes."""


def _text(name: str) -> str:
    # The line ends of a document are part of its form.
    data = (Path(__file__).with_name("texts") / f"{name}.userdata").read_bytes().decode()
    return data.replace("@CA@", CA).replace("@EP@", ENDPOINT)


def _row(name: str, tool: str, family: str, version: tuple[int, int] | None) -> KnownGood:
    text = _text(name)
    cluster = read(text).cluster.get("name")
    return KnownGood(f"text {name}", tool, family, text, URLS[tool], version, cluster, needs_family=True)


ROWS = tuple(_row(*row) for row in NAMES)

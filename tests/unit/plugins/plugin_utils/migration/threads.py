# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""User data of public threads whose authors could not move it to Amazon Linux 2023, rebuilt with own words and values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import CA

ENDPOINT = "https://abc.gr7.eu-west-1.eks.amazonaws.com"
FACTS = {"name": "shop", "endpoint": ENDPOINT, "certificate_authority": CA, "service_cidr": "10.100.0.0/16"}
IDENTITY = f"--b64-cluster-ca {CA} --apiserver-endpoint {ENDPOINT}"


@dataclass(frozen=True)
class Thread:
    """One thread. needs: whether something has to be decided before there is new user data."""

    url: str
    text: str
    cluster: dict[str, Any] | None = None
    needs: bool = False


def multipart(*parts: tuple[str, str]) -> str:
    """A MIME document."""
    head = 'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="b7"\n'
    return head + "".join(f"\n--b7\nContent-Type: {kind}\n\n{body}" for kind, body in parts) + "\n--b7--\n"


SHELL, CLOUD_CONFIG = 'text/x-shellscript; charset="us-ascii"', "text/cloud-config"

_PROFILE = """\
#!/bin/bash
set -e
cat <<-EOF > /etc/profile.d/bootstrap.sh
\texport CONTAINER_RUNTIME="containerd"
\texport USE_MAX_PODS=false
\texport KUBELET_EXTRA_ARGS="--max-pods=110 --image-gc-high-threshold=90"
EOF
sed -i '/^set -o errexit/a\\\\nsource /etc/profile.d/bootstrap.sh' /etc/eks/bootstrap.sh
sed -i 's/KUBELET_EXTRA_ARGS=$2/KUBELET_EXTRA_ARGS="$2 $KUBELET_EXTRA_ARGS"/' /etc/eks/bootstrap.sh
"""

THREADS = {
    "a module that calls the removed script": Thread(
        "https://github.com/cloudposse/terraform-aws-eks-node-group/issues/217",
        multipart(
            (SHELL, "#!/bin/bash\necho 'before the node joins'\n"),
            (
                SHELL,
                f"#!/bin/bash\nset -ex\n/etc/eks/bootstrap.sh {IDENTITY} --kubelet-extra-args "
                "'--node-labels=team=web --register-with-taints=dedicated=web:NoSchedule' shop\n",
            ),
            (SHELL, "#!/bin/bash\necho 'after the node joined'\n"),
        ),
        {"service_cidr": "10.100.0.0/16"},
    ),
    "a call without facts of the cluster": Thread(
        "https://github.com/awslabs/amazon-eks-ami/issues/1885",
        "#!/bin/bash\n/etc/eks/bootstrap.sh shop --kubelet-extra-args '--max-pods=40'\n",
        needs=True,
    ),
    "the same with the facts": Thread(
        "https://github.com/aws/containers-roadmap/issues/2455",
        "#!/bin/bash\n/etc/eks/bootstrap.sh shop --kubelet-extra-args '--max-pods=40'\n",
        FACTS | {"kubernetes_version": "1.33"},
    ),
    "commands of Cluster API": Thread(
        "https://github.com/kubernetes-sigs/cluster-api-provider-aws/pull/5678",
        "## template: jinja\n#cloud-config\n".removeprefix("## template: jinja\n")
        + "write_files:\n- path: /etc/motd\n  content: pool workers\nruncmd:\n- echo prepare\n"
        "- /etc/eks/bootstrap.sh shop --container-runtime containerd --kubelet-extra-args '--node-labels=pool=workers' "
        "--use-max-pods false\n- echo joined\n",
        FACTS,
    ),
    "edits of kubelet-config.json": Thread(
        "https://github.com/kubernetes-sigs/karpenter/issues/1510",
        "#!/bin/bash\n"
        "config=$(jq '.shutdownGracePeriod=\"400s\"' /etc/kubernetes/kubelet/kubelet-config.json)\n"
        'echo "$config" > /etc/kubernetes/kubelet/kubelet-config.json\n',
    ),
    "variables for a script that is gone": Thread("https://github.com/terraform-aws-modules/terraform-aws-eks/issues/3420", _PROFILE),
    "exports in a part of their own": Thread(
        "https://github.com/terraform-aws-modules/terraform-aws-eks/issues/3019",
        multipart(
            (SHELL, "#!/bin/bash\nexport DNS_CLUSTER_IP=172.20.0.10\nexport USE_MAX_PODS=false\n"),
            (CLOUD_CONFIG, "#cloud-config\npackages: [nfs-utils]\n"),
        ),
    ),
    "commands before and after the call": Thread(
        "https://github.com/awslabs/amazon-eks-ami/issues/1782",
        "#!/bin/bash\nset -o xtrace\nyum install -y amazon-cloudwatch-agent\n"
        f"/etc/eks/bootstrap.sh shop {IDENTITY} --service-ipv4-cidr 10.100.0.0/16\n"
        "/opt/aws/amazon-cloudwatch-agent/bin/amazon-cloudwatch-agent-ctl -a start\n",
    ),
    "max pods of custom networking": Thread(
        "https://github.com/awslabs/amazon-eks-ami/issues/375",
        f"#!/bin/bash\n/etc/eks/bootstrap.sh shop {IDENTITY} --dns-cluster-ip 10.100.0.10 --use-max-pods false "
        "--kubelet-extra-args '--max-pods=20 --kube-reserved=cpu=80m,memory=475Mi'\n",
        {"service_cidr": "10.100.0.0/16"},
    ),
    "an option inside of the extra arguments": Thread(
        "https://github.com/terraform-aws-modules/terraform-aws-eks/issues/2645",
        f"#!/bin/bash\n/etc/eks/bootstrap.sh shop {IDENTITY} --kubelet-extra-args '--dns-cluster-ip=169.254.20.10'\n",
        {"service_cidr": "10.100.0.0/16"},
        needs=True,
    ),
    "a label that kubelet refuses": Thread(
        "https://github.com/terraform-aws-modules/terraform-aws-eks/issues/3346",
        f"#!/bin/bash\n/etc/eks/bootstrap.sh shop {IDENTITY} --kubelet-extra-args '--node-labels=node-role.kubernetes.io/web=true'\n",
        {"service_cidr": "10.100.0.0/16"},
        needs=True,
    ),
    "a flag of an old kubelet": Thread(
        "https://github.com/awslabs/amazon-eks-ami/issues/1398",
        f"#!/bin/bash\n/etc/eks/bootstrap.sh shop {IDENTITY} --service-ipv4-cidr 10.100.0.0/16 --container-runtime dockerd "
        '--enable-docker-bridge true --docker-config-json \'{"log-driver": "json-file"}\' '
        "--kubelet-extra-args '--container-runtime=remote --network-plugin=cni --node-labels=a=b'\nsystemctl restart docker\n",
    ),
    "a label that only the node knows": Thread(
        "https://github.com/awslabs/amazon-eks-ami/issues/2124",
        "#!/bin/bash\nTYPE=$(curl -s http://169.254.169.254/latest/meta-data/instance-type)\n"
        f'/etc/eks/bootstrap.sh shop {IDENTITY} --service-ipv4-cidr 10.100.0.0/16 --kubelet-extra-args "--node-labels=type=$TYPE"\n',
        needs=True,
    ),
    "a call in both branches": Thread(
        "https://github.com/awslabs/amazon-eks-ami/issues/2276",
        "#!/bin/bash\nif lspci | grep -q NVIDIA; then\n  /etc/eks/bootstrap.sh shop --container-runtime containerd --use-max-pods false\n"
        "else\n  /etc/eks/bootstrap.sh shop\nfi\n",
        FACTS,
        needs=True,
    ),
    "disks of the instance": Thread(
        "https://github.com/awslabs/amazon-eks-ami/issues/1131",
        f"#!/bin/bash\n/etc/eks/bootstrap.sh shop {IDENTITY} --service-ipv4-cidr 10.100.0.0/16 --local-disks raid0 --mount-bpf-fs true\n",
    ),
    "an IPv6 cluster": Thread(
        "https://github.com/awslabs/amazon-eks-ami/issues/887",
        f"#!/bin/bash\n/etc/eks/bootstrap.sh shop {IDENTITY} --ip-family ipv6 --service-ipv6-cidr fd30:1c53:5f8a::/108\n",
    ),
    "Docker, yum plugins and cron": Thread(
        "https://github.com/awslabs/amazon-eks-ami/issues/2426",
        "#!/bin/bash\nyum install -y yum-plugin-versionlock\namazon-linux-extras install -y epel\n"
        "echo '* * * * * root /usr/local/bin/check' > /etc/cron.d/check\n"
        "python /opt/setup.py --pods $(grep m5.large /etc/eks/eni-max-pods.txt)\n"
        f"/etc/eks/bootstrap.sh shop {IDENTITY} --service-ipv4-cidr 10.100.0.0/16\ntail -n 5 /var/log/messages\n",
    ),
    "a script of Ubuntu": Thread(
        "https://github.com/terraform-aws-modules/terraform-aws-eks/issues/3278",
        f"#!/bin/bash\napt-get update\nsnap set kubelet-eks v=4\n/etc/eks/bootstrap.sh shop {IDENTITY} --service-ipv4-cidr 10.100.0.0/16\n",
    ),
}

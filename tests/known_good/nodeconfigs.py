# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Valid user data of Amazon Linux 2023: NodeConfigs, alone and in MIME documents."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.nodebootstrap.eks.tests.known_good.model import (
    CIDR6,
    CLOUD,
    DNS,
    NODE,
    SHELL,
    US_ASCII,
    KnownGood,
    base64_of,
    cloud_config,
    cluster_section,
    gzip_of,
    kubelet,
    multipart,
    node_config,
    script,
)

EKSCTL = "https://github.com/eksctl-io/eksctl/blob/main/pkg/nodebootstrap"
TERRAFORM = "https://github.com/terraform-aws-modules/terraform-aws-eks/blob"
KARPENTER = "https://github.com/aws/karpenter-provider-aws/blob/main"
CAPA = "https://github.com/kubernetes-sigs/cluster-api-provider-aws/blob/main/bootstrap/eks/internal/userdata"
AMI_DOCS = "https://awslabs.github.io/amazon-eks-ami/nodeadm/doc"
AMI_REPOSITORY = "https://github.com/awslabs/amazon-eks-ami"
AWS_DOCS = "https://docs.aws.amazon.com/eks/latest/userguide"

_GRACE = {"shutdownGracePeriod": "30s", "featureGates": {"DisableKubeletCloudCredentialProviders": True}}
LABELS = "--node-labels=team=web,tier=front"
TAINTS = "--register-with-taints=dedicated=web:NoSchedule"
Parts = Iterable[tuple[str, str] | tuple[str, str, tuple[str, ...]]]


def _terraform() -> Iterable[KnownGood]:
    grace = (NODE, node_config(kubelet(_GRACE), cluster=False, start="---\n"))
    own = (NODE, node_config(start="---\n"))
    after = ('text/x-shellscript; charset="us-ascii"', script('echo "ready"'))
    disks = (NODE, node_config({"instance": {"localStorage": {"strategy": "RAID0"}}}, cluster=False, start="---\n"))
    rows: tuple[tuple[str, str, Parts], ...] = (
        ("managed additions", "v20.37.2/tests/user-data/rendered/al2023/eks-mng-additional.txt", (grace,)),
        ("managed custom AMI", "v20.37.2/tests/user-data/rendered/al2023/eks-mng-custom-ami.txt", (grace, own, after)),
        ("self managed", "v20.37.2/tests/user-data/rendered/al2023/self-mng-bootstrap.txt", (own,)),
        ("script after", "v21.0.0/tests/user-data/rendered/al2023/self-mng-bootstrap.txt", (own, after)),
        ("script before", "v21.0.0/docs/user_data.md", ((SHELL, script("dnf install -y amazon-efs-utils")), own)),
        ("local disks", "v21.0.0/examples/eks-managed-node-group/eks-al2023.tf", (disks, own)),
        (
            "kubelet and disks",
            "v21.0.0/examples/karpenter/main.tf",
            ((NODE, node_config(kubelet({"maxPods": 110}, LABELS), cluster=False)), disks, own),
        ),
        ("cloud-config", "v21.0.0/docs/user_data.md", ((CLOUD, cloud_config(packages=["nfs-utils"])), own)),
    )
    for name, path, parts in rows:
        text = multipart(*parts, boundary="MIMEBOUNDARY")
        known = None if name == "managed additions" else "shop"
        yield KnownGood(f"terraform-aws-eks al2023 {name}", "terraform-aws-eks", "al2023", text, f"{TERRAFORM}/{path}", cluster=known)
    header = ("Content-Transfer-Encoding: 7bit", "Mime-Version: 1.0")
    for boundary, encoding, path in (
        ("MIMEBOUNDARY", "7bit", "v20.0.0/modules/_user_data/main.tf"),
        ("//", "base64", "v20.0.0/templates/al2023_user_data.tpl"),
    ):
        body = base64_of(own[1]) if encoding == "base64" else own[1]
        headers = ("Content-Transfer-Encoding: base64", "Mime-Version: 1.0") if encoding == "base64" else header
        text = multipart((NODE, body, headers), boundary=boundary, version_first=False)
        yield KnownGood(f"terraform-aws-eks al2023 part in {encoding}", "terraform-aws-eks", "al2023", text, f"{TERRAFORM}/{path}")


def _of_eksctl(flags: Iterable[str], config: Mapping[str, Any], cidr: str = "10.100.0.0/16") -> str:
    spec = {"containerd": {}, "instance": {"localStorage": {}}, **kubelet(config, *flags)}
    return node_config(spec, cidr=cidr, metadata={})


def _eksctl() -> Iterable[KnownGood]:
    dns = {"clusterDNS": [DNS]}
    labels = "--node-labels=alpha.eksctl.io/cluster-name=shop,alpha.eksctl.io/nodegroup-name=web"
    own = (NODE, _of_eksctl((labels,), dns))
    tainted = (NODE, _of_eksctl((labels, TAINTS), dns))
    pods = (NODE, node_config(kubelet({"maxPods": 11}), cluster=False, metadata={}))
    override = node_config(
        {"instance": {"localStorage": {"strategy": "RAID0"}}, **kubelet({"shutdownGracePeriod": "5m"})}, cluster=False, metadata={}
    )
    as_json = json.dumps(
        {
            "apiVersion": "node.eks.aws/v1alpha1",
            "kind": "NodeConfig",
            "metadata": {"creationTimestamp": None},
            "spec": {"cluster": {}, "containerd": {}, "instance": {"localStorage": {"strategy": "RAID0"}}, "kubelet": {"flags": ["--v=2"]}},
        }
    )
    reserved = {"clusterDNS": [DNS], "shutdownGracePeriod": "5m", "kubeReserved": {"cpu": "500m", "memory": "250Mi"}}
    ipv6 = (NODE, _of_eksctl((labels, TAINTS), {"clusterDNS": ["fd12:3456:789a::a"]}, CIDR6))
    lock = (SHELL, script("touch /run/xtables.lock"))
    efa = (
        "text/cloud-boothook",
        "#cloud-boothook\ncloud-init-per once install_wget dnf install -y wget\n"
        "cloud-init-per once fetch wget -q --timeout=20 https://s3.example.com/installer.tar.gz -O /tmp/installer.tar.gz\n",
    )
    rows: tuple[tuple[str, str, Parts], ...] = (
        ("default", "al2023_test.go", (own,)),
        ("lock", "assets/scripts/al2023-xtables.lock.sh", (lock, own)),
        ("taints", "al2023_test.go", (tainted,)),
        ("max pods", "al2023_test.go", (tainted, pods)),
        ("kubelet configuration", "al2023_test.go", ((NODE, _of_eksctl((labels, TAINTS), reserved)), pods)),
        ("override", "al2023_test.go", (own, (NODE, override))),
        ("override as JSON", "al2023_test.go", (own, (NODE, as_json))),
        ("IPv6", "al2023_test.go", (lock, ipv6)),
        ("EFA", "al2023.go", (efa, own)),
        ("commands", "al2023.go", ((SHELL, script("sysctl -w vm.max_map_count=262144")), (SHELL, script("date")), own)),
    )
    for name, path, parts in rows:
        yield KnownGood(f"eksctl al2023 {name}", "eksctl", "al2023", multipart(*parts, boundary="9f27ac31"), f"{EKSCTL}/{path}")


def _karpenter() -> Iterable[KnownGood]:
    labels = '--node-labels="karpenter.sh/capacity-type=on-demand,karpenter.sh/nodepool=web,team=web"'
    dns = {"clusterDNS": [DNS], "maxPods": 110}
    unregistered = {**dns, "registerWithTaints": [{"effect": "NoExecute", "key": "karpenter.sh/unregistered"}]}
    start = "# Karpenter Generated NodeConfig\n"
    empty = {"creationTimestamp": None}
    own = (NODE, node_config({"containerd": {}, **kubelet(dns, labels)}, start=start, metadata=empty))
    tainted = (
        NODE,
        node_config({"containerd": {}, "instance": {"localStorage": {}}, **kubelet(unregistered, labels)}, start=start, metadata=empty),
    )
    full = {
        **unregistered,
        "kubeReserved": {"cpu": "80m", "memory": "893Mi"},
        "systemReserved": {"cpu": "100m"},
        "evictionHard": {"memory.available": "5%"},
        "evictionSoft": {"memory.available": "10%"},
        "evictionSoftGracePeriod": {"memory.available": "2m0s"},
        "evictionMaxPodGracePeriod": 120,
        "imageGCHighThresholdPercent": 85,
        "imageGCLowThresholdPercent": 80,
        "cpuCFSQuota": True,
    }
    hello = (US_ASCII, script('echo "hello"'))
    user = (NODE, node_config(kubelet({"maxPods": 42})))
    golden = "pkg/providers/launchtemplate/testdata"
    family = "pkg/providers/amifamily/bootstrap/nodeadm.go"
    raid = {"instance": {"localStorage": {"strategy": "RAID0"}}}
    rows: tuple[tuple[str, str, Parts], ...] = (
        ("unmerged", f"{golden}/al2023_userdata_unmerged.golden", (tainted,)),
        ("old", f"{golden}/al2023_yaml_userdata_merged.golden", ((NODE, node_config(kubelet({"maxPods": 42}), cluster=False)), own)),
        ("shell", f"{golden}/al2023_shell_userdata_merged.golden", (hello, tainted)),
        ("MIME", f"{golden}/al2023_mime_userdata_merged.golden", (user, hello, own)),
        ("all settings", family, ((NODE, node_config({"containerd": {}, **kubelet(full, labels)}, start=start)),)),
        (
            "disks",
            "website/content/en/docs/concepts/nodeclasses.md#specinstancestorepolicy",
            ((NODE, node_config({"containerd": {}, **raid, **kubelet(unregistered, labels)}, start=start)),),
        ),
        (
            "IPv6",
            family,
            (
                (
                    NODE,
                    node_config(kubelet({"clusterDNS": ["fd12:3456:789a::a"], "maxPods": 110}, labels, "--v=2"), cidr=CIDR6, start=start),
                ),
            ),
        ),
    )
    for name, path, parts in rows:
        yield KnownGood(f"karpenter al2023 {name}", "karpenter", "al2023", multipart(*parts, boundary="//"), f"{KARPENTER}/{path}")
    concepts = "https://karpenter.sh/docs/concepts/nodeclasses/#al2023-2"
    alone = node_config(kubelet({"maxPods": 42, "podPidsLimit": 4096}), cluster=False)
    yield KnownGood("karpenter al2023 input YAML", "karpenter", "al2023", alone, concepts, cluster=None)
    mime = multipart((NODE, node_config(kubelet({"maxPods": 42}), cluster=False)), hello)
    yield KnownGood("karpenter al2023 input MIME", "karpenter", "al2023", mime, concepts, cluster=None)


def _of_capa(
    spec: Mapping[str, Any], *flags: str, commands: Iterable[str] = (), cloud: Mapping[str, Any] | None = None, boundary: str = "//"
) -> str:
    """The document of Cluster API: parts with MIME headers of their own, and an empty part where two delimiters follow each other."""
    own = ("MIME-Version: 1.0", "Content-Transfer-Encoding: 7bit", 'Content-Disposition: attachment; filename="{}"')
    head = f'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="{boundary}"\n\n'
    listed = list(commands)
    if listed:
        text = script("set -o errexit", "set -o pipefail", "set -o nounset", *listed).rstrip("\n")
        headers = "\n".join((f"Content-Type: {US_ASCII}", *own)).format("commands.sh")
        head += f"\n--{boundary}\n{headers}\n\n{text}\n--{boundary}\n"
    section = dict(spec)
    section["kubelet"] = {**section.get("kubelet", {}), "flags": list(flags)}
    text = f"{head}\n--{boundary}\nContent-Type: {NODE}\n\n{node_config(section, start='---' + chr(10))}\n--{boundary}"
    if cloud is not None:
        headers = "\n".join((f"Content-Type: {CLOUD}", *own)).format("cloud-config.yaml")
        text += f"\n{headers}\n\n{cloud_config(**cloud)}--{boundary}"
    return f"{text}--"


def _cluster_api() -> Iterable[KnownGood]:
    eks = "--node-labels=eks.amazonaws.com/nodegroup=web,eks.amazonaws.com/capacityType=ON_DEMAND"
    image = "--node-labels=team=web,eks.amazonaws.com/nodegroup-image=ami-0123456789abcdef0,eks.amazonaws.com/capacityType=SPOT"
    ntp = {"ntp": {"enabled": True, "servers": ["169.254.169.123"]}}
    rows = (
        ("basic", _of_capa({}, eks)),
        ("flags", _of_capa({}, TAINTS, image)),
        ("kubelet configuration", _of_capa(kubelet({"evictionHard": {"memory.available": "2000Mi"}}), eks)),
        ("commands", _of_capa({}, eks, commands=("echo 'before'", "yum install -y htop"))),
        ("NTP", _of_capa({}, eks, cloud=ntp)),
        ("user", _of_capa({}, eks, cloud={"users": [{"name": "ops", "ssh_authorized_keys": ["ssh-ed25519 AAAAC3Nza ops"]}]})),
        ("disk", _of_capa({}, eks, cloud={"fs_setup": [{"device": "/dev/nvme1n1", "filesystem": "ext4", "label": "data"}]})),
        ("mounts", _of_capa({}, eks, cloud={"mounts": [["/dev/nvme1n1", "/mnt/data", "ext4", "defaults"]]})),
        ("all parts", _of_capa({}, eks, commands=("echo 'before'",), cloud=ntp, boundary="CUSTOMBOUNDARY123")),
        ("max pods", _of_capa({}, "--max-pods=100", eks)),
        ("feature gate", _of_capa({"featureGates": {"InstanceIdNodeName": True}}, eks)),
        (
            "disks",
            _of_capa({"instance": {"localStorage": {"strategy": "RAID0", "mountPath": "/mnt/k8s", "disabledMounts": ["PodLogs"]}}}, eks),
        ),
        (
            "containerd",
            _of_capa(
                {"containerd": {"config": '[plugins."io.containerd.grpc.v1.cri".containerd]\ndiscard_unpacked_layers = false\n'}}, eks
            ),
        ),
        (
            "containerd and limits",
            _of_capa(
                {"containerd": {"baseRuntimeSpec": {"process": {"rlimits": [{"type": "RLIMIT_NOFILE", "soft": 1024, "hard": 1024}]}}}}, eks
            ),
        ),
        ("file", _of_capa({}, eks, cloud={"write_files": [{"path": "/etc/motd", "content": "hello\n"}]})),
    )
    for name, text in rows:
        yield KnownGood(f"cluster API al2023 {name}", "cluster-api", "al2023", text, f"{CAPA}/nodeadm_test.go")


def _documentation() -> Iterable[KnownGood]:
    runtime = '[plugins."io.containerd.grpc.v1.cri".containerd]\ndiscard_unpacked_layers = false\n'
    runtime_3 = "version = 3\n\n[plugins.'io.containerd.cri.v1.images']\ndiscard_unpacked_layers = false\n"
    gvisor = '[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runsc]\nruntime_type = "io.containerd.runsc.v1"\n'
    limits = {"process": {"rlimits": [{"type": "RLIMIT_NOFILE", "soft": 1024, "hard": 1024}]}}
    examples = f"{AMI_DOCS}/examples"
    rows: tuple[tuple[str, str, str | bytes, str, str], ...] = (
        ("minimum", "amazon-eks-ami", node_config(start="---\n"), f"{AMI_REPOSITORY}/blob/main/nodeadm/README.md", ""),
        (
            "several documents",
            "amazon-eks-ami",
            multipart((NODE, node_config(start="---\n")), (NODE, node_config(kubelet(_GRACE), cluster=False, start="---\n"))),
            f"{examples}/#merging-multiple-configuration-objects",
            "",
        ),
        (
            "instance id",
            "amazon-eks-ami",
            node_config({"featureGates": {"InstanceIdNodeName": True}}),
            f"{examples}/#using-instance-id-as-node-name-experimental",
            "",
        ),
        ("containerd", "amazon-eks-ami", node_config({"containerd": {"config": runtime}}), f"{examples}/#configuring-containerd", ""),
        ("containerd 2", "amazon-eks-ami", node_config({"containerd": {"config": runtime_3}}), f"{AMI_REPOSITORY}/pull/2252", "1.33"),
        (
            "limits",
            "amazon-eks-ami",
            node_config({"containerd": {"baseRuntimeSpec": limits}}),
            f"{examples}/#modifying-container-rlimits",
            "",
        ),
        (
            "JSON",
            "amazon-eks-ami",
            json.dumps({"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig", "spec": {"cluster": cluster_section()}}),
            f"{AMI_DOCS}/api",
            "",
        ),
        (
            "disks mounted",
            "amazon-eks-ami",
            node_config({"instance": {"localStorage": {"strategy": "Mount"}}}),
            f"{AMI_DOCS}/api/#localstoragestrategy",
            "",
        ),
        (
            "disks RAID10",
            "amazon-eks-ami",
            node_config({"instance": {"localStorage": {"strategy": "RAID10", "mountPath": "/mnt/disks"}}}),
            f"{AMI_DOCS}/api/#localstorageoptions",
            "",
        ),
        (
            "environment",
            "amazon-eks-ami",
            node_config(
                {
                    "instance": {
                        "environment": {
                            "default": {"HTTPS_PROXY": "http://proxy.example.com:3128"},
                            "containerd": {"NO_PROXY": "10.0.0.0/8,169.254.169.254"},
                        }
                    }
                }
            ),
            f"{AMI_DOCS}/api/#instanceoptions",
            "",
        ),
        (
            "max pods expression",
            "amazon-eks-ami",
            node_config({"kubelet": {"maxPodsExpression": "((default_enis - 1) * (ips_per_eni - 1)) + 2"}}),
            f"{AMI_DOCS}/references/maxpods",
            "",
        ),
        (
            "outpost",
            "amazon-eks-ami",
            node_config({"cluster": {**cluster_section(), "enableOutpost": True, "id": "0a1b2c3d"}}, cluster=False),
            f"{AMI_DOCS}/api/#clusterdetails",
            "",
        ),
        (
            "upgrade guide",
            "aws-docs",
            multipart((NODE, node_config({**kubelet({"maxPods": 110}, LABELS)}, start="---\n")), boundary="==MYBOUNDARY=="),
            f"{AWS_DOCS}/al2023.html",
            "",
        ),
        (
            "EKS managed node group",
            "eks",
            multipart(
                (
                    NODE,
                    node_config(
                        kubelet(
                            {"maxPods": 29, "clusterDNS": [DNS]},
                            "--node-labels=eks.amazonaws.com/nodegroup-image=ami-0123456789abcdef0,"
                            "eks.amazonaws.com/capacityType=ON_DEMAND,eks.amazonaws.com/nodegroup=web",
                        ),
                        start="---\n",
                    ),
                ),
                boundary="//",
            ),
            f"{AWS_DOCS}/launch-templates.html",
            "",
        ),
        (
            "EKS managed node group, additions",
            "eks",
            multipart(
                (US_ASCII, script('echo "before"')),
                (
                    NODE,
                    node_config(
                        kubelet({"maxPods": 29, "clusterDNS": [DNS]}, "--node-labels=eks.amazonaws.com/nodegroup=web"), start="---\n"
                    ),
                ),
                boundary="//",
            ),
            f"{AWS_DOCS}/launch-templates.html",
            "",
        ),
        (
            "knowledge center",
            "aws-docs",
            multipart(
                (NODE, node_config(kubelet({"shutdownGracePeriod": "30s", "evictionHard": {"memory.available": "300Mi"}}), start="---\n")),
                (US_ASCII, script("dnf install -y htop")),
            ),
            "https://repost.aws/knowledge-center/custom-user-eks-2023",
            "",
        ),
        (
            "WebAssembly",
            "aws-samples",
            multipart(
                (
                    NODE,
                    node_config(
                        {
                            "containerd": {
                                "config": (
                                    '[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.spin]\nruntime_type = '
                                    '"io.containerd.spin.v2"\n'
                                )
                            }
                        }
                    ),
                )
            ),
            "https://github.com/aws-samples/amazon-eks-running-webassembly/blob/main/terraform/templates/user-data.tpl",
            "",
        ),
        (
            "GPU",
            "hand-written",
            multipart(
                (NODE, node_config(kubelet({"maxPods": 110}, "--node-labels=nvidia.com/gpu=true"), start="---\n")),
                (US_ASCII, script("nvidia-smi -pm 1")),
                boundary="==BOUNDARY==",
            ),
            "https://github.com/jeanschmidt/pytorch-cloud/blob/main/terraform/modules/eks/user-data-gpu.sh.tpl",
            "",
        ),
        (
            "scripts around",
            "hand-written",
            multipart(
                (US_ASCII, script("set -e", "sysctl -w vm.max_map_count=262144")),
                (US_ASCII, script("set -e", "echo 1 > /proc/sys/vm/overcommit_memory")),
                (NODE, node_config(kubelet({"registryPullQPS": 12, "registryBurst": 40}, LABELS), start="---\n")),
            ),
            "https://github.com/dominodatalab/terraform-aws-eks/blob/main/modules/nodes/templates/linux_user_data_al2023.tpl",
            "",
        ),
        (
            "gVisor",
            "hand-written",
            multipart((SHELL, script("dnf install -y runsc")), (NODE, node_config({"containerd": {"config": gvisor}}))),
            "https://github.com/pytorch/ci-infra/issues/1005",
            "",
        ),
        (
            "drop-in for values of the node",
            "hand-written",
            multipart(
                (NODE, node_config()),
                (
                    SHELL,
                    script(
                        "CPUS=$(nproc)",
                        "cat > /etc/eks/nodeadm.d/50-reserved.yaml <<EOF",
                        "apiVersion: node.eks.aws/v1alpha1",
                        "kind: NodeConfig",
                        "spec:",
                        "  kubelet:",
                        "    config:",
                        "      systemReserved:",
                        "        cpu: ${CPUS}0m",
                        "EOF",
                    ),
                ),
            ),
            f"{AMI_REPOSITORY}/issues/2335",
            "",
        ),
        (
            "work after the join",
            "hand-written",
            multipart(
                (NODE, node_config()),
                (
                    CLOUD,
                    cloud_config(
                        write_files=[
                            {
                                "path": "/etc/systemd/system/after-join.service",
                                "content": (
                                    "[Unit]\nAfter=nodeadm-run.service\n[Service]\nType=oneshot\n"
                                    "ExecStart=/usr/local/bin/after-join\n[Install]\nWantedBy=multi-user.target\n"
                                ),
                            }
                        ],
                        runcmd=[["systemctl", "enable", "after-join"]],
                    ),
                ),
            ),
            f"{AMI_REPOSITORY}/issues/2224",
            "",
        ),
        (
            "kernel parameters",
            "hand-written",
            multipart(
                (CLOUD, cloud_config(bootcmd=[["modprobe", "ip_vs"]])),
                (NODE, node_config(kubelet({"allowedUnsafeSysctls": ["net.core.*"]}))),
            ),
            f"{AMI_REPOSITORY}/issues/1782",
            "",
        ),
        (
            "huge pages",
            "hand-written",
            multipart(
                (US_ASCII, script("echo 'vm.nr_hugepages=5128' > /etc/sysctl.d/90-huge.conf", "sysctl --system")),
                (
                    NODE,
                    node_config(
                        kubelet(
                            {"cpuManagerPolicy": "static", "topologyManagerPolicy": "single-numa-node", "systemReserved": {"cpu": "100m"}}
                        )
                    ),
                ),
            ),
            "https://github.com/awslabs/amazon-eks-ami/pull/1924",
            "",
        ),
        (
            "CloudWatch agent",
            "hand-written",
            multipart(
                (
                    SHELL,
                    script(
                        "set -euo pipefail",
                        "dnf install -y amazon-cloudwatch-agent",
                        "/opt/aws/amazon-cloudwatch-agent/bin/amazon-cloudwatch-agent-ctl -a fetch-config -m ec2 -s -c ssm:/shop/agent",
                    ),
                ),
                (NODE, node_config()),
            ),
            "https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/install-CloudWatch-Agent-on-EC2-Instance.html",
            "",
        ),
        (
            "registry mirror",
            "hand-written",
            multipart(
                (
                    SHELL,
                    script(
                        "install -d /etc/containerd/certs.d/docker.io",
                        "cat > /etc/containerd/certs.d/docker.io/hosts.toml <<'EOF'",
                        'server = "https://docker.io"',
                        '[host."https://mirror.example.com"]',
                        "EOF",
                    ),
                ),
                (NODE, node_config(kubelet({"serializeImagePulls": False, "maxParallelImagePulls": 5}))),
            ),
            "https://github.com/aws/containers-roadmap/issues/1882",
            "",
        ),
        (
            "internal certificate authority",
            "hand-written",
            multipart(
                (SHELL, script("aws s3 cp s3://shop-trust/internal.pem /etc/pki/ca-trust/source/anchors/internal.pem", "update-ca-trust")),
                (NODE, node_config(kubelet(None, LABELS, TAINTS))),
            ),
            "https://github.com/eksctl-io/eksctl/issues/1099",
            "",
        ),
        (
            "wait for a device",
            "hand-written",
            multipart(
                (
                    SHELL,
                    script(
                        "for i in $(seq 1 30); do",
                        "  [ -b /dev/nvme1n1 ] && break",
                        "  sleep 1",
                        "done",
                        "if ! blkid /dev/nvme1n1; then",
                        "  mkfs.xfs /dev/nvme1n1",
                        "fi",
                        "mount /dev/nvme1n1 /mnt",
                    ),
                ),
                (NODE, node_config()),
            ),
            f"{AMI_REPOSITORY}/issues/2122",
            "",
        ),
        (
            "nested quotes",
            "hand-written",
            multipart(
                (
                    NODE,
                    node_config(
                        kubelet(
                            {"evictionHard": {"nodefs.available": "10%"}, "containerLogMaxSize": "50Mi", "containerLogMaxFiles": 3},
                            "--node-labels=a=b",
                            "--v=3",
                        )
                    ),
                )
            ),
            "https://github.com/terraform-aws-modules/terraform-aws-eks/issues/2045",
            "",
        ),
        (
            "base64",
            "crossplane",
            base64_of(multipart((NODE, node_config(kubelet({"maxPods": 58}))), boundary="//")),
            "https://github.com/awslabs/crossplane-on-eks",
            "",
        ),
        (
            "compressed",
            "hashicorp-cloudinit",
            gzip_of(
                multipart(
                    (NODE, node_config(kubelet({"maxPods": 58}, LABELS))), (CLOUD, cloud_config(timezone="UTC")), boundary="MIMEBOUNDARY"
                )
            ),
            "https://registry.terraform.io/providers/hashicorp/cloudinit/latest/docs/data-sources/config",
            "",
        ),
        (
            "nodeadm",
            "pulumi-eks",
            multipart(
                (NODE, node_config(kubelet({"clusterDNS": [DNS]}, LABELS, TAINTS), start="---\n")),
                (SHELL, script("/opt/aws/bin/cfn-signal --exit-code 0 --stack shop --resource web --region eu-west-1")),
                boundary="BOUNDARY-1",
            ),
            "https://github.com/pulumi/pulumi-eks/blob/master/nodejs/eks/nodes/userdata.ts",
            "",
        ),
        (
            "CloudFormation",
            "cloudformation",
            multipart(
                (NODE, node_config(start="---\n")),
                (
                    US_ASCII,
                    script(
                        "set -o errexit",
                        "set -o nounset",
                        "/opt/aws/bin/cfn-signal --exit-code 0 --stack shop --resource web --region eu-west-1",
                    ),
                ),
            ),
            f"{AMI_REPOSITORY}/issues/1863",
            "",
        ),
        (
            "CDK",
            "aws-cdk",
            multipart((NODE, node_config(kubelet({"podsPerCore": 10, "maxPods": 110}))), (SHELL, script("set -o xtrace")), boundary="//"),
            "https://github.com/aws/aws-cdk/blob/main/packages/aws-cdk-lib/aws-ec2/lib/user-data.ts",
            "",
        ),
        (
            "cloudposse",
            "cloudposse",
            multipart((US_ASCII, script("echo before")), (NODE, node_config(kubelet({"maxPods": 110}, "--node-labels=team=web")))),
            "https://github.com/cloudposse/terraform-aws-eks-node-group/blob/main/userdata_al2023.tpl",
            "",
        ),
    )
    for name, tool, text, url, version in rows:
        minor = (1, int(version.partition(".")[2])) if version else None
        yield KnownGood(f"{tool} al2023 {name}", tool, "al2023", text, url, minor)


ROWS = (*_terraform(), *_eksctl(), *_karpenter(), *_cluster_api(), *_documentation())

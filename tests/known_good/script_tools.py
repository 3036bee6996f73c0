# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Valid user data of tools that call /etc/eks/bootstrap.sh of Amazon Linux 2 and Ubuntu."""

from __future__ import annotations

import json
from collections.abc import Iterable

from ansible_collections.nodebootstrap.eks.tests.known_good.model import (
    CA,
    CIDR6,
    CLOUD,
    DNS,
    ENDPOINT,
    FACTS,
    NAME,
    SHELL,
    US_ASCII,
    VARIABLES,
    WITH_VARIABLES,
    KnownGood,
    base64_of,
    bootstrap,
    cloud_config,
    gzip_of,
    multipart,
    script,
)

EKSCTL = "https://github.com/eksctl-io/eksctl/blob/main/pkg/nodebootstrap"
EKSCTL_LEGACY = "https://github.com/eksctl-io/eksctl/blob/019d748ab04153c90c66fc73b51a5379d6bc7d3c/pkg/nodebootstrap"
TERRAFORM = "https://github.com/terraform-aws-modules/terraform-aws-eks/blob"
KARPENTER = "https://github.com/aws/karpenter-provider-aws/blob/main"
CAPA = "https://github.com/kubernetes-sigs/cluster-api-provider-aws/blob/main/bootstrap/eks/internal/userdata/node_test.go"
AWS_DOCS = "https://docs.aws.amazon.com/eks/latest/userguide"
REPOST = "https://repost.aws/knowledge-center"
AMI_DOCS = "https://github.com/awslabs/amazon-eks-ami"

_HELPER = script(
    "set -o errexit",
    "set -o pipefail",
    "set -o nounset",
    "source /etc/eksctl/kubelet.env",
    'KUBELET_EXTRA_ARGS="--node-labels=${NODE_LABELS}"',
    'if [ -n "${NODE_TAINTS}" ]; then',
    '  KUBELET_EXTRA_ARGS="${KUBELET_EXTRA_ARGS} --register-with-taints=${NODE_TAINTS}"',
    "fi",
)


def _of_eksctl(family: str, env: Iterable[str] = (), extra: object = None, files: Iterable[str] = (), pre: Iterable[str] = ()) -> str:
    """The cloud-config of eksctl: files with settings, and scripts that use them. extra: of kubelet. files: more scripts. pre: commands."""
    where = "/var/lib/cloud/scripts/eksctl"
    options = ' \\\n  --apiserver-endpoint "${API_SERVER_URL}" \\\n  --b64-cluster-ca "${B64_CLUSTER_CA}"' if family == "al2" else ""
    restart = "systemctl restart kubelet" if family == "al2" else "snap restart kubelet-eks"
    call = script(
        "set -o errexit",
        f"source {where}/bootstrap.helper.sh",
        f'/etc/eks/bootstrap.sh "${{CLUSTER_NAME}}"{options} \\\n  --kubelet-extra-args "${{KUBELET_EXTRA_ARGS}}"',
        "trap 'rm -f ${TMP_KUBE_CONF}' EXIT",
        'jq -s \'.[0] * .[1]\' "${KUBELET_CONFIG}" "${KUBELET_EXTRA_CONFIG}" > "${TMP_KUBE_CONF}"',
        'mv "${TMP_KUBE_CONF}" "${KUBELET_CONFIG}"',
        restart,
    )
    settings = [f"CLUSTER_NAME={NAME}", f"API_SERVER_URL={ENDPOINT}", f"B64_CLUSTER_CA={CA}", *env]
    written = [
        ("/etc/eksctl/kubelet-extra.json", json.dumps(extra or {}), "0644"),
        ("/etc/eksctl/kubelet.env", "\n".join(settings), "0644"),
        *((f"{where}/{name}", script(f"echo {name}"), "0755") for name in files),
        (f"{where}/bootstrap.helper.sh", _HELPER, "0755"),
        (f"{where}/bootstrap.{family}.sh", call, "0755"),
    ]
    runs = [["/bin/bash", "-c", command] for command in pre]
    runs += [[path] for path, _content, mode in written if mode == "0755" and "helper" not in path]
    return cloud_config(
        runcmd=runs,
        write_files=[{"content": content, "owner": "root:root", "path": path, "permissions": mode} for path, content, mode in written],
    )


def _eksctl() -> Iterable[KnownGood]:
    labels, taints = "NODE_LABELS=team=web,tier=front", "NODE_TAINTS=dedicated=web:NoSchedule"
    rows: list[tuple[str, str, str | bytes, str]] = []
    for family in ("al2", "ubuntu"):
        rows += [
            ("default", family, _of_eksctl(family, ("NODE_LABELS=", "NODE_TAINTS=")), f"{family}_test.go"),
            ("labels and taints", family, _of_eksctl(family, (labels, taints), {"podPidsLimit": 900}), f"{family}_test.go"),
            ("max pods", family, _of_eksctl(family, (labels, "NODE_TAINTS=", "MAX_PODS=58")), f"{family}_test.go"),
            ("cluster DNS", family, _of_eksctl(family, (labels, taints, f"CLUSTER_DNS={DNS}")), f"{family}_test.go"),
            ("commands", family, _of_eksctl(family, (labels,), pre=("sysctl -w vm.max_map_count=262144", "date")), f"{family}_test.go"),
        ]
    rows += [
        ("SSM", "al2", _of_eksctl("al2", (labels,), files=("install-ssm.al2.sh",)), "al2_test.go"),
        ("EFA", "al2", _of_eksctl("al2", (labels,), files=("efa.al2.sh",)), "al2_test.go"),
        ("runtime", "al2", _of_eksctl("al2", (labels, "CONTAINER_RUNTIME=containerd")), "userdata.go"),
        ("encoded", "al2", base64_of(_of_eksctl("al2", (labels, taints, "MAX_PODS=20"))), "userdata.go"),
        ("compressed", "al2", gzip_of(_of_eksctl("al2", (labels, taints, "MAX_PODS=20", f"CLUSTER_DNS={DNS}"))), "userdata.go"),
    ]
    for name, family, text, path in rows:
        yield KnownGood(f"eksctl {family} {name}", "eksctl", family, text, f"{EKSCTL_LEGACY}/{path}", cluster=None)
    override = cloud_config(runcmd=[["/bin/bash", "-c", bootstrap(FACTS, "--kubelet-extra-args '--node-labels=team=web'")]])
    yield KnownGood("eksctl al2 override", "eksctl", "al2", override, f"{EKSCTL_LEGACY}/al2_test.go", cluster=None)
    managed = (SHELL, script("set -ex", *VARIABLES, bootstrap(WITH_VARIABLES)))
    pre = (SHELL, script("date", first="#!/bin/sh"))
    yield KnownGood(
        "eksctl al2 managed custom AMI", "eksctl", "al2", multipart(pre, managed, boundary="8f2c19ab"), f"{EKSCTL}/managed_al2_test.go"
    )
    edit = "sed -i 's/KUBELET_EXTRA_ARGS=$2/KUBELET_EXTRA_ARGS=\"$2 --max-pods=142\"/' /etc/eks/bootstrap.sh"
    headers = ('Content-Type: charset="us-ascii"',)
    yield KnownGood(
        "eksctl al2 managed max pods",
        "eksctl",
        "al2",
        multipart((SHELL, script("set -ex", edit, first="#!/bin/sh"), headers), boundary="//", quoted=False),
        f"{EKSCTL}/managed_al2_test.go",
        cluster=None,
    )
    yield KnownGood(
        "eksctl al2 managed two headers",
        "eksctl",
        "al2",
        multipart((SHELL, script("date"), headers), (SHELL, managed[1], headers), boundary="4b1e77"),
        f"{EKSCTL}/managed_al2_test.go",
    )


def _terraform() -> Iterable[KnownGood]:
    args = "--kubelet-extra-args '--node-labels=node.kubernetes.io/lifecycle=spot'"
    rows = (
        ("v18", "v18.31.2/templates/linux_user_data.tpl", script("set -e", *VARIABLES, bootstrap(args, WITH_VARIABLES), 'echo "ready"')),
        (
            "v19 service CIDR",
            "v19.21.0/templates/linux_user_data.tpl",
            script("set -e", "export ZONE=a", "export SERVICE_IPV4_CIDR=10.100.0.0/16", *VARIABLES, bootstrap(args, WITH_VARIABLES)),
        ),
        (
            "v20 address family",
            "v20.37.2/templates/al2_user_data.tpl",
            script(
                "set -e",
                *VARIABLES,
                bootstrap(args, WITH_VARIABLES, "\\\n  --ip-family ipv4 --service-ipv4-cidr 10.100.0.0/16"),
                'echo "ready"',
            ),
        ),
        (
            "v20 IPv6",
            "v20.37.2/tests/user-data/rendered/al2/self-mng-bootstrap-ipv6.sh",
            script(
                "set -e",
                'echo "before"',
                "export ZONE=a",
                *VARIABLES,
                bootstrap(args, WITH_VARIABLES, f"\\\n  --ip-family ipv6 --service-ipv6-cidr {CIDR6}"),
            ),
        ),
        (
            "v17 self managed",
            "v17.24.0/templates/userdata.sh.tpl",
            script(
                "",
                "# Allow user supplied pre userdata code",
                "sysctl -w net.core.somaxconn=1024",
                "",
                f"/etc/eks/bootstrap.sh --b64-cluster-ca '{CA}' --apiserver-endpoint '{ENDPOINT}'  "
                f"--kubelet-extra-args \"--node-labels=spot=true --register-with-taints=spot=true:NoSchedule\" '{NAME}'",
                first="#!/bin/bash -e",
            ),
        ),
        (
            "v17 launch template",
            "v17.24.0/examples/launch_templates_with_managed_node_groups/templates/userdata.sh.tpl",
            multipart(
                (
                    US_ASCII,
                    script(
                        "sed -i 's/10m/300m/g' /etc/logrotate.conf",
                        f"/etc/eks/bootstrap.sh --b64-cluster-ca '{CA}' --apiserver-endpoint '{ENDPOINT}' --kubelet-extra-args "
                        f"\"--v=2\" '{NAME}'",
                    ),
                    ("MIME-Version: 1.0", "Content-Transfer-Encoding: 7bit", 'Content-Disposition: attachment; filename="userdata.txt"'),
                ),
                boundary="//",
                version_first=False,
            ),
        ),
        (
            "v19 managed additions",
            "v19.21.0/modules/_user_data/main.tf",
            multipart(
                (SHELL, script("modprobe br_netfilter"), ("Content-Transfer-Encoding: 7bit", "Mime-Version: 1.0")),
                boundary="//",
                version_first=False,
            ),
        ),
        (
            "v19 max pods in the environment",
            "v19.21.0/docs/user_data.md",
            script(
                "set -e",
                "cat <<-EOF > /etc/profile.d/bootstrap.sh",
                "export USE_MAX_PODS=false",
                'export KUBELET_EXTRA_ARGS="--max-pods=110"',
                "EOF",
                "sed -i '/^set -o errexit/a\\\\nsource /etc/profile.d/bootstrap.sh' /etc/eks/bootstrap.sh",
            ),
        ),
        (
            "v20 base64 part",
            "v20.37.2/modules/_user_data/main.tf",
            multipart(
                (SHELL, base64_of(script("sysctl -w vm.swappiness=0")), ("Content-Transfer-Encoding: base64",)),
                (CLOUD, cloud_config(timezone="UTC")),
                boundary="MIMEBOUNDARY",
            ),
        ),
    )
    for name, path, text in rows:
        known = None if "additions" in name or "environment" in name or "base64" in name else NAME
        yield KnownGood(f"terraform-aws-eks al2 {name}", "terraform-aws-eks", "al2", text, f"{TERRAFORM}/{path}", cluster=known)


def _karpenter() -> Iterable[KnownGood]:
    log = "exec > >(tee /var/log/user-data.log|logger -t user-data -s 2>/dev/console) 2>&1"
    head = f"/etc/eks/bootstrap.sh '{NAME}' --apiserver-endpoint '{ENDPOINT}' --b64-cluster-ca '{CA}' \\\n"
    labels = "--node-labels=karpenter.sh/capacity-type=on-demand,karpenter.sh/nodepool=general"

    def own(*words: str) -> tuple[str, str]:
        return (US_ASCII, script(log, head + " \\\n".join(words), first="#!/bin/bash -xe"))

    dns = f"--dns-cluster-ip '{DNS}'"
    user = (US_ASCII, script('echo "before the node joins"'))
    golden = "pkg/providers/launchtemplate/testdata"
    plain = own("--use-max-pods false", "--container-runtime containerd", f"--kubelet-extra-args '{labels}  --max-pods=110'", dns)
    rows = (
        ("unmerged", f"{golden}/al2_userdata_unmerged.golden", multipart(plain, boundary="//")),
        (
            "merged",
            f"{golden}/al2_userdata_merged.golden",
            multipart(user, own("--use-max-pods false", f"--kubelet-extra-args '{labels} --max-pods=110'"), boundary="//"),
        ),
        (
            "content type first",
            f"{golden}/al2_userdata_content_type_first_input.golden",
            multipart(user, boundary="BOUNDARY", version_first=False),
        ),
        (
            "taints and reservations",
            "pkg/providers/amifamily/bootstrap/eksbootstrap.go",
            multipart(
                own(
                    "--container-runtime containerd",
                    dns,
                    "--use-max-pods false",
                    f"--kubelet-extra-args '{labels} --register-with-taints=karpenter.sh/unregistered:NoExecute --max-pods=58 "
                    "--kube-reserved=cpu=80m,memory=893Mi --system-reserved=cpu=100m --eviction-hard=memory.available<5%'",
                ),
                boundary="//",
            ),
        ),
        (
            "disks",
            "pkg/providers/amifamily/bootstrap/eksbootstrap.go",
            multipart(own("--container-runtime containerd", dns, "--local-disks raid0", f"--kubelet-extra-args '{labels}'"), boundary="//"),
        ),
        (
            "IPv6",
            "pkg/providers/amifamily/bootstrap/eksbootstrap.go",
            multipart(own("--ip-family ipv6", "--dns-cluster-ip 'fd12:3456:789a::a'", f"--kubelet-extra-args '{labels}'"), boundary="//"),
        ),
        (
            "custom family",
            "test/suites/nodeclaim/testdata/al2_userdata_input.sh",
            multipart(
                (
                    US_ASCII,
                    script(log, head + f"--use-max-pods false \\\n--container-runtime containerd \\\n--kubelet-extra-args '{labels}'"),
                )
            ),
        ),
    )
    for name, path, text in rows:
        known = None if name == "content type first" else NAME
        yield KnownGood(f"karpenter al2 {name}", "karpenter", "al2", text, f"{KARPENTER}/{path}", cluster=known)


def _cluster_api() -> Iterable[KnownGood]:
    args = "--kubelet-extra-args '--node-labels=node-role.example.com/infra=true --register-with-taints=dedicated=infra:NoSchedule'"
    plain = bootstrap()
    disk = {
        "disk_setup": {"/dev/sdb": {"layout": True}},
        "fs_setup": [{"label": "vol2", "filesystem": "ext4", "device": "/dev/sdb"}],
        "mounts": [["LABEL=vol2", "/mnt/vol2", "ext4", "defaults"]],
    }
    file = {"path": "/etc/sysctl.d/91-fs-inotify.conf", "content": "fs.inotify.max_user_instances=256\n"}
    rows = (
        ("name", {"runcmd": [plain]}),
        ("arguments", {"runcmd": [bootstrap(args)]}),
        ("runtime", {"runcmd": [bootstrap("--container-runtime containerd")]}),
        ("arguments and runtime", {"runcmd": [bootstrap(args, "--container-runtime containerd")]}),
        ("IPv6", {"runcmd": [bootstrap("--ip-family ipv6 --service-ipv6-cidr", CIDR6)]}),
        ("no max pods", {"runcmd": [bootstrap("--use-max-pods false")]}),
        ("retries", {"runcmd": [bootstrap("--aws-api-retry-attempts 5")]}),
        ("pause image", {"runcmd": [bootstrap("--pause-container-account 602401143452 --pause-container-version 3.5")]}),
        ("DNS", {"runcmd": [bootstrap("--dns-cluster-ip", DNS)]}),
        ("docker", {"runcmd": [bootstrap("--docker-config-json '{\"debug\":true}'")]}),
        ("before", {"runcmd": ["date", 'echo "before"', plain]}),
        ("after", {"runcmd": [plain, "date", 'echo "after"']}),
        ("before and after", {"runcmd": ['echo "before"', plain, 'echo "after"']}),
        ("other program", {"runcmd": ["/custom/join.sh shop"]}),
        ("disks", {"runcmd": [plain], **disk}),
        ("file", {"write_files": [file], "runcmd": [plain]}),
        ("NTP", {"runcmd": [plain], "ntp": {"enabled": True, "servers": ["169.254.169.123"]}}),
        ("user", {"runcmd": [plain], "users": [{"name": "ops", "shell": "/bin/bash"}]}),
    )
    for name, keys in rows:
        known = None if name == "other program" else NAME
        yield KnownGood(f"cluster API al2 {name}", "cluster-api", "al2", cloud_config(**keys), CAPA, cluster=known)


ROWS = (*_eksctl(), *_terraform(), *_karpenter(), *_cluster_api())

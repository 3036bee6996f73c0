# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Valid user data that calls /etc/eks/bootstrap.sh, of documentation and of people: Amazon Linux 2 and Ubuntu."""

from __future__ import annotations

from collections.abc import Iterable

from ansible_collections.nodebootstrap.eks.tests.known_good.model import (
    CA,
    DNS,
    ENDPOINT,
    FACTS,
    NAME,
    US_ASCII,
    VARIABLES,
    WITH_VARIABLES,
    KnownGood,
    bootstrap,
    cloud_config,
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

PROXY = (
    'PROXY="proxy.example.com:3128"',
    "mkdir -p /etc/systemd/system/containerd.service.d",
    "cloud-init-per instance yum_proxy_config cat << EOF >> /etc/yum.conf",
    "proxy=http://$PROXY",
    "EOF",
    "cloud-init-per instance proxy_config cat << EOF >> /etc/environment",
    "http_proxy=http://$PROXY",
    "https_proxy=http://$PROXY",
    "no_proxy=10.0.0.0/16,localhost,127.0.0.1,169.254.169.254,.internal",
    "EOF",
    "cloud-init-per instance runtime_proxy tee <<EOF /etc/systemd/system/containerd.service.d/proxy.conf >/dev/null",
    "[Service]",
    "EnvironmentFile=/etc/environment",
    "EOF",
    "cloud-init-per instance reload_daemon systemctl daemon-reload",
)
CFN = "/opt/aws/bin/cfn-signal --exit-code $? --stack shop-nodes --resource NodeGroup --region eu-west-1"
LOG = "exec > >(tee /var/log/user-data.log|logger -t user-data -s 2>/dev/console) 2>&1"
SSM = ("yum install -y amazon-ssm-agent", "systemctl enable amazon-ssm-agent && systemctl start amazon-ssm-agent")
OF_EKS = (
    "--kubelet-extra-args "
    "'--node-labels=eks.amazonaws.com/nodegroup-image=ami-0123456789abcdef0,eks.amazonaws.com/nodegroup=web --max-pods=29'"
)


def _without_blank(kind: str, text: str, boundary: str = "//") -> str:
    """A document whose part has no blank line between its headers and its script, which cloud-init reads."""
    head = f'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="{boundary}"\n\n'
    return f"{head}--{boundary}\nContent-Type: {kind}\n{text}\n--{boundary}--\n"


def _others() -> Iterable[KnownGood]:
    named = (
        (
            "EKS managed node group",
            "eks",
            f"{AWS_DOCS}/launch-templates.html",
            _without_blank(
                US_ASCII,
                script(
                    "set -ex",
                    *VARIABLES,
                    f"K8S_CLUSTER_DNS_IP={DNS}",
                    bootstrap(OF_EKS, WITH_VARIABLES, "--dns-cluster-ip $K8S_CLUSTER_DNS_IP --use-max-pods false"),
                ),
            ),
        ),
        (
            "EKS managed node group, additions",
            "eks",
            f"{AWS_DOCS}/launch-templates.html",
            multipart(
                (US_ASCII, script('echo "before"')),
                (
                    US_ASCII,
                    script(
                        "set -ex",
                        *VARIABLES,
                        f"K8S_CLUSTER_DNS_IP={DNS}",
                        bootstrap(OF_EKS, WITH_VARIABLES, "--dns-cluster-ip $K8S_CLUSTER_DNS_IP"),
                    ),
                ),
                boundary="//",
            ),
        ),
        (
            "custom user data of a launch template",
            "aws-docs",
            f"{AWS_DOCS}/launch-templates.html#launch-template-user-data",
            multipart((US_ASCII, script('echo "before"')), boundary="==MYBOUNDARY=="),
        ),
        (
            "custom AMI of a launch template",
            "aws-docs",
            f"{AWS_DOCS}/launch-templates.html#launch-template-custom-ami",
            multipart(
                (
                    US_ASCII,
                    script(
                        "set -ex",
                        f"/etc/eks/bootstrap.sh {NAME} \\\n  --b64-cluster-ca {CA} \\\n  --apiserver-endpoint {ENDPOINT} \\\n"
                        f"  --dns-cluster-ip {DNS} \\\n  --kubelet-extra-args '--max-pods=29' \\\n  --use-max-pods false",
                    ),
                ),
                boundary="==MYBOUNDARY==",
            ),
        ),
        (
            "node group of CloudFormation",
            "cloudformation",
            f"{AMI_DOCS}/blob/al2/amazon-eks-nodegroup.yaml",
            script("set -o xtrace", bootstrap(), CFN),
        ),
        (
            "node group of CloudFormation, arguments",
            "cloudformation",
            f"{AWS_DOCS}/launch-workers.html",
            script("set -o xtrace", bootstrap("--use-max-pods false --kubelet-extra-args '--max-pods=110'"), CFN),
        ),
        (
            "local disks",
            "aws-docs",
            f"{AMI_DOCS}/blob/al2/templates/al2/runtime/bootstrap.sh",
            script(bootstrap("--local-disks raid0")),
        ),
        (
            "containerd and its own file",
            "aws-docs",
            f"{AMI_DOCS}/blob/al2/templates/al2/runtime/bootstrap.sh",
            script(bootstrap("--container-runtime containerd --containerd-config-file /etc/eks/own.toml --mount-bpf-fs true")),
        ),
        (
            "local outpost",
            "aws-docs",
            f"{AWS_DOCS}/eks-outposts-self-managed-nodes.html",
            script(bootstrap(FACTS, "--enable-local-outpost true --cluster-id 0a1b2c3d-1234-4321-abcd-0123456789ab")),
        ),
        (
            "proxy",
            "aws-docs",
            f"{REPOST}/eks-http-proxy-containerd-automation",
            multipart(
                ('text/cloud-boothook; charset="us-ascii"', "#cloud-boothook\n" + "\n".join(PROXY)),
                (US_ASCII, script("set -o xtrace", "set -a", "source /etc/environment", bootstrap(FACTS))),
                boundary="==BOUNDARY==",
                version_first=False,
            ),
        ),
        (
            "proxy without a call",
            "hand-written",
            "https://github.com/mannbiher/aws-eks-lab/blob/master/infrastructure/eks/userdata.sh",
            multipart(
                ('text/cloud-boothook; charset="us-ascii"', "#!/bin/bash\n" + "\n".join(PROXY)),
                (US_ASCII, script("set -o xtrace", "set -a", "source /etc/environment")),
                boundary="==BOUNDARY==",
                version_first=False,
            ),
        ),
        (
            "spot and on demand",
            "aws-cdk",
            "https://github.com/aws/aws-cdk/blob/main/packages/aws-cdk-lib/aws-eks/lib/user-data.ts",
            script(
                "set -o xtrace",
                f'/etc/eks/bootstrap.sh {NAME} --kubelet-extra-args "--node-labels lifecycle=Ec2Spot '
                f"--register-with-taints=spotInstance=true:PreferNoSchedule\" --apiserver-endpoint '{ENDPOINT}' --b64-cluster-ca '{CA}' "
                "--use-max-pods true",
                CFN,
            ),
        ),
        (
            "on demand and more options",
            "aws-cdk",
            "https://github.com/aws/aws-cdk/blob/main/packages/aws-cdk-lib/aws-eks/test/user-data.test.ts",
            script(
                "set -o xtrace",
                f'/etc/eks/bootstrap.sh {NAME} --kubelet-extra-args "--node-labels lifecycle=OnDemand  --node-labels FOO=42" '
                "--use-max-pods false --aws-api-retry-attempts 88",
                CFN,
            ),
        ),
        (
            "node group",
            "pulumi-eks",
            "https://github.com/pulumi/pulumi-eks/blob/master/nodejs/eks/nodes/userdata.ts",
            script(
                "",
                f'/etc/eks/bootstrap.sh --apiserver-endpoint "{ENDPOINT}" --b64-cluster-ca "{CA}" "{NAME}" '
                "--kubelet-extra-args '--node-labels=team=web --register-with-taints=dedicated=web:NoSchedule'",
                "echo ready",
                CFN,
            ),
        ),
        (
            "workers",
            "cloudposse",
            "https://github.com/cloudposse/terraform-aws-eks-workers/blob/main/userdata.tpl",
            script(
                "",
                "# settings of the system",
                "sysctl -w vm.max_map_count=262144",
                "",
                f"/etc/eks/bootstrap.sh --apiserver-endpoint '{ENDPOINT}' --b64-cluster-ca '{CA}' --use-max-pods false '{NAME}'",
                "",
                "echo ready",
            ),
        ),
        (
            "node group without a blank line",
            "cloudposse",
            "https://github.com/cloudposse/terraform-aws-eks-node-group/blob/main/userdata.tpl",
            _without_blank(US_ASCII, script("", "# settings of the node", "echo before", 'export KUBELET_EXTRA_ARGS="--v=2"')),
        ),
        (
            "labels, taints and more",
            "hand-written",
            "https://github.com/quortex/terraform-aws-eks-cluster/blob/master/userdata.sh.tpl",
            script(
                "set -ex ",
                f"/etc/eks/bootstrap.sh {NAME} \\\n  --kubelet-extra-args '--node-labels=a=b "
                "--register-with-taints=c=d:NoSchedule --v=2' \\\n"
                f"  --b64-cluster-ca {CA} \\\n  --apiserver-endpoint {ENDPOINT}",
                first="#!/bin/bash ",
            ),
        ),
        (
            "warm pool",
            "hand-written",
            "https://github.com/quortex/terraform-aws-eks-cluster/blob/master/userdata-warm.sh.tpl",
            multipart(
                (
                    'text/cloud-config; charset="us-ascii"',
                    "#cloud-config\ncloud_final_modules:\n- [scripts-user, always]\n",
                    (
                        "MIME-Version: 1.0",
                        "Content-Transfer-Encoding: 7bit",
                        'Content-Disposition: attachment; filename="cloud-config.txt"',
                    ),
                ),
                (
                    US_ASCII,
                    script(
                        "set -ex",
                        'if TOKEN=`curl -X PUT "http://169.254.169.254/latest/api/token" -H '
                        '"X-aws-ec2-metadata-token-ttl-seconds: 21600"` \\\n'
                        '&& curl -H "X-aws-ec2-metadata-token: $TOKEN" '
                        "http://169.254.169.254/latest/meta-data/autoscaling/target-lifecycle-state "
                        '| grep "InService"; then',
                        f"    /etc/eks/bootstrap.sh {NAME} \\\n        --use-max-pods false \\\n        --kubelet-extra-args "
                        "'--node-labels=a=b' \\\n"
                        f"        --b64-cluster-ca {CA} \\\n        --apiserver-endpoint {ENDPOINT}",
                        "fi",
                    ),
                    ("MIME-Version: 1.0", "Content-Transfer-Encoding: 7bit", 'Content-Disposition: attachment; filename="userdata.txt"'),
                ),
                boundary="//",
                version_first=False,
            ),
        ),
        (
            "labels of EKS",
            "hand-written",
            "https://github.com/ashkan-farivarmoheb/odoo-infra/blob/main/eks-cluster/templates/userdata.tpl",
            script(
                "set -o xtrace",
                f"/etc/eks/bootstrap.sh {NAME} \\\n  --b64-cluster-ca {CA} \\\n  --apiserver-endpoint {ENDPOINT} \\\n  "
                f"--dns-cluster-ip {DNS} \\\n"
                '  --kubelet-extra-args "--node-labels=eks.amazonaws.com/nodegroup-image=ami-0123456789abcdef0 --max-pods=110"',
            ),
        ),
        (
            "session manager",
            "hand-written",
            "https://github.com/umotif-public/terraform-aws-eks-node-group/blob/main/examples/single-node-group-with-launch-template/userdata.tpl",
            multipart((US_ASCII, script("set -ex", "", LOG, "", *SSM, "", bootstrap(FACTS))), boundary="==MYBOUNDARY=="),
        ),
        (
            "session manager after the call",
            "hand-written",
            "https://github.com/aws-development/terraform-aws-eks-deployment/blob/master/userdata.tpl",
            multipart(
                (
                    US_ASCII,
                    script(
                        "set -ex",
                        LOG,
                        bootstrap(FACTS, "--dns-cluster-ip", DNS),
                        "sudo yum install -y https://s3.amazonaws.com/ec2-downloads-windows/SSMAgent/latest/linux_amd64/amazon-ssm-agent.rpm",
                        "systemctl enable amazon-ssm-agent",
                        "systemctl restart amazon-ssm-agent",
                        "systemctl restart kubelet.service",
                    ),
                ),
                boundary="==MYBOUNDARY==",
            ),
        ),
        (
            "log of its own",
            "aws-samples",
            "https://github.com/aws-samples/terraform-eks-code/blob/master/ManNodes-ami/lt-037df4653a1121595.sh",
            multipart(
                (
                    US_ASCII,
                    script(
                        'echo "before"',
                        bootstrap("--kubelet-extra-args '--node-labels=eks.amazonaws.com/nodegroup=web'"),
                        'echo "after" > /tmp/log.txt',
                        *SSM,
                        "date >> /tmp/log.txt",
                    ),
                ),
                boundary="==MYBOUNDARY==",
            ),
        ),
        (
            "CloudWatch agent",
            "hand-written",
            "https://github.com/BielosX/CKA-Kubernetes-Admin/blob/main/aws-eks-cluster/modules/self-managed-nodes/init.sh",
            script(
                LOG,
                "  yum -y install jq",
                '  TOKEN=$(curl -X PUT "http://169.254.169.254/latest/api/token" -H "X-aws-ec2-metadata-token-ttl-seconds: 21600")',
                '  document=$(curl -H "X-aws-ec2-metadata-token: $TOKEN" http://169.254.169.254/latest/dynamic/instance-identity/document)',
                "  REGION=$(jq -r '.region' <<< \"$document\")",
                '  AGENT="https://s3.$REGION.amazonaws.com/amazoncloudwatch-agent-$REGION/amazon_linux/amd64/latest/amazon-cloudwatch-agent.rpm"',
                '  wget -nv "$AGENT"',
                "  rpm -U ./amazon-cloudwatch-agent.rpm",
                "  /opt/aws/amazon-cloudwatch-agent/bin/amazon-cloudwatch-agent-ctl -a fetch-config -m ec2 -s -c ssm:/shop/agent",
                f'  /etc/eks/bootstrap.sh "{NAME}" \\\n    --container-runtime containerd',
            ),
        ),
        (
            "security agent and FIPS",
            "hand-written",
            "https://github.com/uc-cdis/cloud-automation/blob/master/flavors/eks/bootstrap.sh",
            multipart(
                (
                    US_ASCII,
                    script(
                        "cat >> /home/ec2-user/.ssh/authorized_keys <<EFO",
                        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExample ops",
                        "EFO",
                        "sysctl fs.inotify.max_user_watches=12000",
                        'KUBELET_EXTRA_ARGUMENTS="--node-labels=role=web"',
                        "if [[ web != default ]];",
                        "then",
                        '    KUBELET_EXTRA_ARGUMENTS="$KUBELET_EXTRA_ARGUMENTS --register-with-taints=role=web:NoSchedule"',
                        "fi",
                        f'/etc/eks/bootstrap.sh --kubelet-extra-args "$KUBELET_EXTRA_ARGUMENTS" {NAME} --apiserver-endpoint '
                        f"{ENDPOINT} --b64-cluster-ca {CA}",
                        'if [[ ! -z "4d2" ]] || [[ ! -z "7f1" ]]; then',
                        "    aws s3 cp s3://shop-agents/agent.rpm ./agent.x86_64.rpm",
                        "    sudo rpm -ivh agent.x86_64.rpm",
                        "    sudo /usr/local/agent/bin/agent.sh ActivationId=4d2 CustomerId=7f1",
                        "fi",
                        "sudo yum install -y dracut-fips openssl >> /opt/fips-install.log",
                        "sudo  dracut -f",
                        'sudo /sbin/grubby --update-kernel=ALL --args="fips=1"',
                        first="#!/bin/bash -xe",
                    ),
                ),
                (
                    'text/cloud-config; charset="us-ascii"',
                    "#cloud-config\npower_state:\n    delay: now\n    mode: reboot\n    timeout: 2\n    condition: true\n",
                ),
            ),
        ),
        (
            "volumes in a template of cloud-init",
            "hand-written",
            "https://github.com/cookpad/terraform-aws-eks/blob/main/modules/asg_node_group/cloud_config.tpl",
            "## template: jinja\n#cloud-config\nfqdn: node-{{ v1.instance_id }}\nfs_setup:\n- device: /dev/nvme1n1\n  filesystem: ext4\n"
            '  label: data\n  partition: none\nmounts:\n- [/dev/disk/by-label/data, /var/lib/containerd, ext4, "defaults,noatime", 0, 0]\n'
            "runcmd:\n- [systemctl, restart, containerd]\n"
            f"- [/etc/eks/bootstrap.sh, {NAME}, --kubelet-extra-args, '--node-labels=a=b --register-with-taints=\"c=d:NoSchedule\"']\n",
        ),
        (
            "GPU",
            "hand-written",
            "https://github.com/jeanschmidt/pytorch-cloud/blob/main/terraform/modules/eks/user-data-gpu.sh.tpl",
            script(
                "# A node with a GPU",
                "set -o xtrace",
                f"/etc/eks/bootstrap.sh {NAME} \\\n  --kubelet-extra-args '--max-pods=110 --node-labels=nvidia.com/gpu=true'",
                "nvidia-smi -pm 1",
            ),
        ),
        (
            "several interfaces",
            "aws-samples",
            "https://github.com/aws-samples/eks-install-guide-for-multus/blob/main/cfn/templates/nodegroup/eks-nodegroup-multus.yaml",
            script(
                "set -o xtrace",
                bootstrap("--kubelet-extra-args '--cpu-manager-policy=static'"),
                CFN,
                'echo "net.ipv4.conf.default.rp_filter = 0" | tee -a /etc/sysctl.conf',
                "sudo sysctl -p",
                "sleep 45",
                "ls /sys/class/net/ > /tmp/interfaces; cat /tmp/interfaces | while read line ; do sudo ifconfig $line up; done",
                'grep eth /tmp/interfaces | while read line ; do echo "ifconfig $line up" >> /etc/rc.d/rc.local; done',
                "systemctl enable rc-local",
                "chmod +x /etc/rc.d/rc.local",
            ),
        ),
        (
            "xtrace and quotes",
            "hand-written",
            "https://github.com/subhashsurana/aws-eks-terraform-cluster/blob/main/terraform/modules/eks-workers/user-data.tf",
            multipart(
                (
                    US_ASCII,
                    script(
                        "set -o xtrace",
                        f"sudo /etc/eks/bootstrap.sh --apiserver-endpoint '{ENDPOINT}' --b64-cluster-ca '{CA}' '{NAME}'",
                        first="#!/bin/bash -xe",
                    ),
                ),
                boundary="==MYBOUNDARY==",
            ),
        ),
        (
            "name behind the options",
            "hand-written",
            "https://docs.aws.amazon.com/eks/latest/best-practices/ip-opt.html",
            script(
                "set -o xtrace",
                "systemctl stop kubelet",
                f"/etc/eks/bootstrap.sh \\\n    --kubelet-extra-args '--node-labels=a=b,c=d' \\\n    {NAME}",
            ),
        ),
        (
            "prefixes",
            "aws-docs",
            f"{AWS_DOCS}/cni-increase-ip-addresses-procedure.html",
            multipart((US_ASCII, script(bootstrap("--use-max-pods false", "--kubelet-extra-args '--max-pods=110'"))), boundary="//"),
        ),
        (
            "custom networking",
            "aws-docs",
            f"{AWS_DOCS}/cni-custom-network-tutorial.html",
            script(
                'MAX_PODS="$(/opt/eks/max-pods-calculator.sh --instance-type m5.large --cni-version 1.9.0-eksbuild.1 '
                '--cni-custom-networking-enabled)"',
                bootstrap("--use-max-pods false", '--kubelet-extra-args "--max-pods=$MAX_PODS"'),
            ),
        ),
        (
            "label with the zone",
            "hand-written",
            "https://github.com/awslabs/amazon-eks-ami/issues/179",
            script(
                'TOKEN=$(curl -s -X PUT "http://169.254.169.254/latest/api/token" -H "X-aws-ec2-metadata-token-ttl-seconds: 300")',
                'ZONE=$(curl -s -H "X-aws-ec2-metadata-token: $TOKEN" http://169.254.169.254/latest/meta-data/placement/availability-zone)',
                bootstrap('--kubelet-extra-args "--node-labels=zone=${ZONE} --register-with-taints=zonal=true:NoSchedule"'),
            ),
        ),
        (
            "retries of a mount",
            "hand-written",
            "https://github.com/awslabs/amazon-eks-ami/issues/349",
            script(
                "set -euo pipefail",
                "yum install -y nvme-cli mdadm",
                "DEVICES=($(nvme list | grep 'Instance Storage' | awk '{ print $1 }'))",
                "if [ ${#DEVICES[@]} -gt 0 ]; then",
                '  mdadm --create /dev/md0 --level=0 --raid-devices=${#DEVICES[@]} "${DEVICES[@]}"',
                "  mkfs.xfs /dev/md0",
                "fi",
                "for attempt in 1 2 3; do",
                "  mount /dev/md0 /mnt && break",
                "  sleep 1",
                "done",
                bootstrap(),
            ),
        ),
        (
            "taint with an empty value",
            "hand-written",
            "https://github.com/terraform-aws-modules/terraform-aws-eks/issues/814",
            script(
                "# taints",
                f"ARGS='{FACTS}'",
                'EXTRA="--register-with-taints=dedicated=web:NoSchedule,spot=:PreferNoSchedule"',
                f'/etc/eks/bootstrap.sh {NAME} $ARGS --kubelet-extra-args "$EXTRA"',
            ),
        ),
        (
            "wait for the metadata service",
            "hand-written",
            "https://github.com/awslabs/amazon-eks-ami/issues/1263",
            script(
                "until curl -sf -X PUT http://169.254.169.254/latest/api/token -H 'X-aws-ec2-metadata-token-ttl-seconds: 60' > "
                "/dev/null; do",
                "  sleep 1",
                "done",
                f"exec /etc/eks/bootstrap.sh {NAME} {FACTS} --kubelet-extra-args --v=2",
            ),
        ),
        (
            "function and arrays",
            "hand-written",
            "https://github.com/awslabs/amazon-eks-ami/issues/636",
            script(
                f"readonly CLUSTER={NAME}",
                f"OPTIONS=(--b64-cluster-ca {CA})",
                f"OPTIONS+=(--apiserver-endpoint {ENDPOINT} --dns-cluster-ip {DNS})",
                "join() {",
                '  /etc/eks/bootstrap.sh "$CLUSTER" "${OPTIONS[@]}"',
                "}",
                "join",
            ),
        ),
        (
            "image filesystem of containerd",
            "hand-written",
            "https://github.com/awslabs/amazon-eks-ami/issues/1131",
            cloud_config(
                bootcmd=[["mkdir", "-p", "/var/lib/containerd"]],
                fs_setup=[{"device": "/dev/nvme1n1", "filesystem": "xfs"}],
                mounts=[["/dev/nvme1n1", "/var/lib/containerd", "xfs", "defaults,nofail", "0", "2"]],
                runcmd=[bootstrap(FACTS, "--dns-cluster-ip", DNS)],
            ),
        ),
        (
            "mirror of a registry",
            "hand-written",
            "https://github.com/awslabs/amazon-eks-ami/issues/1628",
            cloud_config(
                write_files=[
                    {
                        "path": "/etc/containerd/certs.d/docker.io/hosts.toml",
                        "permissions": "0644",
                        "content": 'server = "https://docker.io"\n[host."https://mirror.example.com"]\n  capabilities = ["pull"]\n',
                    }
                ],
                runcmd=[["systemctl", "restart", "containerd"], bootstrap(FACTS)],
            ),
        ),
    )
    unknown = ("additions of a launch", "custom user data", "proxy without", "without a blank line", "warm pool", "volumes in")
    for name, tool, url, text in named:
        known = None if name.startswith(unknown) or name.endswith(unknown) else NAME
        yield KnownGood(f"{tool} al2 {name}", tool, "al2", text, url, cluster=known, needs_family=name.endswith("without a blank line"))


def _ubuntu() -> Iterable[KnownGood]:
    canonical = "https://ubuntu.com/aws/eks"
    rows = (
        ("plain", "canonical", canonical, script(bootstrap(FACTS))),
        (
            "launch template",
            "canonical",
            "https://discourse.ubuntu.com/t/ubuntu-eks-images/15200",
            multipart((US_ASCII, script("set -ex", bootstrap(FACTS, "--dns-cluster-ip", DNS))), boundary="==UBUNTU=="),
        ),
        (
            "packages",
            "hand-written",
            "https://github.com/terraform-aws-modules/terraform-aws-eks/issues/3278",
            script(
                "set -euxo pipefail",
                "export DEBIAN_FRONTEND=noninteractive",
                "apt-get update",
                "apt-get install -y nfs-common",
                bootstrap(FACTS, "--kubelet-extra-args '--node-labels=os=ubuntu'"),
            ),
        ),
        (
            "snap",
            "hand-written",
            "https://github.com/terraform-aws-modules/terraform-aws-eks/issues/2887",
            script(bootstrap(), "snap set kubelet-eks max-pods=110", "snap restart kubelet-eks"),
        ),
        (
            "GPU",
            "hand-written",
            "https://github.com/awslabs/amazon-eks-ami/issues/1398",
            script(
                "set -o xtrace",
                "echo 'net.ipv6.conf.all.disable_ipv6 = 1' >> /etc/sysctl.conf",
                "sysctl -p",
                "cat > /etc/cloud/cloud.cfg.d/99-metadata.cfg <<'EOF'",
                "datasource:",
                "  Ec2:",
                "    metadata_urls: ['http://169.254.169.254']",
                "EOF",
                bootstrap(
                    FACTS, "--kubelet-extra-args '--node-labels=nvidia.com/gpu=true --register-with-taints=nvidia.com/gpu=true:NoSchedule'"
                ),
            ),
        ),
        (
            "cloud-config",
            "hand-written",
            "https://github.com/kubernetes-sigs/cluster-api-provider-aws/issues/5064",
            cloud_config(package_update=True, packages=["nfs-common"], runcmd=[["/etc/eks/bootstrap.sh", NAME, "--b64-cluster-ca", CA]]),
        ),
        (
            "Karpenter with a custom family",
            "karpenter",
            "https://karpenter.sh/docs/concepts/nodeclasses/#custom",
            script(
                LOG,
                f"/etc/eks/bootstrap.sh '{NAME}' --apiserver-endpoint '{ENDPOINT}' --b64-cluster-ca '{CA}' \\\n"
                f"--dns-cluster-ip '{DNS}' \\\n--kubelet-extra-args '--node-labels=karpenter.sh/capacity-type=spot --max-pods=58'",
                first="#!/bin/bash -xe",
            ),
        ),
        (
            "Karpenter, Ubuntu family",
            "karpenter",
            "https://karpenter.sh/v0.37/concepts/nodeclasses/#ubuntu",
            multipart(
                (
                    US_ASCII,
                    script(
                        LOG,
                        f"/etc/eks/bootstrap.sh '{NAME}' --apiserver-endpoint '{ENDPOINT}' --b64-cluster-ca '{CA}' "
                        "\\\n--use-max-pods false \\\n"
                        "--kubelet-extra-args '--node-labels=karpenter.sh/nodepool=web --max-pods=110 --kube-reserved=memory=1465Mi'",
                        first="#!/bin/bash -xe",
                    ),
                ),
                boundary="//",
            ),
        ),
        (
            "proxy",
            "hand-written",
            "https://github.com/terraform-aws-modules/terraform-aws-eks/issues/682",
            script(
                "cat >> /etc/environment <<EOF",
                "HTTPS_PROXY=http://proxy.example.com:3128",
                "NO_PROXY=169.254.169.254,10.100.0.0/16,10.0.0.0/16",
                "EOF",
                "snap set system proxy.https=http://proxy.example.com:3128",
                "set -a; . /etc/environment; set +a",
                bootstrap(FACTS),
            ),
        ),
    )
    for name, tool, url, text in rows:
        yield KnownGood(f"{tool} ubuntu {name}", tool, "ubuntu", text, url)


ROWS = (*_others(), *_ubuntu())

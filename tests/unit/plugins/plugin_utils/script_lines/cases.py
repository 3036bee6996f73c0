# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""For each row of the table of lines, a line that it finds, and a similar one that is right."""

from __future__ import annotations

WRONG = {
    "kubelet-config": "jq . /etc/kubernetes/kubelet/kubelet-config.json",
    "generated-config": "cat /etc/kubernetes/kubelet/config.json",
    "bootstrap-script": "cat /etc/eks/bootstrap.sh.orig /etc/eks/bootstrap.sh",
    "max-pods-table": "grep m5 /etc/eks/eni-max-pods.txt",
    "bootstrap-variable": "USE_MAX_PODS=false",
    "kubelet-arguments": "cat /etc/systemd/system/kubelet.service.d/30-kubelet-extra-args.conf",
    "containerd-config": "cat /etc/containerd/config.toml",
    "starts-kubelet": "systemctl restart kubelet",
    "docker": "systemctl enable docker",
    "extras": "sudo amazon-linux-extras install epel",
    "epel": "rpm -i https://example.com/a-1.el7.noarch.rpm",
    "yum-plugins": "yum-config-manager --enable a",
    "apt": "apt-get update",
    "ntp": "systemctl start ntpd",
    "cron": "echo x > /etc/cron.d/x",
    "rsyslog": "tail /var/log/messages",
    "python2": "python /opt/a.py",
    "iptables-service": "systemctl enable iptables",
    "sysconfig": "echo x > /etc/sysconfig/network-scripts/ifcfg-eth1",
    "sysv": "chkconfig a on",
    "cgroup-v1": "cat /sys/fs/cgroup/memory/memory.limit_in_bytes",
    "aws-cli-1": "$(aws ecr get-login --no-include-email)",
    "imds-without-token": "curl http://169.254.169.254/latest/meta-data/instance-id",
    "containerd-files": "cp /etc/eks/containerd/containerd-config.toml /tmp",
    "yum": "sudo yum install -y jq",
    "dnf": "sudo dnf install -y jq",
    "asks-question": "yum install jq",
    "imds-in-variable": "BASE=http://169.254.169.254\ncurl $BASE/latest/meta-data/instance-id",
    "downloads": "curl -fsS https://example.com/a",
}
"""A line that each row finds, by its name."""

RIGHT = {
    "kubelet-config": "cat /etc/kubernetes/kubelet/kubelet-config.yaml",
    "generated-config": "ls /etc/kubernetes/kubelet/config.json.d/",
    "bootstrap-script": "cat /opt/bootstrap.sh",
    "max-pods-table": "cat /etc/eks/release",
    "bootstrap-variable": "MY_USE_MAX_PODS=false",
    "kubelet-arguments": "cat /etc/systemd/system/kubelet.service.d/50-own.conf",
    "containerd-config": "cat /etc/containerd/certs.d/a/hosts.toml",
    "starts-kubelet": "systemctl status kubelet",
    "docker": "echo my-docker-images /opt/docker/x docker.io/library/nginx",
    "extras": "echo no amazon-linux-extras",
    "epel": "rpm -i https://example.com/a-1.amzn2023.noarch.rpm",
    "yum-plugins": "yum install -y jq",
    "apt": "echo apt",
    "ntp": "systemctl restart chronyd",
    "cron": "echo cronyism",
    "rsyslog": "tail /var/log/cloud-init.log",
    "python2": "python3 /opt/a.py",
    "iptables-service": "iptables -P FORWARD ACCEPT",
    "sysconfig": "ls /etc/sysctl.d",
    "sysv": "systemctl enable a",
    "cgroup-v1": "cat /sys/fs/cgroup/memory.max",
    "aws-cli-1": "aws ecr get-login-password",
    "imds-without-token": "curl -H 'X-aws-ec2-metadata-token: x' http://169.254.169.254/latest/meta-data/instance-id",
    "containerd-files": "ls /etc/eks/containerd",
    "yum": "ls /etc/yum.repos.d",
    "dnf": "ls /etc/dnf",
    "asks-question": "yum install -y jq",
    "imds-in-variable": "BASE=http://169.254.169.254\ncurl -X PUT $BASE/latest/api/token",
    "downloads": "curl -fsS http://localhost:10248/healthz",
}
"""A line that is similar, and right."""

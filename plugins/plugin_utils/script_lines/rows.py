# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table: what lines of scripts do not do on an image, why, and what to do. Lint reports the rows, and so does a migration."""

from __future__ import annotations

import re
from dataclasses import replace

from ..bootstrap_calls import SCRIPT, VARIABLES
from . import commands
from .model import EVERYWHERE, Match, Row
from .script import ScriptView

_LINUX = "https://docs.aws.amazon.com/linux/al2023/ug/"
_AMI = "https://github.com/awslabs/amazon-eks-ami"
_AL2023 = frozenset({"al2023"})
_VARIABLES = VARIABLES | {"BOOTSTRAP_EXTRA_ARGS", "CNI_PREFIX_DELEGATION_ENABLED"}
"""Those of the script, and two that users pass to it."""
_DOCKER = frozenset({"al2", "al2023", "ubuntu"})
_METADATA = re.compile(r"(169\.254\.169\.254/(?:latest|\d{4}-\d\d-\d\d)/(?:meta-data|user-data|dynamic))")
_TOKEN = "x-aws-ec2-metadata-token"


def _uses_variable(view: ScriptView, match: Match) -> bool:
    """Whether the script itself uses a variable, so that its name says nothing about the image."""
    return bool(re.search(rf"\$\{{?{match.word}\b", view.text))


def _is_call(view: ScriptView, match: Match) -> bool:
    """Calls have rules of their own."""
    return match.line in view.call_lines


def _has_token(view: ScriptView, _match: Match) -> bool:
    return _TOKEN in view.text.lower()


_OF_KUBELET = (
    Row(
        "kubelet-config",
        "shell.edits_generated_file",
        _AL2023,
        "does not exist on Amazon Linux 2023, so the change is lost",
        "write the value in spec.kubelet.config of a NodeConfig",
        "https://github.com/kubernetes-sigs/karpenter/issues/1510",
        text=re.compile(r"(/etc/kubernetes/kubelet/kubelet-config\.json)"),
        group_fix="write the value as kubelet.config of the node group",
    ),
    Row(
        "generated-config",
        "shell.edits_generated_file",
        _AL2023,
        "is written by nodeadm at every boot, which replaces the change",
        "write the value in spec.kubelet.config of a NodeConfig",
        f"{_AMI}/tree/main/nodeadm",
        # The drop-ins in config.json.d belong to the user, too.
        text=re.compile(r"(/etc/kubernetes/kubelet/config\.json)(?!\.d)"),
        group_fix="write the value as kubelet.config of the node group",
    ),
    Row(
        "bootstrap-script",
        "shell.unused_file",
        _AL2023,
        "only prints an error on Amazon Linux 2023, and ends with 1",
        "remove the line: the NodeConfig replaces the script",
        f"{_AMI}/issues/1885",
        text=re.compile(rf"({re.escape(SCRIPT)})"),
        unless=_is_call,
    ),
    Row(
        "max-pods-table",
        "shell.unused_file",
        _AL2023,
        "does not exist on Amazon Linux 2023",
        "write spec.kubelet.config.maxPods or spec.kubelet.maxPodsExpression of a NodeConfig",
        f"{_AMI}/issues/2276",
        text=re.compile(r"(/etc/eks/eni-max-pods\.txt|max-pods-calculator\.sh)"),
        group_fix="write max_pods of the node group, or nodeadm.kubelet.maxPodsExpression",
    ),
    Row(
        "bootstrap-variable",
        "shell.ignored_variable",
        _AL2023,
        "is a variable for /etc/eks/bootstrap.sh, which nothing reads on Amazon Linux 2023",
        "remove it, and write the setting in a NodeConfig",
        "https://github.com/terraform-aws-modules/terraform-aws-eks/issues/3420",
        text=re.compile(rf"\b({'|'.join(sorted(_VARIABLES))})\+?="),
        unless=_uses_variable,
        group_fix="remove it, and write the setting in the node group",
    ),
    Row(
        "kubelet-arguments",
        "shell.unused_file",
        _AL2023,
        "is a drop-in of Amazon Linux 2, whose variable kubelet does not get on Amazon Linux 2023",
        "write the flags in spec.kubelet.flags of a NodeConfig",
        f"{_AMI}/tree/main/nodeadm",
        text=re.compile(r"(30-kubelet-extra-args\.conf|10-kubelet-args\.conf)"),
        group_fix="write the flags as kubelet.flags of the node group",
    ),
    Row(
        "starts-kubelet",
        "shell.starts_kubelet",
        _AL2023,
        "starts kubelet before nodeadm-run, which prepares the node, and starts kubelet after the scripts",
        "remove the line: nodeadm-run starts kubelet after the scripts",
        f"{_AMI}/issues/2123",
        command=commands.starts_kubelet,
        is_early=True,
        signs=("kubelet", "nodeadm"),
    ),
)  # fmt: skip

_OF_CONTAINERS = (
    Row(
        "containerd-config",
        "shell.edits_generated_file",
        _AL2023,
        "is written by nodeadm at every boot, which replaces the change",
        "write the value in spec.containerd.config of a NodeConfig",
        f"{_AMI}/issues/1628",
        text=re.compile(r"(/etc/containerd/config\.toml)"),
        group_fix="write the value as containerd.config of the node group",
    ),
    Row(
        "containerd-files",
        "shell.unused_file",
        _AL2023,
        "is a file of Amazon Linux 2, which nothing reads on Amazon Linux 2023",
        "write the value in spec.containerd.config of a NodeConfig",
        f"{_AMI}/issues/1628",
        text=re.compile(r"(/etc/eks/containerd/(?:containerd-config\.toml|kubelet-containerd\.service))"),
        group_fix="write the value as containerd.config of the node group",
    ),
    Row(
        "docker",
        "shell.uses_docker",
        _DOCKER,
        "belongs to Docker, which images for Kubernetes 1.24 and newer do not have",
        "use ctr or nerdctl for containerd, or install Docker before using it",
        f"{_AMI}/issues/1398",
        command=commands.has_word("docker", "docker.service"),
        text=re.compile(r"(/etc/docker/daemon\.json|/var/run/docker\.sock)(?![\w./-])"),
        nested=re.compile(r"(\bdocker(?:\.service)?\b)(?![\w./-])"),
        unless=commands.installs("docker", "docker.io", "docker-ce", "moby-engine"),
        group_fix="use ctr or nerdctl, and containerd.config or containerd.registry_mirrors of the node group for settings",
        signs=("docker",),
    ),
)  # fmt: skip

_PACKAGES = (
    Row(
        "extras",
        "shell.missing_program",
        frozenset({"al2023", "ubuntu"}),
        "is a program that only Amazon Linux 2 has",
        "install the package with the package manager of the image",
        f"{_LINUX}compare-with-al2.html",
        command=commands.runs("amazon-linux-extras"),
        nested=commands.nested("amazon-linux-extras"),
        group_fix="install the package with dnf: its repositories have the packages of the extras",
        signs=("amazon-linux-extras",),
    ),
    Row(
        "epel",
        "shell.other_package",
        _AL2023,
        "is built for Amazon Linux 2 or Enterprise Linux 7",
        "use a package of Amazon Linux 2023, or install the program in the image",
        f"{_LINUX}epel.html",
        text=re.compile(r"(\bepel-release[\w.-]*|\bEPEL\b|\b\w+\.(?:el7|amzn2)\.\w+)"),
        signs=("epel", "EPEL", "el7", "amzn2"),
    ),
    Row(
        "yum-plugins",
        "shell.other_package",
        _AL2023,
        "is a part of yum, and Amazon Linux 2023 has dnf",
        "use the plugin of dnf, such as dnf config-manager or dnf versionlock",
        f"{_LINUX}package-management.html",
        text=re.compile(r"(\byum-(?:config-manager|plugin-[\w-]+|utils|cron)\b|/etc/yum/pluginconf\.d|/etc/yum\.conf)"),
        signs=("yum",),
    ),
    Row(
        "apt",
        "shell.missing_program",
        frozenset({"al2", "al2023"}),
        "is a program of Ubuntu",
        "use the package manager of the image, with the name that the package has there",
        f"{_LINUX}package-management.html",
        command=commands.runs("apt", "apt-get", "snap", "dpkg"),
        nested=commands.nested("apt|apt-get|snap|dpkg"),
        group_fix="use dnf, with the name that the package has on Amazon Linux 2023",
        signs=("apt", "snap", "dpkg"),
    ),
    Row(
        "yum",
        "shell.missing_program",
        frozenset({"ubuntu"}),
        "is a program of Amazon Linux",
        "use apt-get, with the name that the package has on Ubuntu",
        command=commands.runs("yum"),
        nested=commands.nested("yum"),
        signs=("yum",),
    ),
    Row(
        "dnf",
        "shell.missing_program",
        frozenset({"al2", "ubuntu"}),
        "is a program of Amazon Linux 2023",
        "use the package manager of the image",
        command=commands.runs("dnf"),
        nested=commands.nested("dnf"),
        signs=("dnf",),
    ),
    Row(
        "asks-question",
        "shell.asks_question",
        EVERYWHERE,
        "asks for confirmation, and gets no answer at boot",
        command=commands.asks,
        is_new=False,
        signs=("yum", "dnf", "apt"),
    ),
)  # fmt: skip

_SYSTEM = (
    Row(
        "ntp",
        "shell.missing_service",
        _AL2023,
        "does not exist on Amazon Linux 2023, where chrony sets the clock",
        "remove the line: chrony asks the Amazon Time Sync Service",
        f"{_LINUX}compare-with-al2.html",
        text=re.compile(r"(\bntpd\b|\bntpdate\b|/etc/ntp\.conf)"),
        signs=("ntp",),
    ),
    Row(
        "cron",
        "shell.missing_service",
        _AL2023,
        "belongs to cron, which Amazon Linux 2023 does not install",
        "write a timer of systemd, or install cronie",
        f"{_LINUX}cron.html",
        text=re.compile(r"(/etc/cron\.\w+|/etc/crontab|/var/spool/cron|\bcrontab\b|\bcrond\b)"),
        unless=commands.installs("cronie"),
        signs=("cron",),
    ),
    Row(
        "rsyslog",
        "shell.missing_service",
        _AL2023,
        "belongs to rsyslog, which Amazon Linux 2023 does not install",
        "read the journal with journalctl, or install rsyslog",
        f"{_LINUX}journald.html",
        text=re.compile(r"(/var/log/(?:messages|secure)\b|/etc/rsyslog\.\w+|\brsyslogd?\b)"),
        unless=commands.installs("rsyslog"),
        signs=("rsyslog", "/var/log/"),
    ),
    Row(
        "python2",
        "shell.missing_program",
        _AL2023,
        "does not exist on Amazon Linux 2023, which has Python 3 only",
        "run python3, and make sure that the script is Python 3",
        f"{_LINUX}python2.7-no-more.html",
        command=commands.runs_or_installs("python", "python2", "python2.7"),
        nested=re.compile(r"(?<![\w./-])((?:/usr/bin/)?python(?:2(?:\.7)?)?)(?=\s|$)", re.MULTILINE),
        unless=commands.links("python"),
        signs=("python",),
    ),
    Row(
        "iptables-service",
        "shell.missing_service",
        _AL2023,
        "belongs to the service of iptables, which the image does not have",
        "write the rules in a unit of systemd that runs iptables or nft",
        f"{_LINUX}compare-with-al2.html",
        text=re.compile(r"(/etc/sysconfig/ip6?tables|\biptables-services\b|systemctl\s+(?:\S+\s+){0,20}?ip6?tables(?:\.service)?\b|iptables-restore)"),
        unless=commands.installs("iptables-services"),
        signs=("tables",),
    ),
    Row(
        "sysconfig",
        "shell.sysconfig_file",
        _AL2023,
        "is probably read by nothing on Amazon Linux 2023, where systemd-networkd and units replace most of these files",
        "write a drop-in of the unit, or a file below /etc/systemd/network",
        f"{_LINUX}networking-service.html",
        text=re.compile(r"(/etc/sysconfig/(?!ip6?tables)[\w./-]+)"),
    ),
    Row(
        "sysv",
        "shell.missing_service",
        _AL2023,
        "belongs to init scripts, which Amazon Linux 2023 does not run",
        "use systemctl, or write a unit of systemd",
        f"{_LINUX}deprecated-al2023.html",
        text=re.compile(r"(\bchkconfig\b|/etc/init\.d/[\w-]+|/etc/rc\.local|/etc/rc\.d/)"),
        signs=("chkconfig", "/etc/init.d", "/etc/rc"),
    ),
    Row(
        "cgroup-v1",
        "shell.unused_file",
        _AL2023,
        "is a path of cgroup v1, and Amazon Linux 2023 uses cgroup v2",
        "read the file of cgroup v2, for example /sys/fs/cgroup/memory.max",
        f"{_LINUX}cgroupv2.html",
        text=re.compile(r"(/sys/fs/cgroup/(?:memory|cpu|cpuset|blkio|pids|systemd))(?![\w.-])"),
    ),
)  # fmt: skip

_WITHOUT_TOKEN = Row(
    "imds-without-token",
    "shell.imds_without_token",
    EVERYWHERE,
    "is requested without a token, which instances with IMDSv2 require; Amazon Linux 2023 does so by default",
    "get a token first, with PUT /latest/api/token, and send it in the header X-aws-ec2-metadata-token",
    f"{_LINUX}security-features.html",
    text=_METADATA,
    unless=_has_token,
    signs=("169.254.169.254",),
)
_OF_AWS = (
    Row(
        "aws-cli-1",
        "shell.removed_command",
        _AL2023,
        "is a command of AWS CLI 1, and the image has AWS CLI 2",
        "run aws ecr get-login-password",
        f"{_LINUX}awscli2.html",
        command=commands.logs_in_with_cli_1,
        nested=re.compile(r"(\baws\s+(?:--\S+\s+){0,20}ecr\s+get-login)(?!-password)\b"),
        signs=("get-login",),
    ),
    _WITHOUT_TOKEN,
    replace(
        _WITHOUT_TOKEN,
        name="imds-in-variable",
        text=None,
        # A URL of which variables are a part.
        command=commands.contains(_METADATA),
        unless=lambda view, match: _has_token(view, match) or any(map(_METADATA.search, view.lines)),
    ),
    Row(
        "downloads",
        "shell.downloads",
        EVERYWHERE,
        "needs the network at boot, and fails in a private cluster without an endpoint for it",
        command=commands.downloads,
        is_new=False,
        is_once=True,
        signs=("curl", "wget", "pip", "git", "snap", "aws", "yum", "dnf", "apt"),
    ),
)  # fmt: skip

ROWS: tuple[Row, ...] = (*_OF_KUBELET, *_OF_CONTAINERS, *_PACKAGES, *_SYSTEM, *_OF_AWS)

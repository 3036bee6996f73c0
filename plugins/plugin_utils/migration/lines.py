# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines of scripts that use what Amazon Linux 2023 does not have, or does in another way: a table."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field

from ..bootstrap_calls import SCRIPT, VARIABLES
from ..lint.shell_texts import ShellText
from .model import Caution

Line = tuple[int, int]
"""The index of a part, and the number of a line from 1."""

_AL2023 = "https://docs.aws.amazon.com/linux/al2023/ug/"
_AMI = "https://github.com/awslabs/amazon-eks-ami"


@dataclass(frozen=True)
class Row:
    """What to find in a line that is not a comment.

    unless: a text anywhere in the script that makes the line right. before_only: whether it is right after kubelet is up.
    """

    name: str
    pattern: re.Pattern[str]
    message: str
    fix: str
    source: str
    unless: re.Pattern[str] = field(default=re.compile(r"(?!)"))
    before_only: bool = False


def _program(names: str) -> re.Pattern[str]:
    """A program at the beginning of a command."""
    return re.compile(
        rf"(?:^|[;&|(`]|\b(?:sudo|then|do|else|exec|command|nohup|time|!)\s)\s*(?:-\w+\s+){{0,20}}((?:/usr/s?bin/|/s?bin/)?(?:{names}))(?![\w.-])"
    )


ROWS = (
    Row(
        "kubelet-config",
        re.compile(r"(/etc/kubernetes/kubelet/kubelet-config\.json)"),
        "does not exist on Amazon Linux 2023, so the change is lost",
        "write the value as kubelet.config of the node group",
        "https://github.com/kubernetes-sigs/karpenter/issues/1510",
    ),
    Row(
        "generated-config",
        re.compile(r"(/etc/kubernetes/kubelet/config\.json)(?!\.d)"),
        "is written by nodeadm at every boot, which replaces the change",
        "write the value as kubelet.config of the node group",
        f"{_AMI}/tree/main/nodeadm",
    ),
    Row(
        "bootstrap-script",
        re.compile(rf"({re.escape(SCRIPT)})"),
        "only prints an error on Amazon Linux 2023, and ends with 1",
        "remove the line: the NodeConfig replaces the script",
        f"{_AMI}/issues/1885",
    ),
    Row(
        "max-pods-table",
        re.compile(r"(/etc/eks/eni-max-pods\.txt|max-pods-calculator\.sh)"),
        "does not exist on Amazon Linux 2023",
        "write max_pods of the node group, or nodeadm.kubelet.maxPodsExpression",
        f"{_AMI}/issues/2276",
    ),
    Row(
        "bootstrap-variable",
        re.compile(rf"\b({'|'.join(sorted(VARIABLES))})\+?="),
        "is a variable of /etc/eks/bootstrap.sh, which nothing reads on Amazon Linux 2023",
        "remove it, and write the setting in the node group",
        "https://github.com/terraform-aws-modules/terraform-aws-eks/issues/3420",
        re.compile(rf"\$\{{?(?:{'|'.join(sorted(VARIABLES))})\b"),
    ),
    Row(
        "kubelet-arguments",
        re.compile(r"(30-kubelet-extra-args\.conf|10-kubelet-args\.conf)"),
        "is a drop-in of Amazon Linux 2, whose variable kubelet does not get on Amazon Linux 2023",
        "write the flags as kubelet.flags of the node group",
        f"{_AMI}/tree/main/nodeadm",
    ),
    Row(
        "containerd-config",
        re.compile(r"(/etc/eks/containerd/(?:containerd-config\.toml|kubelet-containerd\.service)|/etc/containerd/config\.toml)"),
        "is not read, or is written by nodeadm at every boot, which replaces the change",
        "write the value as containerd.config of the node group",
        f"{_AMI}/issues/1628",
    ),
    Row(
        "starts-kubelet",
        re.compile(r"\b(systemctl\s+(?:\S+\s+){0,20}?(?:re)?start\s+(?:\S+\s+){0,20}?kubelet(?:\.service)?|service\s+kubelet\s+(?:re)?start)\b"),
        "would start kubelet before nodeadm has configured it",
        "remove the line: nodeadm-run starts kubelet after the scripts",
        f"{_AMI}/issues/2123",
        before_only=True,
    ),
    Row(
        "docker",
        re.compile(r"(/etc/docker/daemon\.json|/var/run/docker\.sock|\bdocker(?:\.service)?\b)(?![\w./-])"),
        "belongs to Docker, which the image does not have",
        "use ctr or nerdctl for containerd, and containerd.config or containerd.registry_mirrors of the node group for its settings",
        f"{_AMI}/issues/1398",
    ),
    Row(
        "extras",
        _program("amazon-linux-extras"),
        "does not exist on Amazon Linux 2023",
        "install the package with dnf: its repositories have the packages of the extras",
        f"{_AL2023}compare-with-al2.html",
    ),
    Row(
        "epel",
        re.compile(r"(\bepel-release[\w.-]*|\bEPEL\b|\b\w+\.(?:el7|amzn2)\.\w+)"),
        "is built for Amazon Linux 2 or Enterprise Linux 7",
        "use a package of Amazon Linux 2023, or install the program in the image",
        f"{_AL2023}epel.html",
    ),
    Row(
        "yum-plugins",
        re.compile(r"(\byum-(?:config-manager|plugin-[\w-]+|utils|cron)\b|/etc/yum/pluginconf\.d|/etc/yum\.conf)"),
        "is a part of yum, and Amazon Linux 2023 has dnf",
        "use the plugin of dnf, such as dnf config-manager or dnf versionlock",
        f"{_AL2023}package-management.html",
    ),
    Row(
        "apt",
        _program("apt|apt-get|snap|dpkg"),
        "is a program of Ubuntu",
        "use dnf, with the name that the package has on Amazon Linux 2023",
        f"{_AL2023}package-management.html",
    ),
    Row(
        "ntp",
        re.compile(r"(\bntpd\b|\bntpdate\b|/etc/ntp\.conf)"),
        "does not exist on Amazon Linux 2023, where chrony sets the clock",
        "remove the line: chrony asks the Amazon Time Sync Service",
        f"{_AL2023}compare-with-al2.html",
    ),
    Row(
        "cron",
        re.compile(r"(/etc/cron\.\w+|/etc/crontab|/var/spool/cron|\bcrontab\b|\bcrond\b)"),
        "belongs to cron, which Amazon Linux 2023 does not install",
        "write a timer of systemd, or install cronie",
        f"{_AL2023}cron.html",
    ),
    Row(
        "rsyslog",
        re.compile(r"(/var/log/(?:messages|secure)\b|/etc/rsyslog\.\w+|\brsyslogd?\b)"),
        "belongs to rsyslog, which Amazon Linux 2023 does not install",
        "read the journal with journalctl, or install rsyslog",
        f"{_AL2023}journald.html",
    ),
    Row(
        "python2",
        re.compile(r"(?<![\w./-])((?:/usr/bin/)?python(?:2(?:\.7)?)?)(?=\s|$)"),
        "does not exist on Amazon Linux 2023, which has Python 3 only",
        "run python3, and make sure that the script is Python 3",
        f"{_AL2023}python2.7-no-more.html",
    ),
    Row(
        "iptables-service",
        re.compile(r"(/etc/sysconfig/ip6?tables|\biptables-services\b|systemctl\s+(?:\S+\s+){0,20}?ip6?tables(?:\.service)?\b|iptables-restore)"),
        "belongs to the service of iptables, which the image does not have",
        "write the rules in a unit of systemd that runs iptables or nft",
        f"{_AL2023}compare-with-al2.html",
    ),
    Row(
        "sysconfig",
        re.compile(r"(/etc/sysconfig/(?!ip6?tables)[\w./-]+)"),
        "is probably read by nothing on Amazon Linux 2023, where systemd-networkd and units replace most of these files",
        "write a drop-in of the unit, or a file below /etc/systemd/network",
        f"{_AL2023}networking-service.html",
    ),
    Row(
        "sysv",
        re.compile(r"(\bchkconfig\b|/etc/init\.d/[\w-]+|/etc/rc\.local|/etc/rc\.d/)"),
        "belongs to init scripts, which Amazon Linux 2023 does not run",
        "use systemctl, or write a unit of systemd",
        f"{_AL2023}deprecated-al2023.html",
    ),
    Row(
        "cgroup-v1",
        re.compile(r"(/sys/fs/cgroup/(?:memory|cpu|cpuset|blkio|pids|systemd))(?![\w.-])"),
        "is a path of cgroup v1, and Amazon Linux 2023 uses cgroup v2",
        "read the file of cgroup v2, for example /sys/fs/cgroup/memory.max",
        f"{_AL2023}cgroupv2.html",
    ),
    Row(
        "aws-cli-1",
        re.compile(r"(\baws\s+(?:--\S+\s+){0,20}ecr\s+get-login)(?!-password)\b"),
        "is a command of AWS CLI 1, and the image has AWS CLI 2",
        "run aws ecr get-login-password",
        f"{_AL2023}awscli2.html",
    ),
    Row(
        "imds-without-token",
        re.compile(r"(169\.254\.169\.254/(?:latest|\d{4}-\d\d-\d\d)/(?:meta-data|user-data|dynamic))"),
        "is requested without a token, which instances of Amazon Linux 2023 require",
        "get a token first, with PUT /latest/api/token, and send it in the header X-aws-ec2-metadata-token",
        f"{_AL2023}security-features.html",
        re.compile(r"x-aws-ec2-metadata-token", re.IGNORECASE),
    ),
)  # fmt: skip


def cautions(texts: Iterable[ShellText], removed: Container[Line], after: Container[Line]) -> Iterator[Caution]:
    """A warning for each row and line. removed: lines that do not run any more. after: lines that run after kubelet is up."""
    for text in texts:
        for row in ROWS:
            if row.unless.search(text.text):
                continue
            for number, line in enumerate(text.text.split("\n"), 1):
                match = row.pattern.search(line)
                place = (-1 if text.key else text.part.index, number)
                if match is None or line.lstrip().startswith("#") or place in removed or (row.before_only and place in after):
                    continue
                word = next(filter(None, match.groups()), "")
                yield Caution(text.place(number, word), f"{word} {row.message}", row.fix, row.source)

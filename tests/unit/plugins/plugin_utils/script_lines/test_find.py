# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One table says what lines of scripts do wrong on an image: each row finds its line for lint and for a migration, with the same words."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import rules
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.lint.lint import lint
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.migration.migrate import migrate
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.script_lines.find import hits
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.script_lines.model import Row
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.script_lines.rows import ROWS
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.script_lines.cases import RIGHT, WRONG

FAMILIES = ("al2", "al2023", "ubuntu")


def script(*lines: str) -> str:
    """A script of bash."""
    return "".join(f"{line}\n" for line in ("#!/bin/bash", *lines))


def names(text: str, family: str | None = "al2023") -> list[str]:
    """The rows that fit, without the row about the network."""
    return [hit.row.name for hit in hits(text, family) if hit.row.name != "downloads"]


def test_every_row_has_a_line() -> None:
    rows = [row.name for row in ROWS]
    assert len(set(rows)) == len(rows)
    assert set(rows) == set(WRONG) == set(RIGHT)
    assert all(row.rule in rules.catalogue() for row in ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_row_finds_its_line_on_its_images_only(row: Row) -> None:
    for family in (*FAMILIES, None):
        is_found = row.name in [hit.row.name for hit in hits(script(WRONG[row.name]), family)]
        assert is_found == (not row.families or family in row.families), family
        assert row.name not in [hit.row.name for hit in hits(script(RIGHT[row.name]), family)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_lint_reports_the_row_at_its_place(row: Row) -> None:
    family = min(row.families, default="al2023")
    found = [
        one for one in lint(script("true", WRONG[row.name]), family).findings if one.rule.id == row.rule and row.message in one.message
    ]
    last = 2 + len(WRONG[row.name].split("\n"))
    assert [(one.where.part, one.where.line) for one in found] == [(0, last)]
    assert found[0].rule.severity != "error"


@pytest.mark.parametrize("name", ["kubelet-config", "apt", "ntp", "epel", "aws-cli-1"])
def test_lint_and_migration_say_the_same(name: str) -> None:
    text = script(WRONG[name])
    [row] = [one for one in ROWS if one.name == name]
    [finding] = [one for one in lint(text, "al2023").findings if one.rule.id == row.rule]
    [warning] = [one for one in migrate(text, {"kubernetes_version": "1.33"}).report.warnings if one.source == row.source]
    assert finding.message.replace(": ", " ", 1) == warning.message
    assert finding.where == warning.where


@dataclass(frozen=True)
class Decision:
    """Lines about which the two tables disagreed that this one replaces, or that one of them did not know. rows: the rows that fit."""

    lines: tuple[str, ...]
    rows: list[str]
    family: str = "al2023"


DECISIONS = {
    # A drop-in of the user is not written by nodeadm.
    "a drop-in of kubelet": Decision(("cp a.conf /etc/kubernetes/kubelet/config.json.d/",), []),
    "all variables of the script": Decision(("export DNS_CLUSTER_IP=10.0.0.2",), ["bootstrap-variable"]),
    "a variable that users pass to the script": Decision(("BOOTSTRAP_EXTRA_ARGS=--use-max-pods=false",), ["bootstrap-variable"]),
    "a variable that the script itself uses": Decision(("USE_MAX_PODS=false", '/opt/agent "$USE_MAX_PODS"'), []),
    "another variable is used": Decision(("USE_MAX_PODS=false", "CLUSTER_ID=a", "/opt/agent $CLUSTER_ID"), ["bootstrap-variable"]),
    # A call has rules of its own.
    "a call": Decision(("/etc/eks/bootstrap.sh shop",), []),
    "an edit of the script": Decision(("sed -i s/a/b/ /etc/eks/bootstrap.sh",), ["bootstrap-script"]),
    "kubelet with enable --now": Decision(("systemctl enable --now kubelet",), ["starts-kubelet"]),
    "kubelet with service": Decision(("service kubelet restart",), ["starts-kubelet"]),
    "kubelet among others": Decision(("systemctl -q restart containerd kubelet.service",), ["starts-kubelet"]),
    "kubelet stops": Decision(("systemctl disable --now kubelet",), []),
    "nodeadm": Decision(("nodeadm init -c file:///etc/a.yaml",), ["starts-kubelet"]),
    # The unit of a later time may restart kubelet.
    "kubelet in a file": Decision(("cat >/a <<'E'", "systemctl restart kubelet", "E"), []),
    # A script that installs a program or a service has it.
    "Docker is installed": Decision(("dnf install -y docker", "systemctl enable --now docker", "usermod -aG docker a"), []),
    "cron is installed": Decision(("dnf install -y cronie", "crontab /a"), []),
    "rsyslog is installed": Decision(("dnf install -y rsyslog", "tail /var/log/messages"), []),
    "iptables are installed": Decision(("dnf install -y iptables-services", "systemctl enable iptables"), []),
    "python is linked": Decision(("ln -s /usr/bin/python3 /usr/bin/python", "python /a"), []),
    "Python 2 is installed": Decision(("dnf install -y python2",), ["python2"]),
    "a group of Docker": Decision(("usermod -aG docker ec2-user",), ["docker"]),
    "Docker on AL2": Decision(("docker pull a",), ["docker"], "al2"),
    "snap": Decision(("snap set kubelet-eks v=4",), ["apt"]),
    "snap on AL2": Decision(("snap install jq",), ["apt"], "al2"),
    # What the reader of shells says is right, whatever the text looks like.
    "a message": Decision(('echo "no docker, crontab or /var/log/messages"',), []),
    "a message to the standard error": Decision(('echo "/etc/crontab" >&2',), []),
    "a message that becomes a file": Decision(("echo '* * * * * root a' | tee /etc/cron.d/a",), ["cron"]),
    "a command in a message": Decision(('echo "$(cat /etc/crontab)"',), ["cron"]),
    "a question": Decision(("command -v docker", "which apt-get"), []),
    "a wrapper": Decision(("timeout 60 sudo -E apt-get update",), ["apt"]),
    "a program behind another one": Decision(("find / -name a | xargs python",), ["python2"]),
    "a program in a here-document": Decision(("cat >/a <<'E'", "apt-get update", "E"), ["apt"]),
    "a unit in a here-document": Decision(("cat >/a <<'E'", "After=docker.service", "E"), ["docker"]),
    "a script that the grammar does not understand": Decision(("apt-get update", "if true; then"), ["apt"]),
    "a URL in a variable": Decision(("U=http://169.254.169.254/latest/meta-data", "curl $U/instance-id"), ["imds-without-token"]),
    "a version of the metadata": Decision(("curl 169.254.169.254/2021-03-23/user-data",), ["imds-without-token"], "ubuntu"),
}


@pytest.mark.parametrize("decision", DECISIONS.values(), ids=DECISIONS)
def test_a_decision(decision: Decision) -> None:
    assert names(script(*decision.lines), decision.family) == decision.rows


def test_scripts_of_other_interpreters_have_lines() -> None:
    assert names("#!/usr/bin/python3\nopen('/etc/crontab')\n") == ["cron"]


def test_a_script_in_runcmd_is_read() -> None:
    text = "#cloud-config\nruncmd:\n- systemctl enable ntpd\n"
    assert "shell.missing_service" in {one.rule.id for one in lint(text, "al2023").findings}

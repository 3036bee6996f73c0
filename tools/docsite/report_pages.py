#!/usr/bin/env python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write one page of each report, with as much in it as possible, to out/reports. check_browser.py opens them.

.venv/bin/python tools/docsite/report_pages.py [DIRECTORY]
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parents[2]
PAGES = TOP / "out" / "reports"
HOSTS = 60
ORIGINAL = """\
#!/bin/bash
set -ex
yum install -y yum-plugin-versionlock jq
export DB_PASSWORD=hunter2
echo "$(jq '.maxPods=20' /etc/kubernetes/kubelet/kubelet-config.json)" > /etc/kubernetes/kubelet/kubelet-config.json
/etc/eks/bootstrap.sh demo --use-max-pods false --container-runtime containerd \\
  --kubelet-extra-args '--max-pods=58 --node-labels=role=web,team=storefront --register-with-taints=dedicated=web:NoSchedule'
systemctl restart docker
"""
TEMPLATE: dict[str, Any] = {
    "ImageId": "ami-0123456789abcdef0",
    "InstanceType": "m7g.large",
    "BlockDeviceMappings": [{"DeviceName": "/dev/sda1", "Ebs": {"VolumeSize": 80, "VolumeType": "gp3", "Encrypted": True}}],
}


def pages() -> Iterator[tuple[str, str]]:
    """The names of the pages, and the pages."""
    yield "doctor", doctor()
    yield "lint", lint(compared=False)
    yield "lint-compared", lint(compared=True)
    yield "migration", migration(ORIGINAL.replace("export DB_PASSWORD=hunter2\n", ""), known=True)
    yield "migration-decisions", migration(ORIGINAL, known=False)


def doctor() -> str:
    """A fleet in which each rule of the doctor is broken somewhere."""
    from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.doctor.fleet import fleet
    from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.doctor.node import node_report
    from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.doctor.page import html
    from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.doctor.nodes import NOW, node
    from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.doctor.test_node_report import RULES

    names = (f"ip-10-0-{index}-5.eu-central-1.compute.internal" for index in range(HOSTS))
    return html(fleet(node_report(name, node(RULES[index % len(RULES)][1]), NOW) for index, name in enumerate(names)))


def lint(*, compared: bool) -> str:
    """User data of several kinds, with many findings, long lines and a secret."""
    from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.findings.lint_task import OPTIONS, lint_task
    from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.lint.rows import config, mime, part, shell

    node = part(config("maxPods: 20, registryPullQPSs: 3"), "application/node.eks.aws")
    texts = {"old.sh": ORIGINAL, "web.mime": mime(node, part(shell("yum install jq", f"docker pull {'x' * 300}", "sudo reboot")))}
    with tempfile.TemporaryDirectory() as folder:
        for name, text in texts.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        other = Path(folder, "other.mime")
        other.write_text(texts["web.mime"].replace("20", "110"), encoding="utf-8")
        report = Path(folder, "report.html")
        given: dict[str, Any] = {"sources": [str(Path(folder, name)) for name in texts], "report": str(report)}
        given |= {"instance_type": "m5.large", "kubernetes_version": "1.33"}
        given |= {"sources": given["sources"][1:], "compare_to": str(other)} if compared else {}
        options = {name: one.get("default") for name, one in OPTIONS.items()} | given
        lint_task(options, check_mode=False, say=lambda _text: None, fetch=lambda _entry: [])
        return report.read_text(encoding="utf-8")


def migration(text: str, *, known: bool) -> str:
    """A launch template of Ubuntu. known: whether the facts of the cluster are."""
    from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.migration import template
    from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.migration.migrate import migrate
    from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.migration.next_steps import next_steps
    from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.migration_page import html
    from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE

    found = migrate(text, COMPLETE if known else None)
    needed = template.variant(TEMPLATE, "1.33")
    changes = template.changes(TEMPLATE, template.Families("ubuntu", "al2023"), needed)
    return html("launch template web, version 3", text, found, changes, next_steps(found, needed, chooses_image=True))


def main(arguments: list[str]) -> int:
    """Write the pages."""
    sys.path.insert(0, str(TOP / ".cache"))
    folder = Path(arguments[0]) if arguments else PAGES
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
        print(folder / f"{name}.html")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

#!/usr/bin/env python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes tests/golden and the generated reference of the input: the output of every example, and the message of every problem.

Review the difference before you commit it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
GOLDEN = TOP / "tests" / "golden" / "examples"


def rendered() -> dict[str, str]:
    """Path below tests/golden/examples → text: user data, node files and the plan of a live node, of every group of every example."""
    from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import yaml
    from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.importers.eksctl import from_eksctl
    from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs import batch
    from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_files import node_files

    def load(path: Path) -> dict:
        return yaml.load(path.read_text(encoding="utf-8"))

    found: dict[str, str] = {}
    sources = [(path.stem, load(path)) for path in sorted((TOP / "examples").glob("*.yml")) if path.name != "demo.yml"]
    cases = [(name, given["eks_node_cluster"], given["eks_node_groups"]) for name, given in sources]
    for path in sorted((TOP / "examples" / "eksctl").glob("*.yaml")):
        facts = TOP / "examples" / "clusters" / f"{load(path)['metadata']['name']}.yml"
        imported = from_eksctl(path.read_text(encoding="utf-8"), load(facts)["eks_node_cluster"])
        cases.append((f"eksctl-{path.stem}", imported["cluster"], imported["node_groups"]))
    for name, cluster, groups in cases:
        for group, output in zip(groups, batch.render_groups(cluster, groups), strict=True):
            # A heading and .txt keep tools for shell scripts and their like from taking these for files of the project.
            user_data = f"# user data, {output.size} bytes\n{output.rendered.document.text}"
            found[f"{name}/{output.group}.{'userdata' if output.file_name else 'empty'}.txt"] = user_data
            contents = {}
            for file in node_files(cluster, group):
                flat = file["path"].strip("/").replace(":", "").replace("\\", "/")
                heading = f"# {file['path']} {file['mode']} {file['owner']}:{file['group']}\n"
                contents[file["path"]] = file["content"]
                found[f"{name}/{output.group}.files/{flat}.txt"] = heading + file["content"]
            found[f"{name}/{output.group}.plan.txt"] = f"# plan of a live node\n{plan(cluster, group, contents)}"
    return found


def plan(cluster: dict, group: dict, contents: dict[str, str]) -> str:
    """The plan of a group for people, or why there is none. contents: of the node's files, which are not shown twice."""
    from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
    from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_plan import node_plan

    try:
        plain = node_plan(cluster, group).plain()
    except SpecError as error:
        return f"{error}\n"
    for file in plain["files"]:
        if file["content"] == contents.get(file["path"]):
            file["content"] = "as in the folder of files"
    return json.dumps(plain, indent=1, ensure_ascii=False) + "\n"


def write_examples() -> None:
    """Write the output of every example. If it is interrupted, the old folder stays as it is."""
    fresh = GOLDEN.with_name(f"{GOLDEN.name}.fresh")
    shutil.rmtree(fresh, ignore_errors=True)
    for name, text in rendered().items():
        path = fresh / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8"))
    shutil.rmtree(GOLDEN, ignore_errors=True)
    fresh.rename(GOLDEN)


def write_messages() -> None:
    """Write the messages of every test that compares some (tests/unit/messages.py). Tests that are skipped here keep theirs."""
    tests = sorted(str(path) for path in (TOP / "tests").rglob("test_*.py") if "golden_message" in path.read_text(encoding="utf-8"))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
    subprocess.run(command, cwd=TOP, env={**os.environ, "WRITE_GOLDEN_MESSAGES": "1"}, check=True)


def main() -> None:
    sys.path.insert(0, str(TOP / ".cache"))
    print("tests/golden/examples", flush=True)
    write_examples()
    from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils import test_error_table as errors
    from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere import rendered as anywhere
    from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.image import test_plan
    from ansible_collections.nodebootstrap.eks.tools import input_reference, join_causes, sealing_page

    for topic, module in errors.TOPICS.items():
        print(f"tests/golden: problems of {topic}", flush=True)
        errors.write(topic, module)
    print("tests/golden/image_plans", flush=True)
    test_plan.write()
    print("tests/golden/anywhere", flush=True)
    anywhere.write()
    print("reference of the input, causes of joins, what is sealed", flush=True)
    input_reference.main()
    join_causes.main()
    sealing_page.main()
    print("tests/golden/messages", flush=True)
    write_messages()


if __name__ == "__main__":
    main()

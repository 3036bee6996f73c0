#!/usr/bin/env python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes tests/golden and the generated pages: the output of every example, and the message of every problem.

C(tools/golden.py anywhere errors pages) writes only these parts; C(tools/golden.py --help) lists all of them.

Review the difference before you commit it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
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


def write_errors() -> None:
    """Write the problems of every topic."""
    from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils import test_error_table as errors

    for topic, module in errors.TOPICS.items():
        print(f"  {topic}", flush=True)
        errors.write(topic, module)


def write_image_plans() -> None:
    """Write the plans of images."""
    from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.image import test_plan

    test_plan.write()


def write_anywhere() -> None:
    """Write what is rendered for EKS Anywhere."""
    from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere import rendered as anywhere

    anywhere.write()


def write_pages() -> None:
    """Write the reference of the input, the causes of joins, and what is sealed."""
    from ansible_collections.nodebootstrap.eks.tools import input_reference, join_causes, sealing_page

    input_reference.main()
    join_causes.main()
    sealing_page.main()


#: In the order in which they are written.
PARTS = {
    "examples": write_examples,
    "errors": write_errors,
    "image_plans": write_image_plans,
    "anywhere": write_anywhere,
    "pages": write_pages,
    "messages": write_messages,
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}; all by default")
    wanted = parser.parse_args(arguments).parts
    unknown = sorted({*wanted} - PARTS.keys())
    if unknown:
        parser.error(f"no such part: {', '.join(unknown)}. The parts are {', '.join(PARTS)}")
    sys.path.insert(0, str(TOP / ".cache"))
    for name, write in PARTS.items():
        if not wanted or name in wanted:
            print(name, flush=True)
            write()


if __name__ == "__main__":
    main()

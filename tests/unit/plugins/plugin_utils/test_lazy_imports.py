# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a first use of a filter loads: Ansible compiles a collection's modules anew in every run, so each one costs its users time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import errors

COLLECTION = Path(errors.__file__).parents[2]
ROOT = COLLECTION.parents[2]
LIBRARY = "ansible_collections.nodebootstrap.eks.plugins.plugin_utils."

CLUSTER = {
    "name": "demo",
    "endpoint": "https://abc.gr7.eu-west-1.eks.amazonaws.com",
    "certificate_authority": "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUIKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo=",
    "service_cidr": "10.100.0.0/16",
    "kubernetes_version": "1.32",
}

HEAVY = {"tomlkit", "tomllib", "email", "yaml", "difflib"}
READERS = {
    "formats.yaml_reader",
    "formats.mime_reader",
    "formats.cloud_config",
    "nodeconfig.read",
    "nodeconfig.merge",
    "nodeconfig.schema",
    "formats.shell_reader",
    "bootstrap_calls",
    "artifacts.document_agreement",
    "artifacts.kubelet_precedence",
    "artifacts.nodeconfig_precedence",
    "artifacts.precedence",
    "artifacts.shell_places",
    "artifacts.proxy_places",
    "artifacts.static_kubelet",
}
FAMILIES = {
    "al2": {"formats.toml", "formats.yaml", "bottlerocket_settings", "formats.powershell"},
    "al2023": {"formats.toml", "bottlerocket_settings", "formats.powershell", "artifacts.bootstrap_script"},
    "ubuntu": {"formats.toml", "formats.yaml", "bottlerocket_settings", "formats.powershell"},
    "bottlerocket": {"model.written", "kubelet_rules", "formats.mime", "formats.yaml", "formats.powershell", "formats.shell"},
    "windows": {
        "model.written",
        "kubelet_rules",
        "artifacts.windows_places",
        "formats.mime",
        "formats.yaml",
        "formats.toml",
        "formats.shell",
        "bottlerocket_settings",
    },
}
"""Family → what it needs only for fields that the group below does not give, or never."""

RENDER = f"""
import json, sys
begin = set(sys.modules)
from {LIBRARY}outputs.user_data import render
cluster, group = json.load(sys.stdin)
render(cluster, group)
from {LIBRARY}data import instance_types
tables = instance_types.cache_info().currsize
print(json.dumps([sorted(set(sys.modules) - begin), tables]))
"""


def run(program: str, *given: Any) -> Any:
    """What C(program) prints, run by a Python that has loaded nothing yet."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=json.dumps(given),
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def rendered(**group: Any) -> tuple[set[str], int]:
    """The modules that rendering loads, those of the library without its prefix, and how many tables of instance types."""
    modules, tables = run(RENDER, CLUSTER, {"labels": {"role": "web"}, "max_pods": 20, **group})
    return {name.removeprefix(LIBRARY) for name in modules}, tables


@pytest.mark.parametrize("family", FAMILIES)
def test_a_common_group_loads_no_reader_and_no_foreign_serializer(family: str) -> None:
    modules, tables = rendered(family=family)
    assert f"families.{family}" in modules
    assert not modules & (HEAVY | READERS | FAMILIES[family])
    assert {name for name in modules if name.startswith(("families.", "importers"))} == {"families.registry", f"families.{family}"}
    assert tables == 0


@pytest.mark.parametrize("family", FAMILIES)
def test_the_table_of_instance_types_is_read_for_an_instance_type(family: str) -> None:
    assert rendered(family=family, instance={"type": "m5.large"})[1] == 1


@pytest.mark.parametrize(
    ("group", "needed"),
    [
        ({"family": "bottlerocket", "user_data": '[settings]\nmotd = "hello"\n'}, "tomllib" if sys.version_info >= (3, 11) else "tomlkit"),
        ({"family": "al2023", "user_data": "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {}\n"}, "formats.yaml_reader"),
    ],
)
def test_existing_user_data_loads_its_reader(group: dict[str, Any], needed: str) -> None:
    assert needed in rendered(**group)[0]


def test_reading_the_filter_files_loads_the_border_only() -> None:
    names = sorted(path.stem for path in (COLLECTION / "plugins" / "filter").glob("*.py"))
    assert "user_data" in names
    program = "\n".join(
        [
            "import json, sys",
            *(f"import ansible_collections.nodebootstrap.eks.plugins.filter.{name}" for name in names),
            f"print(json.dumps([name for name in sys.modules if name.startswith({LIBRARY!r})]))",
        ]
    )
    assert {name.removeprefix(LIBRARY) for name in run(program)} == {"ansible_adapter", "ansible_imports", "errors"}

# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The inventories of examples/ are what their comments say, and Molecule's pages and scenarios are about the same things."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

import boto3
import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_plan import node_plan
from ansible_collections.nodebootstrap.eks.tests.consistency import documented, project
from ansible_collections.nodebootstrap.eks.tests.unit import ansible_runs

INVENTORIES = project.under("examples/inventory", ".yml")
CLUSTER = {
    "endpoint": "https://0123456789ABCDEF.gr7.eu-west-1.eks.amazonaws.com",
    "certificate_authority": "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUIKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo=",
    "service_cidr": "10.100.0.0/16",
}


def listed(name: str, settings: Mapping[str, str]) -> dict[str, Any]:
    """What ansible-inventory makes of an inventory."""
    done = ansible_runs.run(project.TOP, "ansible-inventory", "--inventory", name, "--list", settings=settings)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_every_inventory_is_tested() -> None:
    assert {PurePosixPath(name).name for name in INVENTORIES} == {"static.yml", "aws_ec2.yml"}


def test_the_static_inventory_describes_nodes() -> None:
    found = listed("examples/inventory/static.yml", {})
    hosts = found["_meta"]["hostvars"]
    assert len(hosts) == 3
    for variables in hosts.values():
        assert variables["ansible_become"] is True
        plan = node_plan({**variables["eks_node_cluster"], **CLUSTER}, variables["eks_node_group"], {"instance_type": "m5.large"})
        assert plan.files


@pytest.fixture
def instances() -> Any:
    """Settings with which AWS modules find three instances; two belong to the cluster."""
    with documented.aws_stand_in() as settings:
        client = boto3.client(
            "ec2",
            region_name="eu-west-1",
            endpoint_url=settings["AWS_ENDPOINT_URL"],
            aws_access_key_id="none",
            aws_secret_access_key="none",
        )
        for tags in ({"nodegroup": "web"}, {"nodegroup": "ci"}, None):
            keys = {} if tags is None else {"kubernetes.io/cluster/demo": "owned", **tags}
            specification = [{"ResourceType": "instance", "Tags": [{"Key": key, "Value": value} for key, value in keys.items()]}]
            client.run_instances(ImageId="ami-12c6146b", MinCount=1, MaxCount=1, **({"TagSpecifications": specification} if keys else {}))
        yield settings


def test_the_inventory_of_ec2_finds_the_nodes_of_the_cluster(instances: Mapping[str, str]) -> None:
    found = listed("examples/inventory/aws_ec2.yml", instances)
    assert {"nodegroup_web", "nodegroup_ci"} <= found.keys()
    hosts = found["_meta"]["hostvars"]
    assert len(hosts) == 2
    for name, variables in hosts.items():
        assert variables["ansible_host"] == variables["private_ip_address"]
        # What composed variables are marked as.
        cluster = {key: value["__ansible_unsafe"] for key, value in variables["eks_node_cluster"].items()}
        assert cluster == {"name": "demo", "region": "eu-west-1"}
        assert re.fullmatch(r"i-[0-9a-f]+", name) and variables["ansible_become"] is True


def test_the_page_of_molecule_lists_every_scenario() -> None:
    scenarios = {name.split("/")[1] for name in project.files() if name.startswith("molecule/") and name.endswith("/molecule.yml")}
    listed = set(re.findall(r"^\| `([a-z0-9_]+)` \|", project.text("molecule/README.md"), flags=re.MULTILINE))
    assert scenarios == listed
    assert len(scenarios) <= 12


def test_the_verifier_of_molecule_knows_nothing_of_the_collection() -> None:
    imported = re.findall(r"^\s*(?:from|import) (\w+)", project.text("molecule/common/verifier.py"), flags=re.MULTILINE)
    assert set(imported) <= {*sys.stdlib_module_names, "yaml"}

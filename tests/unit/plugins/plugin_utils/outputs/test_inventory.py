# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Node groups of an inventory: each once, problems at the variables of a host, disagreements named."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.batch import render_sources
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.inventory import Host, sources_of
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.problem_list import problems_of
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE

WEB = {"name": "web", "family": "al2023"}
OTHER = {**COMPLETE, "name": "other"}


def hosts(*variables: tuple[Any, Any]) -> list[Host]:
    return [Host(f"h{number}", *both) for number, both in enumerate(variables)]


def test_each_group_is_rendered_once_in_the_order_of_the_hosts() -> None:
    db = {"name": "db", "family": "al2"}
    found = sources_of(hosts((COMPLETE, WEB), (None, None), (OTHER, WEB), (dict(COMPLETE), dict(WEB)), (COMPLETE, db)))
    assert [(source.cluster["name"], source.node_groups) for source in found] == [("demo", [WEB, db]), ("other", [WEB])]
    outputs, _unused = render_sources(found)
    assert [output.place for output in outputs] == ["demo/web.userdata", "demo/db.userdata", "other/web.userdata"]


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        ((COMPLETE, {**WEB, "labels": {"a/b": "x"}}), ["h1.eks_node_group.labels"]),
        ((COMPLETE, {**WEB, "family": "al2", "max_pods": 20}), ["h1.eks_node_group.family", "h1.eks_node_group.max_pods"]),
        (({**COMPLETE, "dns_ips": ["10.0.0.10"]}, WEB), ["h1.eks_node_cluster.dns_ips"]),
        ((COMPLETE, {**WEB, "windows": {"persist": 1}}), ["h1.eks_node_group.windows"]),
        ((OTHER, {**WEB, "max_pods": 20}), []),
        ((COMPLETE, {"name": "db", "family": "al2"}), []),
    ],
)
def test_hosts_of_one_group_must_agree(second: tuple[Any, Any], expected: list[str]) -> None:
    assert problems_of(sources_of, hosts((COMPLETE, WEB), second)) == [("input.conflict", f"hosts.{path}") for path in expected]


def test_a_disagreement_shows_no_secret() -> None:
    secret = {**WEB, "commands": {"pre": ["export password=" + "hunter2"]}}
    with pytest.raises(SpecError) as caught:
        sources_of(hosts((COMPLETE, WEB), (COMPLETE, secret)))
    assert "hunter2" not in str(caught.value)


def test_problems_are_reported_at_the_variables_of_a_host() -> None:
    found = sources_of(hosts((COMPLETE, WEB), ({**COMPLETE, "service_cidr": "x"}, {"name": "db", "family": "al2024"})))
    assert problems_of(render_sources, found) == [
        ("input.invalid_cidr", "hosts.h1.eks_node_cluster.service_cidr"),
        ("input.unknown_value", "hosts.h1.eks_node_group.family"),
    ]


def test_a_host_needs_both_variables_and_a_name_for_the_group() -> None:
    assert problems_of(sources_of, hosts((None, WEB))) == [("input.missing_field", "hosts.h0.eks_node_cluster")]
    assert problems_of(sources_of, hosts((COMPLETE, None))) == [("input.missing_field", "inventory")]
    nameless = {"family": "al2023"}
    found = sources_of(hosts((COMPLETE, nameless), (COMPLETE, nameless), (COMPLETE, {"family": "al2"})))
    assert problems_of(render_sources, found) == [("input.missing_field", f"hosts.h{number}.eks_node_group.name") for number in (0, 2)]

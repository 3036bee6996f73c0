# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What nodeadm of July 2026 did with 434 inputs, and that our reader, merger and validator agree with it.

As nodeadm: the same verdict and the same merged result, row by row. Strict: never laxer than nodeadm, and stricter only in
the rows that stand, by reason, in STRICTER_ON_PURPOSE.
"""

from __future__ import annotations

from typing import Any

import pytest
import tomlkit

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problems
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.nodeconfig import envelope, read, schema
from ansible_collections.nodebootstrap.eks.tests.oracle.nodeadm_rows import CASES, drop_ins, row_id, user_data

BARE = [case["id"] for case in CASES if case["id"].startswith("yaml_bare_") and case["check"]["ok"]]

# reason → rows that nodeadm accepts and boots with, and that we refuse
STRICTER_ON_PURPOSE = {
    "nodeadm drops a field that it does not know": [
        "unknown_top",
        "unknown_spec",
        "unknown_cluster",
        "wrong_case_field",
        "status_given",
        "merge_key",  # its anchor is in a separate field
    ],
    "kubelet does not start with a field or a value that it does not know": [
        *(name for name in BARE if not name.startswith("yaml_bare_environment_")),
        "unknown_kubelet_config",
        "kubelet_config_float",
        "kubelet_config_big_int",
        "config_zero",
        "config_null",
        "config_map_over_scalar",
        "config_scalar_over_map",
        "config_empty_map_keeps",
    ],
    "apiVersion and kind replace the ones that kubelet needs": ["config_bad_key"],
    "nodeadm takes the later of two keys without a word": ["duplicate_key"],
    "null is written as an empty text, which the user did not mean": ["yaml_bare_environment_null", "yaml_bare_environment_~"],
    "an empty value means nothing in nodeadm": ["scalar_empty_keeps", "expression_empty_keeps", "empty_certificateAuthority"],
    "no node joins with a CA that is not PEM": ["ca_not_pem", "ca_replaced"],
    "kubelet needs an https URL": ["endpoint_no_scheme"],
    "the cidr is invalid, or has bits after its prefix": ["cidr_garbage", "cidr_bare_ip", "cidr_host_bits", "host_bits"],
    "kubelet does not understand the flag, or systemd splits it": [
        "flags_without_dashes",
        "flags_space",
        "flags_newline",
        "flags_with_space",
    ],
    "nodeadm stops at boot": ["containerd_bad_toml", "strategy_bad"],
    "nodeadm ignores it": ["disabled_mounts_bad", "gates_unknown"],
    "nodeadm ignores an expression that gives no number of pods": [
        "max_pods_expression_bad",
        "cel_prefix",
        "cel_math",
        "cel_unknown_var",
        "cel_zero",
        "cel_negative",
        "cel_string",
        "cel_bool",
        "cel_huge",
        "cel_div_zero",
    ],
    "no program reads kubelet.service.service.d": ["env_service_suffix"],
    "nodeadm warns and goes on without the user data": ["broken_user_data_good_drop_in", "no_user_data_config"],
}
STRICTER = {name for names in STRICTER_ON_PURPOSE.values() for name in names}

# Which containerd the image has is not in its user data.
NOT_OURS_TO_KNOW = {"containerd_1_user_v3"}


def as_dumped(spec: dict[str, Any]) -> dict[str, Any]:
    """A merged spec in the shape in which `config dump` prints it: Go writes structs even when they are empty."""
    instance = dict(spec.get("instance", {}))
    cluster = {name: value for name, value in spec.get("cluster", {}).items() if value != ""}
    return {
        **spec,
        "cluster": cluster,
        "containerd": spec.get("containerd", {}),
        "instance": {**instance, "localStorage": instance.get("localStorage", {}), "network": instance.get("network", {})},
        "kubelet": spec.get("kubelet", {}),
    }


def comparable(dumped: dict[str, Any]) -> dict[str, Any]:
    """TOML by its meaning: nodeadm's writer and ours lay out tables differently."""
    config = dumped["containerd"].get("config")
    try:
        meant = tomlkit.parse(config).unwrap() if config else None
    except tomlkit.exceptions.TOMLKitError:
        meant = config
    return {**dumped, "containerd": {**dumped["containerd"], "config": meant}}


@pytest.mark.parametrize("case", CASES, ids=row_id)
def test_as_nodeadm(case: dict[str, Any]) -> None:
    try:
        merged = envelope.effective(user_data(case), drop_ins(case))["spec"]
    except read.NodeConfigError as error:
        assert not case["check"]["ok"], f"nodeadm accepts what we refuse: {error}"
        assert "merged" not in case, f"nodeadm merges what we refuse: {error}"
        return
    reason = read.missing(merged)
    assert (reason is None) == case["check"]["ok"], f"nodeadm: {case['check']}, we: {reason}"
    if reason is not None:
        assert reason == case["check"]["error"]
    assert comparable(as_dumped(merged)) == comparable(case["merged"])


def strict_problems(case: dict[str, Any]) -> list[str]:
    """What we say about a row: each document by the strict validator, then the whole as nodeadm sees it."""
    problems = Problems()
    sources = [(user_data(case), True)]
    sources += [(data, False) for name, data in drop_ins(case).items() if name.lower().endswith((".yaml", ".yml", ".json"))]
    for data, outer in sources:
        try:
            for text in envelope.documents(data, user_data=outer):
                schema.document_problems(read.document(text), "config", problems)
        except ValueError as error:
            problems.add("nodeconfig.unreadable", "document", str(error))
    try:
        reason = read.missing(envelope.effective(user_data(case), drop_ins(case))["spec"])
    except read.NodeConfigError as error:
        reason = str(error)
    if reason is not None:
        problems.add("nodeconfig.missing_field", "nodeadm", reason)
    return [str(problem) for problem in problems]


@pytest.mark.parametrize("case", CASES, ids=row_id)
def test_strict(case: dict[str, Any]) -> None:
    found = strict_problems(case)
    boots = case["check"]["ok"] and case.get("init", {}).get("ok", True)
    if case["id"] in STRICTER:
        assert found, "not stricter than nodeadm any more: remove the row from STRICTER_ON_PURPOSE"
        assert boots, "nodeadm refuses this too: remove the row from STRICTER_ON_PURPOSE"
    elif boots or case["id"] in NOT_OURS_TO_KNOW:
        assert found == []
    else:
        assert found, "nodeadm refuses this"


def test_the_list_names_rows() -> None:
    assert {case["id"] for case in CASES} >= STRICTER | NOT_OURS_TO_KNOW

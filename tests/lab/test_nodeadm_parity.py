# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The real `nodeadm config check` takes all that we render for Amazon Linux 2023: golden files, unit tests' documents, a fuzzed corpus.

nodeadm of February 2024 reads as the one of July 2026 does, row by row of the record, but for what NOT_YET and MAY_BE_MISSING say. It says
nothing about fields that it does not know yet (LATER_FIELDS): these are proven by the record alone (tests/oracle/test_nodeadm_rows.py).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.nodeconfig import envelope
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.nodeconfig.schema import SPEC, Field
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_files import node_files
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render
from ansible_collections.nodebootstrap.eks.tests.oracle import nodeadm_real, nodeadm_recorder
from ansible_collections.nodebootstrap.eks.tests.oracle.nodeadm_real import FILE, USER_DATA, Checker
from ansible_collections.nodebootstrap.eks.tests.oracle.nodeadm_rows import CASES, user_data
from ansible_collections.nodebootstrap.eks.tests.oracle.test_readback import TEXT, cases

pytestmark = pytest.mark.docker

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "examples"
PART = "node.eks.aws"

# Fields that nodeadm learned after February 2024: it drops them unread, whatever their values are.
LATER_FIELDS = {
    "spec.containerd.baseRuntimeSpec",
    "spec.featureGates",
    "spec.instance.environment",
    "spec.instance.localStorage.disabledMounts",
    "spec.instance.localStorage.mountPath",
    "spec.instance.network.domains",
    "spec.instance.network.nameservers",
    "spec.kubelet.maxPodsExpression",
}

# reason → rows that nodeadm of July 2026 takes and the one of February 2024 does not
NOT_YET = {
    "base64 and gzip are not undone": [
        "base64",
        "base64_wrapped_76",
        "gzip",
        "base64_gzip",
        "mime_gzip",
        "mime_base64",
        "mime_part_cte_base64",
        "mime_part_cte_base64_wrapped",
        "mime_part_cte_base64_gzip",
    ],
}


def _is_finite(case: dict[str, Any]) -> bool:
    """Numbers that JSON does not have stop the reader itself, wherever they stand."""
    return not str(case["id"]).endswith((".inf", ".nan"))


# reason → rows that the one of July 2026 refuses, beside the rows that lack a part of the cluster, and the one of February 2024 does not
NOT_CHECKED = {
    "the invalid value is in one of LATER_FIELDS": [
        "runtime_spec_string",
        "environment_flat",
        "environment_number",
        "environment_bool",
        "nameservers_string",
        "gates_string",
        "max_pods_expression_number",
        *(case["id"] for case in CASES if case["id"].startswith("yaml_bare_environment_") and not case["check"]["ok"] and _is_finite(case)),
    ],
    "its merger does not parse TOML": ["containerd_bad_second"],
}
# The five complaints of `config check` in July 2026 about what is not there; in February 2024 only `init` had them.
MAY_BE_MISSING = (" is missing in cluster configuration", "cluster ID must be provided for outposts")


@pytest.fixture(scope="module")
def check() -> Iterator[Checker]:
    with nodeadm_real.checker() as ready:
        yield ready


def refusals(check: Checker, documents: Iterable[tuple[str, str]]) -> list[str]:
    """What nodeadm says about the documents that it does not take, and the documents."""
    asked = sorted(set(documents))
    answers = check((source, text.encode()) for source, text in asked)
    return [f"{answer}\n{source}:\n{text}" for (source, text), answer in zip(asked, answers, strict=True) if answer is not None]


def test_it_reads_as_the_one_of_july_2026(check: Checker) -> None:
    """So its word about what we render counts."""
    rows = [case for case in CASES if case["group"] in ("envelope", "decode", "merge")]
    # MIME is read from the metadata service only, and that is slower.
    answers = check((FILE if case["group"] == "decode" else USER_DATA, user_data(case)) for case in rows)
    differing: dict[bool, set[str]] = {True: set(), False: set()}
    for case, answer in zip(rows, answers, strict=True):
        if (answer is None) != case["check"]["ok"] and not str(case["check"].get("error", "")).endswith(MAY_BE_MISSING):
            differing[case["check"]["ok"]].add(case["id"])
    assert differing == {
        True: {name for names in NOT_YET.values() for name in names},
        False: {name for names in NOT_CHECKED.values() for name in names},
    }


def test_which_fields_it_knows(check: Checker) -> None:
    """A field that it reads is one in which it refuses a value of a wrong type."""
    paths = list(leaves(SPEC, "spec"))
    answers = check((FILE, wrong(path)) for path in paths)
    assert {path for path, answer in zip(paths, answers, strict=True) if answer is None} == LATER_FIELDS
    assert len(paths) > len(LATER_FIELDS)


def leaves(here: Field, path: str) -> Iterator[str]:
    if here.kind != "record":
        yield path
    for name, below in here.fields.items():
        yield from leaves(below, f"{path}.{name}")


def wrong(path: str) -> bytes:
    value: Any = [[1]]
    for name in reversed(path.split(".")):
        value = {name: value}
    return json.dumps({"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig", **value}).encode()


def test_it_takes_the_golden_files(check: Checker) -> None:
    documents = []
    for path in sorted(GOLDEN.rglob("*.txt")):
        heading, _unused, text = path.read_text(encoding="utf-8").partition("\n")
        if heading.startswith("# user data") and PART in text:
            documents.append((USER_DATA, text))
        elif heading.startswith(f"# {nodeadm_recorder.DROP_INS}"):
            documents.append((FILE, text))
    assert {source for source, _text in documents} == {USER_DATA, FILE}
    assert refusals(check, documents) == []


def test_it_takes_what_the_unit_tests_render(check: Checker) -> None:
    documents = [(source, text) for source, text in nodeadm_recorder.unit_tests() if PART in text]
    assert len(documents) > 100
    assert refusals(check, documents) == []


MIRRORS = st.dictionaries(st.sampled_from(["docker.io", "_default", "quay.io:443"]), st.just(["https://mirror.example.com"]), max_size=2)
LINE = TEXT.filter(lambda text: text.strip() and "\n" not in text)
#: What cases() of the read-back leaves out: the other fields that end in a NodeConfig, and the parts beside it.
MORE: dict[str, st.SearchStrategy[Any]] = {
    "commands": st.fixed_dictionaries({}, optional={"pre": st.lists(LINE, max_size=2), "post": st.lists(LINE, max_size=2)}),
    "containerd": st.fixed_dictionaries({}, optional={"registry_mirrors": MIRRORS, "config": st.just({"debug": {"level": "08"}})}),
    "local_storage": st.fixed_dictionaries({"strategy": st.sampled_from(["raid0", "raid10", "mount"])}),
    "nodeadm": st.fixed_dictionaries(
        {},
        optional={
            "instance": st.just({"network": {"domains": ["~."], "nameservers": ["fd00::1"]}}),
            "containerd": st.fixed_dictionaries({"baseRuntimeSpec": st.dictionaries(TEXT, TEXT, max_size=2)}),
            "featureGates": st.dictionaries(st.sampled_from(["InstanceIdNodeName", "FastImagePull"]), st.booleans(), max_size=2),
            "kubelet": st.just({"maxPodsExpression": "max_pods > 110 ? 110 : max_pods"}),
        },
    ),
    "proxy": st.fixed_dictionaries({"http": st.just("http://proxy:3128")}, optional={"no_proxy": st.lists(LINE, max_size=2)}),
    "mode": st.sampled_from(["self_managed", "managed", "managed_custom_ami"]),
    "user_data": st.sampled_from(
        [
            "#!/bin/bash\necho '--=_'\n",
            "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {kubelet: {config: {imageGCHighThresholdPercent: 80}}}\n",
            '{"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig", "spec": {"containerd": {"config": "oom_score = 5"}}}',
        ]
    ),
}


@pytest.mark.fuzz
def test_it_takes_a_fuzzed_corpus(check: Checker) -> None:
    documents: set[tuple[str, str]] = set()
    tried = []

    @settings(settings.get_profile("small"))
    @given(cases("al2023"), st.fixed_dictionaries({}, optional=MORE))
    def collect(case: tuple[dict[str, Any], dict[str, Any]], more: dict[str, Any]) -> None:
        cluster, group = case
        tried.append(more)
        try:
            rendered = render(cluster, group | more).document.text
            files = node_files(cluster, group | more)
        except SpecError:
            return
        if PART in rendered:
            documents.add((USER_DATA, rendered))
        documents.update((FILE, file["content"]) for file in files if file["path"].startswith(nodeadm_recorder.DROP_INS))

    collect()
    assert len(documents) > len(tried) / 2, "most are refused: the corpus says little"
    assert refusals(check, documents) == []
    for source, text in documents:
        envelope.node_configs(text.encode(), user_data=source == USER_DATA)

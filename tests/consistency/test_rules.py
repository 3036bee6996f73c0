# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The catalogue of rules: complete, sorted, used by the code, shown by a golden message, and documented."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import rules
from ansible_collections.nodebootstrap.eks.tests.consistency import project
from ansible_collections.nodebootstrap.eks.tools import rules_page, sealing_page

LIBRARY = project.under("plugins/plugin_utils", ".py")
RULE_ID = re.compile(r"[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*")
GOLDEN_RULE = re.compile(r"\[([a-z0-9_]+\.[a-z0-9_]+)\]$", re.MULTILINE)

COMPUTED = re.compile(r"\w+(\.problems\[0\])?\.rule|RULES\[\w+\]|rule")
"""A rule that is not a literal: taken from another problem, from a table of ids, or passed as an argument."""

ON_NODES = ("image.", "join.")
"""Rules of findings on nodes: test_image_rules.py and test_join_causes.py."""

OF_THE_DOCTOR = "tests/golden/messages/unit/plugins/plugin_utils/doctor/test_node_report.txt"
"""The findings of the doctor, in a report on a fleet."""

OF_DRAINS = "tests/golden/messages/unit/plugins/plugin_utils/drain/test_rules.txt"
"""The findings of a report on drains."""

LINTED = "tests/golden/messages/unit/plugins/plugin_utils/lint/test_rules.txt"
"""The findings in existing user data."""

OF_LAUNCH_TEMPLATES = "tests/golden/messages/unit/plugins/plugin_utils/publish/test_requirements.txt"
"""What publish refuses."""

WITHOUT_GOLDEN_MESSAGE = {
    **dict.fromkeys(
        ("access.ignored_item", "access.no_cluster_policy", "access.no_linux_node", "access.not_checked"),
        "warnings and notes of a plan: access/test_plan.py",
    ),
    "bottlerocket.unreadable_flag": "the check of kubelet's flags rejects all values known today before they are translated",
    "capacity.above_recommendation": "a warning: test_cures.py",
    "certificates.dates": "a warning of render: test_certificate_dates.py",
    "certificates.unreadable": "a warning: test_registries.py",
    "cluster.version_unknown": "a note: test_parse.py",
    "containerd.ignored_dial_timeout": "a warning: test_registries.py",
    "containerd.unverified_mirror": "a warning: test_registries.py",
    **dict.fromkeys(
        ("launch_template.hop_limit", "launch_template.imdsv1", "launch_template.not_checked"),
        "warnings and a note: publish/test_requirements.py",
    ),
    "live.missing_collection": "needs a controller without the collection: test_apply_windows.py",
    "kubelet.drop_in_with_defaults": "a warning: test_al2023.py",
    "live.unencodable_plan": "the check of the input rejects such text first; it protects the encoder",
    "shell.missing_package": "a note: test_one_winner_shell.py",
    "user_data.replaced_by_override": "a warning: test_one_winner_pods.py",
    "user_data.unread_shell": "a note: test_one_winner_shell.py",
    **dict.fromkeys(
        ("sources.no_user_data", "sources.not_base64", "sources.unknown_user_data", "sources.unreadable"),
        "files of other tools: test_read.py",
    ),
    "toml.missing_package": "needs a controller without tomlkit: test_toml.py",
}


def reported(name: str) -> Iterator[tuple[int, ast.expr]]:
    """Line and first argument of every call that builds a problem in a file."""
    for node in ast.walk(ast.parse(project.text(name))):
        if isinstance(node, ast.Call) and node.args:
            function = node.func
            called = function.id if isinstance(function, ast.Name) else function.attr if isinstance(function, ast.Attribute) else ""
            adds = called == "add" and len(node.args) > 1 and "not_ours" not in ast.unparse(function)
            if called == "Problem" or adds:
                yield node.lineno, node.args[0]


def test_every_problem_has_a_rule_of_the_catalogue() -> None:
    def problems() -> Iterator[str]:
        for name in LIBRARY:
            if name.endswith("/errors.py"):
                continue
            for line, rule in reported(name):
                if isinstance(rule, ast.Constant):
                    if rule.value not in rules.catalogue():
                        yield f"{name}:{line}: {rule.value!r} is not in the catalogue"
                elif not COMPUTED.fullmatch(ast.unparse(rule)):
                    yield f"{name}:{line}: the rule is not a literal: {ast.unparse(rule)}"

    project.none_of(problems())


def test_every_rule_is_used() -> None:
    used = {
        node.value
        for name in LIBRARY
        for node in ast.walk(ast.parse(project.text(name)))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    project.none_of(rule for rule in rules.catalogue() if not rule.startswith(ON_NODES) and rule not in used)


def test_rules_are_sorted_and_complete() -> None:
    table = json.loads(project.text("plugins/plugin_utils/_data/rules.json"))
    assert list(table["rules"]) == sorted(table["rules"])
    assert list(table["areas"]) == sorted(table["areas"]) == sorted({rule.partition(".")[0] for rule in table["rules"]})
    for rule in rules.catalogue().values():
        assert RULE_ID.fullmatch(rule.id)
        assert rule.severity in rules.SEVERITIES, rule.id
        assert rule.source, rule.id
        for text in (rule.title, rule.why):
            assert text[:1].strip() and text.endswith((".", "…")) and "\n" not in text, (rule.id, text)
        assert rule.fix, rule.id


def test_no_rule_is_defined_twice() -> None:
    def check(pairs: list[tuple[str, object]]) -> dict[str, object]:
        assert len(pairs) == len(dict(pairs)), [key for key, _unused in pairs]
        return dict(pairs)

    json.loads(project.text("plugins/plugin_utils/_data/rules.json"), object_pairs_hook=check)


def test_every_rule_has_a_golden_message() -> None:
    files = [*project.under("tests/golden/errors", ".txt"), LINTED, OF_THE_DOCTOR, OF_LAUNCH_TEMPLATES, OF_DRAINS]
    shown = {rule for name in files for rule in GOLDEN_RULE.findall(project.text(name))}
    expected = {rule for rule in rules.catalogue() if not rule.startswith(ON_NODES)}
    assert sorted(expected - shown) == sorted(WITHOUT_GOLDEN_MESSAGE)


def test_the_page_shows_the_catalogue() -> None:
    assert rules_page.page() == project.text("docs/rules.md"), "run make golden and review the diff"


def test_the_page_of_sealing_shows_the_table() -> None:
    page = project.text("docs/sealing.md")
    assert sealing_page.updated(page) == page, "run make golden and review the diff"

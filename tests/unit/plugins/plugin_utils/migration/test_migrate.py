# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Migration: every setting of the original appears once in the report, nothing is guessed, and the rest keeps its order."""

from __future__ import annotations

import base64
import re
import sys
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.bootstrap_calls import EXTRA_ARGS, OPTIONS, VARIABLES
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.data import kubelet_flags
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import shell
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats.shell_reader import source
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.migration.migrate import migrate
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.migration.variables import option_of
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.nodeconfig.merge import merge
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.nodeconfig.read import parse
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.migrate_user_data import migrate_user_data
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.readers.document import structure
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.script_lines.rows import ROWS
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.migration.threads import (
    CLOUD_CONFIG,
    ENDPOINT,
    FACTS,
    IDENTITY,
    SHELL,
    multipart,
)
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.script_lines.cases import RIGHT, WRONG
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import CA

VALUES = {
    "--apiserver-endpoint": ENDPOINT,
    "--aws-api-retry-attempts": "5",
    "--b64-cluster-ca": CA,
    "--cluster-id": "7c9e6679",
    "--container-runtime": "containerd",
    "--containerd-config-file": "/etc/containerd/own.toml",
    "--dns-cluster-ip": "10.100.0.10",
    "--docker-config-json": "{}",
    "--enable-docker-bridge": "true",
    "--enable-local-outpost": "false",
    "--ip-family": "ipv4",
    "--kubelet-extra-args": "--v=3",
    "--local-disks": "raid0",
    "--mount-bpf-fs": "true",
    "--pause-container-account": "602401143452",
    "--pause-container-version": "3.9",
    "--service-ipv4-cidr": "10.100.0.0/16",
    "--service-ipv6-cidr": "fd30:1c53:5f8a::/108",
    "--use-max-pods": "false",
}


CALL = "/etc/eks/bootstrap.sh shop --use-max-pods false"


def call(*words: str) -> str:
    """A script with one call."""
    return f"#!/bin/bash\n/etc/eks/bootstrap.sh shop {' '.join(map(shell.quote, words))}\n"


def spec_of(text: str) -> dict[str, Any]:
    """The merged NodeConfig of rendered user data."""
    found: dict[str, Any] = merge([parse(part.text) for part in structure(text).parts if part.kind == "nodeconfig"])["spec"]
    return found


def has(spec: Mapping[str, Any], path: str) -> bool:
    here: Any = {"spec": spec}
    for name in path.split("."):
        if not isinstance(here, Mapping) or name not in here:
            return False
        here = here[name]
    return True


# --- every setting once


@pytest.mark.parametrize("option", sorted(OPTIONS))
def test_every_option_is_listed_once(option: str) -> None:
    given = {name: value for name, value in FACTS.items() if name != "service_cidr" or "cidr" not in option}
    found = migrate(call(option, VALUES[option]), given)
    rows = [one for one in found.report.arguments if one.name == option]
    assert len(rows) == 1
    assert rows[0].outcome == "moved" or rows[0].reason
    if rows[0].outcome == "needs_decision":
        assert found.user_data is None
        assert any(one.where == rows[0].where for one in found.report.decisions)
    if rows[0].to and found.user_data is not None:
        assert has(spec_of(found.user_data), rows[0].to)


@pytest.mark.parametrize("variable", sorted(VARIABLES))
def test_every_variable_is_listed_once(variable: str) -> None:
    option = option_of(variable)
    assert option in OPTIONS
    text = f"#!/bin/bash\nexport {variable}={shell.quote(VALUES[option])}\n/etc/eks/bootstrap.sh shop\n"
    given = {name: value for name, value in FACTS.items() if name != "service_cidr" or "CIDR" not in variable}
    found = migrate(text, given)
    assert [one.name for one in found.report.arguments].count(variable) == 1
    as_option = migrate(call(option, VALUES[option]), given)
    assert (found.user_data, found.node_group) == (as_option.user_data, as_option.node_group)


@pytest.mark.parametrize("flag", sorted(kubelet_flags()["flags"]))
@pytest.mark.parametrize("version", [None, "1.33"])
def test_every_flag_of_kubelet_is_listed_once(flag: str, version: str | None) -> None:
    text = call(EXTRA_ARGS, f"--{flag}=1")
    found = migrate(text, FACTS | ({"kubernetes_version": version} if version else {}))
    rows = [one for one in found.report.arguments if one.name == f"--{flag}"]
    assert len(rows) == 1
    assert rows[0].outcome == "moved" or rows[0].reason
    if rows[0].to and found.user_data is not None:
        assert has(spec_of(found.user_data), rows[0].to), rows[0].to
    assert (rows[0].outcome == "needs_decision") <= (found.user_data is None)


def test_an_argument_that_is_given_twice_counts_once() -> None:
    found = migrate(call("--use-max-pods", "true", "--use-max-pods", "false", EXTRA_ARGS, "--max-pods=20"), FACTS)
    outcomes = [(one.name, one.value, one.outcome) for one in found.report.arguments if one.name == "--use-max-pods"]
    assert outcomes == [("--use-max-pods", "true", "dropped"), ("--use-max-pods", "false", "dropped")]
    assert found.node_group["max_pods"] == 20


def test_words_that_the_script_ignores_are_listed() -> None:
    found = migrate(call("--use-max-pods=false"), FACTS)
    assert [(one.name, one.outcome) for one in found.report.arguments][-1] == ("--use-max-pods=false", "dropped")
    assert "max_pods" not in found.node_group


def test_options_of_the_call_win_over_variables() -> None:
    text = f"#!/bin/bash\nexport KUBELET_EXTRA_ARGS=--max-pods=9\n/etc/eks/bootstrap.sh shop {EXTRA_ARGS} --max-pods=20\n"
    found = migrate(text, FACTS)
    assert found.node_group["max_pods"] == 20
    assert Counter(one.outcome for one in found.report.arguments if one.name == "--max-pods") == {"moved": 1, "dropped": 1}


# --- nothing is guessed


def test_missing_facts_need_a_decision() -> None:
    found = migrate(call(EXTRA_ARGS, "--max-pods=20"))
    assert found.user_data is None
    assert [one.path for one in found.report.decisions] == [
        f"cluster.{name}" for name in ("certificate_authority", "endpoint", "service_cidr")
    ]


def test_a_contradiction_needs_a_decision(golden_message: Any) -> None:
    found = migrate(call("--apiserver-endpoint", ENDPOINT, "--b64-cluster-ca", CA), FACTS | {"endpoint": "https://other", "name": "other"})
    assert found.user_data is None
    assert [one.path for one in found.report.decisions] == ["cluster.name", "cluster.endpoint"]
    assert all(one.where is not None for one in found.report.decisions)
    golden_message("\n".join(f"{one.path}: {one.question}" for one in found.report.decisions))


@pytest.mark.parametrize(
    "text",
    [
        "#!/bin/bash\nif true; then /etc/eks/bootstrap.sh shop; fi\n",
        "#!/bin/bash\n[ -f /a ] && /etc/eks/bootstrap.sh shop\n",
        "#!/bin/bash\n/etc/eks/bootstrap.sh shop\n/etc/eks/bootstrap.sh shop\n",
        "#!/bin/bash\n/etc/eks/bootstrap.sh $NAME\n",
        f'#!/bin/bash\n/etc/eks/bootstrap.sh shop {EXTRA_ARGS} "--max-pods=$(nproc)"\n',
        f"#!/bin/bash\n/etc/eks/bootstrap.sh shop {EXTRA_ARGS} '--node-labels=\"a=b\"'\n",
        "#!/bin/bash\nfor i in 1 2; do /etc/eks/bootstrap.sh shop; done\n",
        "#!/bin/bash\nsed -i 's/exit 1/exit 0/' /etc/eks/bootstrap.sh\n/etc/eks/bootstrap.sh shop\n",
        "#!/bin/bash\nNAME=x\necho a\n/etc/eks/bootstrap.sh shop\necho $NAME\n",
        "#cloud-config\nbootcmd:\n- /etc/eks/bootstrap.sh shop\n",
        "#!/bin/bash\ncp kubeconfig /var/lib/kubelet/kubeconfig\nsystemctl start kubelet\n",
    ],
)
def test_what_is_not_certain_needs_a_decision(text: str) -> None:
    facts = {name: value for name, value in FACTS.items() if name != "name"}
    found = migrate(text, facts)
    assert found.user_data is None
    assert found.report.decisions
    assert all(one.choices for one in found.report.decisions)


BESIDE = (
    "| tee /var/log/boot.log",
    "2>&1 | tee -a /var/log/boot.log",
    ">/dev/null",
    "&>> $LOG",
    "| logger -t bootstrap",
    "|| exit 1",
    "|| true",
    '> "/var/log/boot.log" 2>&1 || exit 1  # joins the cluster',
    "\\\n  2>&1 | tee /var/log/boot.log",
)


@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.parametrize("after", ["", "touch /after\n"])
def test_what_only_takes_the_output_or_the_status_of_the_call_is_left_out(beside: str, after: str) -> None:
    plain = f"#!/bin/bash\ntouch /before\n{CALL}\n{after}"
    alone, found = migrate(plain, FACTS), migrate(plain.replace(CALL, f"{CALL} {beside}"), FACTS)
    assert alone.user_data is not None
    assert (found.user_data, found.node_group) == (alone.user_data, alone.node_group)
    more = {one.message for one in found.report.warnings} - {one.message for one in alone.report.warnings}
    assert more and all("left out" in one for one in more)


@pytest.mark.parametrize("before", ["timeout 300", "!", "sudo timeout -k 5 5m", "! timeout 300"])
@pytest.mark.parametrize(("beside", "after"), [("", ""), ("", "touch /after\n"), ("2>&1 | tee /var/log/boot.log", "touch /after\n")])
def test_what_limits_or_negates_the_call_is_left_out(before: str, beside: str, after: str) -> None:
    plain = f"#!/bin/bash\ntouch /before\n{CALL} {beside}\n{after}"
    alone, found = migrate(plain, FACTS), migrate(plain.replace(CALL, f"{before} {CALL}"), FACTS)
    assert alone.user_data is not None
    assert (found.user_data, found.node_group) == (alone.user_data, alone.node_group)
    more = {one.message for one in found.report.warnings} - {one.message for one in alone.report.warnings}
    words = [word for word in ("timeout", "!") if word in before]
    assert len(more) == len(words)
    assert all(mentions(more, word, "left out") for word in words)


def test_a_script_that_ends_if_a_negated_call_succeeds_needs_a_decision() -> None:
    found = migrate(f"#!/bin/bash\n! {CALL} || exit 1\ntouch /after\n", FACTS)
    assert (found.user_data, [one.where.line for one in found.report.decisions if one.where]) == (None, [2])


AROUND = [*(f"{{}} {beside}" for beside in BESIDE), "{} | sort", "{} || reboot", "{} < /a", "{} | tee $(pwd)/a", "{}; true", "true && {}"]


@pytest.mark.parametrize("around", [*AROUND, "timeout 300 {}"])
def test_a_decision_about_the_line_of_a_call_shows_neither_secrets_nor_the_authority(around: str) -> None:
    call_line = around.format(f"/etc/eks/bootstrap.sh shop --b64-cluster-ca {CA} --apiserver-endpoint {ENDPOINT}")
    found = migrate(f"#!/bin/bash\n{call_line}\nPASSWORD=hunter2-Hunter2-9x {call_line}\n", FACTS)
    texts = [found.report.decisions, found.report.warnings]
    assert found.report.decisions and CA not in str(texts) and "hunter2-Hunter2-9x" not in str(texts)


@pytest.mark.parametrize("value", ["${ca}", "{{ ca }}"])
def test_the_argument_cluster_fills_placeholders(value: str) -> None:
    text = call("--b64-cluster-ca", value, "--dns-cluster-ip", "$DNS").replace("'$DNS'", '"$DNS"')
    found = migrate(text, FACTS | {"dns_ips": ["10.100.0.20"]})
    assert found.user_data is not None
    assert (found.cluster["certificate_authority"], found.cluster["dns_ips"]) == (CA, ["10.100.0.20"])
    assert [one.reason is not None for one in found.report.arguments if one.name in ("--b64-cluster-ca", "--dns-cluster-ip")] == [
        True,
        True,
    ]
    without = migrate(text)
    paths = [one.path for one in without.report.decisions]
    assert sorted(paths) == [f"cluster.{name}" for name in ("certificate_authority", "dns_ips", "endpoint", "service_cidr")]


@pytest.mark.parametrize("extra", ["$ALL", "--max-pods=20 $MORE", "--v 2", "$(flags)"])
def test_flags_that_are_not_in_the_text_need_a_decision(extra: str) -> None:
    found = migrate(f'#!/bin/bash\n/etc/eks/bootstrap.sh shop {EXTRA_ARGS} "{extra}"\n', FACTS)
    assert EXTRA_ARGS in [one.path for one in found.report.decisions]
    assert [one.outcome for one in found.report.arguments if one.name == EXTRA_ARGS] == ["needs_decision"]


def test_an_unknown_value_of_a_flag_that_nodeadm_sets_is_not_needed() -> None:
    found = migrate(f'#!/bin/bash\n/etc/eks/bootstrap.sh shop {EXTRA_ARGS} "--node-ip=$(cat /ip) --v=3"\n', FACTS)
    assert found.user_data is not None
    assert found.node_group["kubelet"] == {"flags": {"v": "3"}}


# --- scripts around the call


def test_scripts_keep_their_order_and_content() -> None:
    config = "#cloud-config\n# a comment\npackages:   [nfs-utils]\n"
    first, last = "#!/bin/bash\necho  first # a comment\n", "#!/usr/bin/python3\nprint('last')\n"
    text = multipart((CLOUD_CONFIG, config), (SHELL, first), (SHELL, call(*IDENTITY.split())), (SHELL, last))
    found = migrate(text, FACTS)
    assert found.user_data is not None
    assert [one.to for one in found.report.kept] == ["node_group.user_data", "node_group.user_data", "node_group.commands.post"]
    parts = structure(found.user_data).parts
    assert [part.text for part in parts[:2]] == [config, first]
    assert last in parts[2].text
    assert parts[-1].kind == "nodeconfig"


def test_parts_after_the_call_that_are_not_scripts_are_kept() -> None:
    config = "#cloud-config\npackages: [nfs-utils]\n"
    found = migrate(multipart((SHELL, call(*IDENTITY.split())), (CLOUD_CONFIG, config)), FACTS)
    assert found.user_data is not None
    assert config in [part.text for part in structure(found.user_data).parts]
    assert found.report.warnings


def test_base64_of_mime_is_read() -> None:
    text = call(*IDENTITY.split())
    encoded = base64.b64encode(multipart((SHELL, text)).encode()).decode()
    assert migrate(encoded, FACTS).user_data == migrate(text, FACTS).user_data


NEW = [row for row in ROWS if row.is_new and (not row.families or "al2023" in row.families)]


@pytest.mark.parametrize("row", NEW, ids=lambda row: row.name)
def test_lines_that_need_a_look(row: Any) -> None:
    def messages(line: str) -> list[str]:
        text = f"#!/bin/bash\n{line}\n/etc/eks/bootstrap.sh shop {IDENTITY}\n"
        return [one.message for one in migrate(text, FACTS).report.warnings if one.source == row.source and row.message in one.message]

    assert len(messages(WRONG[row.name])) == 1
    assert messages(RIGHT[row.name]) == []
    assert messages(f"# {WRONG[row.name]}") == []
    assert re.fullmatch(r"https://\S+", row.source)


def test_a_restart_after_the_call_is_not_too_early() -> None:
    words = f"shop {IDENTITY} --dns-cluster-ip 10.100.0.10"
    found = migrate(f"#!/bin/bash\n/etc/eks/bootstrap.sh {words}\nsystemctl restart kubelet\n", FACTS)
    assert found.report.warnings == ()


SAID_ONCE = "apt-get install -y jq\nsed -i s/a/b/ /etc/kubernetes/kubelet/kubelet-config.json\nsystemctl enable ntpd"


def test_a_line_is_reported_once_as_a_warning_or_as_a_finding() -> None:
    text = f"#!/bin/bash\n{SAID_ONCE}\n/etc/eks/bootstrap.sh shop {IDENTITY} --dns-cluster-ip 10.100.0.10\nsystemctl restart crond\n"
    found = migrate(text, FACTS)
    assert [one.where.line for one in found.report.warnings if one.where] == [2, 3, 4, 6]
    assert [one.rule.id for one in found.report.findings] == ["shell.downloads"]


def test_without_the_grammar_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tree_sitter_bash", None)
    source.parse.cache_clear()
    with pytest.raises(SpecError) as caught:
        migrate("#!/bin/bash\nsystemctl restart a-unit-of-this-test\n", FACTS)
    assert [one.rule for one in caught.value.problems] == ["shell.missing_package"]


@pytest.mark.parametrize(
    ("words", "is_computed"),
    [
        (IDENTITY, True),
        (f"{IDENTITY} --dns-cluster-ip 10.100.0.10", False),
        (f"{IDENTITY} --service-ipv4-cidr 10.100.0.0/16", False),
        (f"{IDENTITY} {EXTRA_ARGS} --cluster-dns=10.100.0.10", False),
        (f"--apiserver-endpoint {ENDPOINT}", False),
    ],
)
def test_an_address_of_the_dns_that_the_script_computes_is_reported(words: str, is_computed: bool) -> None:
    found = migrate(call(*words.split()), FACTS)
    lines = [one.where.line for one in found.report.warnings if one.where and "10.100.0.10" in one.message]
    assert lines == [2] * is_computed


# --- other families


def test_bottlerocket_gets_settings() -> None:
    found = migrate(
        call(*IDENTITY.split(), EXTRA_ARGS, "--node-labels=a=b --max-pods=20 --image-gc-high-threshold=90"), FACTS, "bottlerocket"
    )
    assert found.user_data is not None
    assert structure(found.user_data).parts[0].kind == "toml"
    assert "image-gc-high-threshold-percent = 90" in found.user_data


def test_bottlerocket_has_no_shell() -> None:
    found = migrate(f"#!/bin/bash\necho x\n/etc/eks/bootstrap.sh shop {IDENTITY}\n", FACTS, "bottlerocket")
    assert found.user_data is None
    assert [one.path for one in found.report.decisions] == ["node_group.commands.pre"]


@pytest.mark.parametrize(
    "text",
    [
        "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {}\n",
        "[settings.kubernetes]\ncluster-name = 'a'\n",
        "<powershell>\nWrite-Output 1\n</powershell>\n",
        "",
        "echo no interpreter\n",
        multipart((SHELL, "#!/bin/bash\n")).replace("--b7--", "--b7--\n\n--b7\nContent-Type: text/x-shellscript\n\n#!/bin/sh\n"),
    ],
)
def test_other_texts_are_refused(text: str, golden_message: Any) -> None:
    with pytest.raises(SpecError) as caught:
        migrate_user_data(text)
    golden_message(caught.value)


@pytest.mark.parametrize(
    ("text", "cluster", "family"),
    [
        (5, None, "al2023"),
        (None, [], "windows"),
        (call(), {"cluster_name": "shop"}, "al2023"),
        (call(), {"service_cidr": "10.100.0.0"}, "AmazonLinux2023"),
        (call(), {}, "al2"),
    ],
)
def test_wrong_arguments_are_refused(text: Any, cluster: Any, family: Any, golden_message: Any) -> None:
    with pytest.raises(SpecError) as caught:
        migrate_user_data(text, cluster, family)
    golden_message(caught.value)

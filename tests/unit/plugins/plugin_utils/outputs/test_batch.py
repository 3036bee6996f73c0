# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Many groups at once: one file for each, and differences that show no secret."""

from __future__ import annotations

import base64
import gzip
import re
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.live import report
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.batch import (
    Source,
    diff,
    render_groups,
    render_sources,
    table,
    unchecked,
)
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.problem_list import found, problems_of
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE

PASSWORD = "hunter" + "2"
SECRET = {"name": "web", "family": "al2023", "commands": {"pre": [f"export password={PASSWORD}"]}, "allow_secrets_in_user_data": True}
PLAIN = {"name": "web", "family": "al2023"}


def test_a_difference_shows_decoded_text_and_a_short_certificate() -> None:
    (before,), (after,) = (render_groups(COMPLETE, [PLAIN | {"max_pods": pods}], "gzip_base64") for pods in (20, 30))
    shown = diff(after, "out/demo/web.userdata", before.content)
    assert "maxPods: 20" in shown["before"]
    assert "maxPods: 30" in shown["after"]
    assert COMPLETE["certificate_authority"] not in shown["after"]


@pytest.mark.parametrize("encoding", ["plain", "base64", "gzip_base64", "gzip"])
def test_no_difference_shows_a_secret_of_this_run_or_an_earlier_one(encoding: str) -> None:
    (secret,), (plain,) = (render_groups(COMPLETE, [group], encoding) for group in (SECRET, PLAIN))
    for new, old in ((secret, plain.content), (plain, secret.content), (secret, None)):
        shown = diff(new, "out/demo/web.userdata", old)
        assert PASSWORD not in str(shown)
        assert "not shown" in shown["after"]


def test_content_is_what_the_encoding_says() -> None:
    (plain,) = render_groups(COMPLETE, [PLAIN])
    (packed,) = render_groups(COMPLETE, [PLAIN], "gzip_base64")
    (raw,) = render_groups(COMPLETE, [PLAIN], "gzip")
    assert gzip.decompress(base64.b64decode(packed.content)) == plain.content == gzip.decompress(raw.content)
    assert [output.file_name for output in (plain, packed, raw)] == ["demo/web.userdata"] * 3


def sources(*names: tuple[str, str]) -> list[Source]:
    return [Source({**COMPLETE, "name": cluster}, [{"name": group, "family": "al2023"}]) for cluster, group in names]


@pytest.mark.parametrize(
    ("names", "rule"),
    [
        ((("a", "web"), ("a", "web")), "output.duplicate_group"),
        ((("a", "web"), ("a", "Web")), "output.same_file"),
        ((("a", "web"), ("A", "web")), "output.same_file"),
        ((("a-b", "c"), ("a", "b-c"), ("a", "c")), None),
    ],
)
def test_two_groups_never_write_one_file(names: tuple[tuple[str, str], ...], rule: str | None) -> None:
    assert problems_of(render_sources, sources(*names)) == ([(rule, "node_groups")] if rule else [])


def test_the_name_of_a_file_does_not_depend_on_the_content() -> None:
    contents: list[dict[str, Any]] = [{}, {"commands": {"pre": ["true"]}}, {"user_data": "#cloud-config\n{}\n"}, {"mode": "managed"}]
    for family in ("al2", "al2023", "bottlerocket", "windows"):
        groups = [{"name": "web", "family": family, **content} for content in contents]
        places = {
            one.place for group in groups if not problems_of(render_groups, COMPLETE, [group]) for one in render_groups(COMPLETE, [group])
        }
        assert places == {"demo/web.userdata"}
    (nameless,) = render_groups({}, [PLAIN | {"mode": "managed", "commands": {"pre": ["true"]}}])
    assert nameless.file_name == "web.userdata"


def test_problems_name_the_group_and_skipped_checks_are_listed_once() -> None:
    groups = [PLAIN, PLAIN | {"name": "b", "max_pods": 0}]
    with pytest.raises(SpecError) as caught:
        render_groups(COMPLETE, groups)
    assert [(problem.path, problem.group) for problem in caught.value.problems] == [("node_groups[1].max_pods", "b")]
    outputs = render_groups(COMPLETE | {"kubernetes_version": None}, [PLAIN, PLAIN | {"name": "b"}])
    assert found(unchecked(outputs)) == [("cluster.version_unknown", "cluster.kubernetes_version")]


def test_a_version_that_is_not_known_yet_is_printed_once() -> None:
    outputs = render_groups(COMPLETE | {"kubernetes_version": "1.99"}, [PLAIN, PLAIN | {"name": "b"}])
    (note,) = [line for line in table(outputs) if "cluster.kubernetes_version" in line]
    spec = outputs[0].rendered.spec
    assert report.warnings(spec.warnings, spec.unchecked) == [note]


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/b", "..", ".", "a\\b", "-x", "a\nb", "x" * 64, ""])
def test_no_name_leaves_the_folder(name: str) -> None:
    for cluster, group in ((COMPLETE, PLAIN | {"name": name}), ({**COMPLETE, "name": name + "x" * 40}, PLAIN)):
        try:
            outputs = render_groups(cluster, [group])
        except SpecError:
            continue
        assert all(re.fullmatch(r"\w[\w-]*/\w[\w-]*\.userdata", output.place) for output in outputs)

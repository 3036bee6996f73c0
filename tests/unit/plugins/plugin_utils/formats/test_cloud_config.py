# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""cloud-config: reading, writing, and the keys that a later document takes away from an earlier one."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problems
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import cloud_config

TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.dictionaries(TEXT, st.one_of(TEXT, st.integers(-(2**63), 2**63 - 1), st.lists(st.one_of(TEXT, st.lists(TEXT))))))
def test_cloud_init_reads_what_is_written(document):
    text = cloud_config.dump(document)
    assert text.startswith("#cloud-config\n")
    assert yaml.safe_load(text) == document
    problems = Problems()
    assert cloud_config.load(text, "user_data", problems) == document
    assert list(problems) == []


def test_a_file_and_a_command():
    document = {"write_files": [{"path": "/etc/a", "permissions": "0644", "content": "x\ny\n"}], "runcmd": [["echo", "a b"]]}
    assert cloud_config.dump(document) == (
        "#cloud-config\nruncmd:\n- - echo\n  - 'a b'\nwrite_files:\n- content: |\n    x\n    y\n  path: /etc/a\n  permissions: '0644'\n"
    )


@pytest.mark.parametrize("text", ["#cloud-config\n", "#cloud-config\n# nothing\n"])
def test_an_empty_document_is_empty(text):
    problems = Problems()
    assert cloud_config.load(text, "user_data", problems) == {}
    assert list(problems) == []


@pytest.mark.parametrize("text", ["#cloud-config\n- a\n", "#cloud-config\nword\n", "#cloud-config\na: [\n", "#cloud-config\na: 1\na: 2\n"])
def test_what_is_no_mapping_is_a_problem(text):
    problems = Problems()
    assert cloud_config.load(text, "user_data", problems) == {}
    assert str(next(iter(problems))).startswith("user_data: is not cloud-config")


@given(st.text(st.characters()))
def test_reading_never_raises(text):
    assert isinstance(cloud_config.load(text, "user_data", Problems()), dict)


@pytest.mark.parametrize(
    ("documents", "messages"),
    [
        ([{"runcmd": ["a"]}, {"runcmd": ["b"]}], ["b.runcmd: replaces the runcmd of a"]),
        ([{"runcmd": ["a"]}, {"write_files": []}], []),
        ([{"runcmd": ["a"]}, {"runcmd": ["a"]}], []),
        ([{"runcmd": ["a"]}, {"runcmd": ["b"], "merge_how": "list(append)"}], []),
        ([{"runcmd": ["a"], "merge_how": "list(append)"}, {"runcmd": ["b"]}], ["b.runcmd"]),
        ([{"ntp": {"a": 1}}, {"ntp": {"b": 1}}, {"ntp": {"c": 1}}], ["b.ntp", "c.ntp: replaces the ntp of b"]),
        ([{"packages": ["a"], "runcmd": ["a"]}, {"packages": ["b"], "runcmd": ["b"]}], ["b.packages", "b.runcmd"]),
    ],
)
def test_a_second_document_takes_keys_away(documents, messages):
    problems = Problems()
    cloud_config.conflicts(list(zip("abc", documents, strict=False)), problems)
    found = [str(problem) for problem in problems]
    assert len(found) == len(messages)
    for message, line in zip(messages, found, strict=True):
        assert line.startswith(message)

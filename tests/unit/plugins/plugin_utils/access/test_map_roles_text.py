# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits of the text of mapRoles: what others wrote stays, byte for byte."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.access.map_roles import map_role
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.access.map_roles_text import CannotEdit, edit, read
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats.yaml import YamlError

OURS = map_role("arn:aws:iam::111122223333:role/ours")
OTHER = {"rolearn": "arn:aws:iam::111122223333:role/other", "username": "other", "groups": ["a"]}

TEXTS = {
    "nothing": "",
    "only comments": "# mapped by hand\n\n",
    "document marker": "---\n- rolearn: x\n",
    "no line break at the end": "- rolearn: x\n  groups:\n  - q",
    "comments everywhere": "# head\n- rolearn: x # own\n  # inside\n  groups: [a,\n   b] # y\n# after\n\n",
    "indented": "  - rolearn: x\n    groups:\n      - q\n",
    "Windows line ends": "- rolearn: x\r\n  groups:\r\n  - q\r\n",
    "eksctl": "- groups:\n  - system:bootstrappers\n  - system:nodes\n  rolearn: x\n  username: system:node:{{EC2PrivateDNSName}}\n",
    "JSON": '[{"rolearn": "x", "groups": ["a"]}]\n',
    "JSON on several lines": '[\n  {"rolearn": "x"},\n  {"rolearn": "y"}\n]\n',
    "comma at the end": '[{"rolearn": "x"}, ]',
    "empty brackets": "[] # none\n",
    "quotes": "- \"rolearn\": 'x'\n  'groups': [\"a\", 'b']\n",
    "block text": "- rolearn: |\n    x\n\n# c\n",
    "block text that keeps its blank lines": "- rolearn: |+\n    x\n\n",
    "flow in block": "- {rolearn: x, groups: [a]}\n- {rolearn: y}\n",
    "anchors": "- &a {rolearn: x}\n- *a\n",
    "tags": "- !!map\n  rolearn: !!str x\n",
    "nested dashes": "- rolearn: x\n  groups:\n  - a\n  - b\n-   rolearn: y\n    groups: []\n",
    "end of document": "- rolearn: x\n...\n",
    "keys without values": "- rolearn:\n  groups:\n- rolearn: y\n",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_an_item_is_added_and_removed(text: str) -> None:
    before = read(text).items
    with_ours = edit(text, added=[OURS])
    assert read(with_ours).items == (*before, OURS)
    assert yaml.safe_load(with_ours)[-1] == OURS
    assert edit(with_ours, removed=[len(before)]) == text
    at = next(index for index in range(len(text) + 1) if index == len(text) or with_ours[index] != text[index])
    assert with_ours.endswith(text[at:]), "the bytes before and after the new item are the old ones"


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_an_item_is_replaced(text: str) -> None:
    with_two = edit(text, added=[OURS, OTHER])
    ours = len(read(text).items)
    replaced = edit(with_two, replaced={ours: {**OURS, "groups": ["new"]}})
    assert read(replaced).items == (*read(text).items, {**OURS, "groups": ["new"]}, OTHER)
    assert edit(replaced, replaced={ours: OURS}) == with_two
    assert edit(with_two, removed=[ours]) == edit(text, added=[OTHER])


def test_comments_in_an_item_stay() -> None:
    text = "- rolearn: x # ticket 1\n  # do not touch\n  groups: [] # ticket 2\n- rolearn: z\n"
    assert edit(text, removed=[0]) == "# ticket 1\n# do not touch\n# ticket 2\n- rolearn: z\n"
    after = edit(text, replaced={0: OURS})
    for comment in ("# ticket 1", "# do not touch", "# ticket 2"):
        assert after.count(comment) == 1
    assert read(after).items == (OURS, {"rolearn": "z"})


def test_an_empty_value_becomes_a_list() -> None:
    assert read(edit("null # nothing yet\n", added=[OURS])).items == (OURS,)
    assert edit("~ # nothing yet\n", added=[OURS]).endswith(" # nothing yet\n")


def test_an_item_that_others_need_is_not_removed() -> None:
    with pytest.raises(CannotEdit):
        edit("- &a {rolearn: x}\n- *a\n", removed=[0])


BROKEN = {
    "a mapping": "rolearn: x\n",
    "text": "arn:aws:iam::111122223333:role/x",
    "indentation": "- rolearn: x\n   groups: []\n",
    "open bracket": "[{rolearn: x}",
    "tab": "- rolearn: x\n\tgroups: []\n",
    "two documents": "- a\n---\n- b\n",
    "control character": "- \x01\n",
    "byte order mark": "\ufeff- rolearn: x\n",
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_broken_text_is_not_edited(text: str) -> None:
    with pytest.raises(YamlError):
        edit(text, added=[OURS])


# --- properties ---------------------------------------------------------------------------------------------------------------------

WORDS = st.text("abcxyz0123 :#-'\"{}[],&*!|>%@é", max_size=12)
COMMENTS = st.lists(st.sampled_from(["", "# a", "  # b: [", "#- c", "   "]), max_size=2)


@st.composite
def items(draw: st.DrawFn, indent: str, newline: str) -> str:
    """An item in block style, written by people and programs of different taste, with comments around it."""
    value = {"rolearn": f"arn:aws:iam::111122223333:role/{draw(st.text('abc', min_size=1, max_size=3))}", "username": draw(WORDS)}
    groups = draw(st.lists(WORDS, max_size=3))
    style = draw(st.sampled_from(["pyyaml", "flow", "json", "quoted", "literal"]))
    if style == "pyyaml":
        body = yaml.safe_dump({**value, "groups": groups}, sort_keys=draw(st.booleans()), allow_unicode=True, width=1000)
    elif style == "flow":
        body = yaml.safe_dump({**value, "groups": groups}, default_flow_style=True, allow_unicode=True, width=1000)
    elif style == "json":
        body = json.dumps({**value, "groups": groups}) + "\n"
    elif style == "quoted":
        body = "".join(f"{json.dumps(key)}: {json.dumps(one)}{draw(st.sampled_from(['', ' # own']))}\n" for key, one in value.items())
    else:
        body = f"rolearn: {value['rolearn']}\nusername: |\n  {value['username']}x\ngroups:\n" + "".join(
            f"  - {json.dumps(one)}\n" for one in groups
        )
    gap = draw(st.sampled_from([" ", "   "]))
    first, *rest = body.rstrip("\n").split("\n")
    lines = [f"{indent}-{gap}{first}", *(f"{indent} {' ' * len(gap)}{line}" for line in rest), *draw(COMMENTS)]
    return "".join(line + newline for line in lines)


@st.composite
def texts(draw: st.DrawFn) -> str:
    newline = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    if draw(st.integers(0, 5)) == 0:
        values = draw(st.lists(st.fixed_dictionaries({"rolearn": WORDS, "groups": st.lists(WORDS, max_size=2)}), max_size=3))
        return json.dumps(values, indent=draw(st.sampled_from([None, 2])))
    indent = draw(st.sampled_from(["", "  "]))
    head = "".join(line + newline for line in draw(COMMENTS)) + draw(st.sampled_from(["", f"---{newline}"]))
    text = head + "".join(draw(st.lists(items(indent, newline), max_size=4)))
    return text.removesuffix(newline) if draw(st.booleans()) else text


@given(texts())
def test_what_others_wrote_stays(text: str) -> None:
    try:
        before = read(text)
    except YamlError:
        return
    after = edit(text, added=[OURS, OTHER])
    assert read(after).items == (*before.items, OURS, OTHER)
    number = len(before.items)
    assert edit(edit(after, removed=[number + 1]), removed=[number]) == text
    assert edit(after, removed=[number, number + 1]) == text
    assert edit(after, replaced={number: OURS}) == after


@given(texts(), st.integers(0, 3), st.booleans())
def test_only_the_lines_of_an_item_change(text: str, number: int, is_removed: bool) -> None:
    try:
        before = read(text)
    except YamlError:
        return
    if number >= len(before.items):
        return
    span = before.spans[number]
    try:
        after = edit(text, removed=[number]) if is_removed else edit(text, replaced={number: OURS})
    except CannotEdit:
        return
    others: list[Any] = list(before.items)
    others[number : number + 1] = [] if is_removed else [OURS]
    assert list(read(after).items) == others
    head, tail = text[: span.start], text[span.end :]
    if before.is_flow:
        assert after.startswith(head.rstrip(", \n"))
        assert after.endswith(tail.lstrip(", \n"))
    else:
        assert after.startswith(head.rstrip("\r\n"))
        assert after.endswith(tail)

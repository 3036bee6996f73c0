# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares two versions of user data by what they mean, whatever their encoding, order, tool and spelling."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..readers.model import UserData
from ..readers.user_data import read
from . import scripts
from .fact import Fact, path_of
from .facts import CIDR, DNS, Facts, facts
from .shown import shown

_SCRIPT_FAMILIES = ("al2", "ubuntu")


@dataclass(frozen=True)
class Difference:
    """A difference. path: in the input. before, after: plain data without secrets, None if the text does not state the value."""

    path: str
    before: Any
    after: Any

    def plain(self) -> dict[str, Any]:
        """The difference as plain data."""
        return {"path": self.path, "before": self.before, "after": self.after}


def differences(old: str | bytes, new: str | bytes, family: str | None = None) -> list[Difference]:
    """The differences, sorted by path. Empty if both mean the same.

    family: C(al2) or C(ubuntu), for calls of C(/etc/eks/bootstrap.sh). It accepts everything and raises nothing.
    """
    one, other = _read(old, new, family)
    pairs = _pairs(one, other)
    found = [_difference(path, before, after) for path, before, after in pairs]
    return sorted(found, key=lambda item: (item.path, str(item.before), str(item.after)))


def _read(old: str | bytes, new: str | bytes, family: str | None) -> tuple[UserData, UserData]:
    """Both texts. A call that does not tell its family is of the family of the other."""
    one, other = read(old, family), read(new, family)
    if one.family is None and other.family in _SCRIPT_FAMILIES:
        one = read(old, other.family)
    elif other.family is None and one.family in _SCRIPT_FAMILIES:
        other = read(new, one.family)
    return one, other


def _pairs(one: UserData, other: UserData) -> Iterator[tuple[str, Fact | None, Fact | None]]:
    before, after = facts(one), facts(other)
    texts_before, texts_after = scripts.sequences(one, before), scripts.sequences(other, after)
    if one.family == other.family and one.family in (None, *_SCRIPT_FAMILIES):
        _drop_cidr(before, after)
    for key in before.keys() | after.keys():
        yield from _pair(before.get(key), after.get(key), path_of(key))
    for name in texts_before.keys() | texts_after.keys():
        yield from _in_order(texts_before.get(name, []), texts_after.get(name, []))


def _drop_cidr(before: Facts, after: Facts) -> None:
    """Forget the service CIDR of one side: the script of the image only computes the name server with it, which the other side states."""
    for one, other in ((before, after), (after, before)):
        if CIDR in one and CIDR not in other and DNS in one and DNS in other and one[DNS].meaning == other[DNS].meaning:
            # The script replaces the last number of the CIDR.
            if one[DNS].value == [f"{one[CIDR].value.rpartition('.')[0]}.10"]:
                del one[CIDR]
            return


def _pair(before: Fact | None, after: Fact | None, path: str) -> Iterator[tuple[str, Fact | None, Fact | None]]:
    present = [fact for fact in (before, after) if fact is not None]
    if all(fact.is_computed for fact in present) or (len(present) == 1 and present[0].is_of_both):
        return
    if before is None or after is None or before.meaning != after.meaning:
        paths = {fact.path for fact in present}
        yield paths.pop() if len(paths) == 1 else path, before, after


def _in_order(before: list[Fact], after: list[Fact]) -> Iterator[tuple[str, Fact | None, Fact | None]]:
    """The items between the first ones and the last ones that are the same."""
    shorter = min(len(before), len(after))
    start = next((at for at in range(shorter) if before[at].meaning != after[at].meaning), shorter)
    rest = shorter - start
    end = next((at for at in range(rest) if before[-1 - at].meaning != after[-1 - at].meaning), rest)
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    for at in range(max(len(old), len(new))):
        one, other = old[at] if at < len(old) else None, new[at] if at < len(new) else None
        yield min(fact.path for fact in (one, other) if fact is not None), one, other


def _difference(path: str, before: Fact | None, after: Fact | None) -> Difference:
    name = path.rpartition(".")[2]
    return Difference(path, *(None if fact is None else shown(fact.value, name) for fact in (before, after)))

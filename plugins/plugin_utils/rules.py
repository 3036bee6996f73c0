# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The catalogue of rules: one stable id for each kind of problem that the collection reports.

The rows are in C(_data/rules.json). Problems of an input, warnings, and causes of a failed join use the same catalogue;
C(docs/rules.md) is generated from it. This module is read only when there is a problem to report.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

_FILE = Path(__file__).parent / "_data" / "rules.json"

SEVERITIES = ("error", "warning", "note")
"""error: the input is rejected, or the node does not join. warning: it works, but probably not as intended. note: for information."""


@dataclass(frozen=True)
class Rule:
    """One rule.

    id: C(area.what), for example C(kubelet.unknown_flag). It never changes.
    title: what is wrong, in one sentence.
    why: what would happen on the node, or why the collection cannot accept it.
    fix: what to do, in general; a problem may have a fix of its own.
    severity: one of C(SEVERITIES).
    source: where the fact comes from.
    since, until: the first and the last minor version of Kubernetes to which the rule applies; None for no limit.
    fixable: what C(fix) of the module C(lint) changes in the text; C('') if it changes nothing.
    """

    id: str
    title: str
    why: str
    fix: str
    severity: str
    source: str
    since: int | None = None
    until: int | None = None
    fixable: str = ""

    @property
    def advice(self) -> str:
        """The fix as a part of a message: without a capital letter and a period."""
        return self.fix[:1].lower() + self.fix[1:].rstrip(".")


@cache
def catalogue() -> Mapping[str, Rule]:
    """Every rule by its id, sorted by id."""
    table = json.loads(_FILE.read_bytes())
    areas = table["areas"]
    found = {}
    for rule_id, row in table["rules"].items():
        defaults = {"severity": "error", "source": areas[rule_id.partition(".")[0]]["source"]}
        found[rule_id] = Rule(**{"id": rule_id, **defaults, **row})
    return MappingProxyType(found)


def areas() -> Mapping[str, str]:
    """The title of every area by its name, sorted by name."""
    return {name: row["title"] for name, row in json.loads(_FILE.read_bytes())["areas"].items()}

#!/usr/bin/env python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Generates docs/rules.md from the catalogue of rules. `make golden` runs it, and a test checks that the page is up to date."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.rules import Rule

TOP = Path(__file__).resolve().parents[1]
PAGE = TOP / "docs/rules.md"

_HEAD = """<!--
Copyright (c) 2026, nodebootstrap.eks contributors
GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
SPDX-License-Identifier: GPL-3.0-or-later
-->
<!-- Generated from plugins/plugin_utils/_data/rules.json by make golden. -->

# Rules and their fixes

Every problem that the collection reports has a rule. The ID of a rule never changes, while the wording of its message may.

- A failed `render`, `apply`, `apply_windows` or `bottlerocket_settings` returns `problems`, a list with `rule`, `path` and `message`,
  and if known `allowed`, `nearest`, `fix` and `group`. Values are not part of it, because they may be secret.
- With `ansible-playbook -v`, messages end with the ID, for example `[kubelet.unknown_flag]`.
- The `cause` of a failed join is a rule of the area `join` without the prefix: `unknown_flag` is `join.unknown_flag`.

Severities: an **error** is rejected before anything is written, or keeps the node from joining. A **warning** works, but probably
not as intended. A **note** is for information. Where no severity is given, the rule is an error.

`eks_node_lint_fix=true` of the [playbook `lint`](existing-user-data.md#corrections) corrects the problems with *Corrected by `fix`*.
"""


def page() -> str:
    """The page as Markdown: one section for each area, one row for each rule."""
    from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import rules

    parts = [_HEAD]
    for area, title in rules.areas().items():
        found = [rule for rule in rules.catalogue().values() if rule.id.startswith(f"{area}.")]
        sources = "; ".join(dict.fromkeys(rule.source for rule in found))
        rows = [f"| `{rule.id}` | {_title(rule)} | {_cell(rule.why)} | {_fix(rule)} |" for rule in found]
        parts.append(
            f"\n## {title}\n\nSource: {sources}.\n\n| Rule | Problem | Why | Fix |\n| --- | --- | --- | --- |\n" + "\n".join(rows) + "\n"
        )
    return "".join(parts)


def _title(rule: Rule) -> str:
    return _cell(rule.title) if rule.severity == "error" else f"({rule.severity}) {_cell(rule.title)}"


def _fix(rule: Rule) -> str:
    return f"{_cell(rule.fix)} *Corrected by `fix`:* {_cell(rule.fixable)}" if rule.fixable else _cell(rule.fix)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def main() -> None:
    sys.path.insert(0, str(TOP / ".cache"))
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()

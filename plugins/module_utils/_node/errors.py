# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The error of everything that refuses to change a node. Standard library, Python 3.7 and newer."""

from __future__ import annotations

from typing import Sequence


class ApplyRefused(Exception):
    """A change that is not allowed or not possible.

    C(cause): what is wrong, and where. C(fix): what to do. C(evidence): lines that show the cause, each with its source. The text of the
    exception is the whole message.
    """

    def __init__(self, cause: str, fix: str = "", evidence: Sequence[str] = ()) -> None:
        lines = [cause]
        lines += [f"Fix: {fix}"] if fix else []
        lines += ["Evidence:", *(f"  - {line}" for line in evidence)] if evidence else []
        super().__init__("\n".join(lines))
        self.cause = cause
        self.fix = fix
        self.evidence = tuple(evidence)

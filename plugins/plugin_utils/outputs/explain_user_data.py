# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What user data makes of a node, as plain data."""

from __future__ import annotations

from typing import Any

from ..errors import Problems
from ..explanation.explain import explain
from ..explanation.outcome import OLDEST_MINOR, Machine
from ..model.schema import type_name
from ..versions import known_minors
from .lint_user_data import instance_type_shape, options


def explain_user_data(user_data: Any, instance_type: Any = None, kubernetes_version: Any = None, family: Any = None) -> dict[str, Any]:
    """C({timeline, files, kubelet, unknown}). Raises C(SpecError) for wrong arguments.

    family: for user data that does not tell it.
    """
    problems = Problems()
    if not isinstance(user_data, (str, bytes)):
        problems.add("input.wrong_type", "user_data", f"must be text, not {type_name(user_data)}", fix="pass the content of the user data")
    name, version = options(family, kubernetes_version, problems)
    shape = None if instance_type is None else instance_type_shape(instance_type, problems)
    if version is not None:
        _check_version(version, kubernetes_version, problems)
    problems.raise_any()
    return explain(user_data, name, Machine(shape, version)).plain()


def _check_version(version: tuple[int, int], value: Any, problems: Problems) -> None:
    """kubelet of other versions has other defaults."""
    oldest, newest = OLDEST_MINOR, known_minors()[1]
    if version[0] != 1 or not oldest <= version[1] <= newest:
        nearest = f"1.{min(max(version[1], oldest), newest)}" if version[0] == 1 else f"1.{newest}"
        message = "is not a version whose kubelet the collection can explain"
        problems.add(
            "cluster.version_not_known", "kubernetes_version", message, value=value, allowed=f"1.{oldest} to 1.{newest}", nearest=nearest
        )

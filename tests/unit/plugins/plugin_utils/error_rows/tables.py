# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The messages of tables in other tests, which assert only rules and paths."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.bottlerocket_settings import bottlerocket_problems
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problems
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.kubelet_fields import kubelet_config_problems
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.kubelet_flags import kubelet_flag_problems
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.nodeconfig.schema import spec_problems
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils import test_bottlerocket_settings, test_kubelet_fields_and_flags
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.error_rows.row import Row
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.nodeconfig import test_schema


def _row(table: str, number: int, expected: str, check: Callable[..., None], *args: Any) -> Row:
    def call() -> None:
        problems = Problems()
        check(*args, problems)
        problems.raise_any()

    return Row(f"{table} {number}: {expected.split(chr(10))[0]}", call)


def _config(config: Any, version: tuple[int, int] | None, problems: Problems) -> None:
    kubelet_config_problems(config, version, "config", problems)


def _flags(flags: Any, version: tuple[int, int] | None, problems: Problems) -> None:
    kubelet_flag_problems(flags, version, "flags", problems)


_NESTED = test_bottlerocket_settings.nested
ROWS = (
    *(_row("NodeConfig", n, expected, spec_problems, spec, "spec") for n, (spec, expected) in enumerate(test_schema.MISTAKES)),
    *(
        _row("kubelet configuration", n, expected, _config, config, version)
        for n, (config, version, expected) in enumerate(test_kubelet_fields_and_flags.CONFIGS)
    ),
    *(
        _row("kubelet flags", n, expected, _flags, flags, version)
        for n, (flags, version, expected) in enumerate(test_kubelet_fields_and_flags.FLAGS)
    ),
    *(
        _row("Bottlerocket", n, expected, bottlerocket_problems, _NESTED(path, value), "settings")
        for n, (path, value, expected) in enumerate(test_bottlerocket_settings.BAD)
    ),
)

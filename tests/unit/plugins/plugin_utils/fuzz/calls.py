# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Calls every function that takes user data, with a limit of processor time.

Processor time, not wall time: it does not depend on what else the machine does.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.lint.fix import fix
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.diff_user_data import diff_user_data
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.explain_user_data import explain_user_data
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.findings.json_report import json_report
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.findings.sarif import sarif
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.findings.sources import sources_of
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.findings.text import text as text_report
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.lint_user_data import lint_user_data
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.migrate_user_data import migrate_user_data
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.read_user_data import read_user_data

SECONDS = 3.0
"""Processor time of one function for a small input. Most inputs take a few milliseconds."""
SECONDS_PER_BYTE = 100e-6
"""More for each byte: 13 seconds for 128 KiB, of which a reader needs less than three. Work that grows with the square takes longer."""

CLUSTER = {"name": "shop", "service_cidr": "10.100.0.0/16", "kubernetes_version": "1.33"}
OTHER = "#!/bin/bash\n/etc/eks/bootstrap.sh shop --kubelet-extra-args '--node-labels=a=b'\n"


class TookTooLong(BaseException):
    """A function used more processor time than it may. Not an Exception, so that nothing catches it."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise C(TookTooLong) after this processor time."""

    def stop(_number: int, _frame: object) -> None:
        raise TookTooLong(f"{seconds:.1f} seconds")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _lint(data: str | bytes) -> Any:
    """As the playbook lints a file, with its reports, or as the filter lints text."""
    if isinstance(data, str):
        return lint_user_data(data)
    sources = sources_of("user-data", data, None, None)
    text_report(sources)
    json.loads(sarif(sources))
    return json.loads(json_report(sources))


def _fix(data: str | bytes) -> Any:
    content = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    return [finding.plain() for finding in fix(content).corrected]


def _diff(data: str | bytes) -> Any:
    assert diff_user_data(data, data) == []
    return diff_user_data(data, OTHER)


READERS: dict[str, Callable[[str | bytes], Any]] = {"read_user_data": read_user_data, "lint_user_data": _lint}
OTHERS: dict[str, Callable[[str | bytes], Any]] = {
    "diff_user_data": _diff,
    "explain_user_data": lambda data: explain_user_data(data, "m5.large", "1.33"),
    "migrate_user_data to al2023": migrate_user_data,
    "migrate_user_data to bottlerocket": lambda data: migrate_user_data(data, dict(CLUSTER), "bottlerocket"),
    "fix": _fix,
}


def run(data: str | bytes, functions: Mapping[str, Callable[[str | bytes], Any]], factor: float = 1) -> None:
    """Call the functions. Each returns data that JSON can hold, or raises C(SpecError) with problems, in time.

    factor: of the time, while memory is measured.
    """
    seconds = factor * (SECONDS + SECONDS_PER_BYTE * len(data))
    for name, function in functions.items():
        try:
            with limited(seconds):
                json.dumps(function(data), default=str)
        except SpecError as error:
            assert error.problems
        except (Exception, TookTooLong) as error:
            start = repr(data[:2_000])
            raise AssertionError(f"{name}: {type(error).__name__}: {error}; {len(data):,} bytes or characters: {start}") from error

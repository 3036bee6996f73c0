# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""render warns about certificates that expire, with the date that it is given, and writes nothing of it to a file."""

from __future__ import annotations

import base64
import builtins
import calendar
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs import certificate_dates, render_task
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.certificates import EXPIRED, NOT_YET, SERVER, VALID
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE, PEM

GROUP = {"name": "a", "family": "al2023"}


def at(year: int, month: int = 6, day: int = 1) -> float:
    return float(calendar.timegm((year, month, day, 0, 0, 0)))


def render(folder: Path, now: float, *groups: dict[str, Any], **cluster: Any) -> list[str]:
    """The warnings of one task."""
    options = {name: row.get("default") for name, row in render_task.OPTIONS.items()}
    options |= {"cluster": COMPLETE | cluster, "node_groups": list(groups), "output_dir": str(folder)}
    result, refusal = render_task.render_task(options, dict, limit=None, check_mode=False, diff=False, now=now)
    assert refusal is None
    found: list[str] = result.get("warnings", [])
    return found


@pytest.mark.parametrize(
    ("trust", "now", "facts"),
    [
        (VALID, at(2026), []),
        (VALID, at(2119, 12, 1), []),
        (VALID, at(2119, 12, 3), [("corporate root", "2120-01-01")]),
        (VALID, at(2121), [("corporate root", "2120-01-01")]),
        (EXPIRED, at(2026), [("expired root", "2021-01-01")]),
        (NOT_YET, at(2026), [("future root", "2119-01-01")]),
        (SERVER, at(2026), [("a server", "2021-01-01")]),
        ([EXPIRED, VALID, NOT_YET], at(2026), [("expired root",), ("future root",)]),
        (PEM, at(2026), []),
    ],
)
def test_trust(trust: Any, now: float, facts: list[tuple[str, ...]], tmp_path: Path) -> None:
    found = render(tmp_path, now, GROUP | {"trust": trust})
    assert len(found) == len(facts) and all(mentions(text, "node_group.trust", *row) for text, row in zip(found, facts, strict=True))


def test_other_certificates(tmp_path: Path) -> None:
    mirrors = {"docker.io": ["https://m", {"url": "https://n", "ca": [EXPIRED, "/etc/own.pem"]}]}
    found = render(tmp_path, at(2026), GROUP | {"containerd": {"registry_mirrors": mirrors}})
    assert len(found) == 1 and mentions(found[0], '["docker.io"][1].ca')
    found = render(tmp_path, at(2026), GROUP, certificate_authority=base64.b64encode(EXPIRED.encode()).decode())
    assert len(found) == 1 and mentions(found[0], "cluster.certificate_authority")


def test_each_certificate_is_reported_once_and_files_do_not_depend_on_the_date(tmp_path: Path) -> None:
    groups = [GROUP | {"trust": VALID}, GROUP | {"name": "b", "trust": VALID}]
    early, late = tmp_path / "early", tmp_path / "late"
    assert [len(render(early, at(2026), *groups)), len(render(late, at(2121), *groups))] == [0, 1]
    files = [{path.relative_to(top): path.read_bytes() for path in top.rglob("*") if path.is_file()} for top in (early, late)]
    assert files[0] == files[1] and len(files[0]) == 3


def test_without_cryptography_nothing_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    real = builtins.__import__

    def missing(name: str, *rest: Any) -> Any:
        if name.startswith("cryptography"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    assert render(tmp_path, at(2026), GROUP | {"trust": EXPIRED}) == []
    assert certificate_dates.warnings([], at(2026)) == []

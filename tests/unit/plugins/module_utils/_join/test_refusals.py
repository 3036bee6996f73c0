# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What kubelet says about every configuration that it refuses (recorded_refusals.json): the cause, and the cure by the rules.

tests/oracle/test_kubelet_rules.py has the program that answers; tools/record_refusals.py records the answers.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._join import diagnosis, settings
from ansible_collections.nodebootstrap.eks.plugins.module_utils._join.model import Settings, SettingsFile
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.artifacts.kubelet_layers import image_config
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.live import join
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils import join_evidence as build
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.kubelet_rows import ROWS, Row

RECORDED: list[dict[str, str]] = json.loads((Path(__file__).parent / "recorded_refusals.json").read_text(encoding="utf-8"))
ERRORS = {one["id"]: one for one in RECORDED}

#: Stages of the recording whose errors the wrapper of kubelet's validation surrounds; a kubelet panics in `drop-in`.
VALIDATED = ("validation", "TLS")
#: What the image computes on an m5.large.
COMPUTED = {"cpu": "70m", "ephemeral-storage": "1Gi", "memory": "574Mi"}
DROP_IN = "/etc/kubernetes/kubelet/config.json.d/40-nodeadm.conf"
MAIN = "/etc/kubernetes/kubelet/config.json"


def line(row: Row) -> str:
    """The last line of the log of a kubelet with this configuration."""
    error = ERRORS[row.id]["error"].replace('"', '\\"')
    if error.startswith("panic: "):
        return error
    wrapper = "failed to validate kubelet configuration, error: {}, path: &TypeMeta{{Kind:,APIVersion:,}}"
    text = wrapper.format(error) if ERRORS[row.id]["stage"] in VALIDATED else f"failed to run Kubelet: {error}"
    return f'E1121 22:49:26.5 294 run.go:72] "command failed" err="{text}"'


def settings_of(row: Row, config: Any) -> Settings:
    base = {**image_config(row.family.partition("-")[0], row.minor), "kubeReserved": COMPUTED}
    files = (SettingsFile(MAIN, (), tuple(base), "nodeadm", base), SettingsFile(DROP_IN, (), tuple(config), "nodeadm", dict(config)))
    return Settings(files, (), {}, f"1.{row.minor}.0", 2)


RECORDED_ROWS = [row for row in ROWS if row.id in ERRORS]


def test_the_recording_is_complete() -> None:
    """Rows of other minors, and rows that kubelet refuses only while it runs, are not in it."""
    assert len({row.id for row in RECORDED_ROWS}) == len(ERRORS) > 80


@pytest.mark.parametrize("row", RECORDED_ROWS, ids=lambda row: row.id)
def test_the_cause_and_the_cure_of_a_refused_configuration(row: Row) -> None:
    refused = settings_of(row, row.refused)
    finding = diagnosis.diagnose(build.with_start(build.ended((line(row),)), settings=refused))
    assert finding is not None
    causes = ("invalid_config", "unknown_feature_gate")
    assert finding.cause in causes and finding.final, finding
    told = {
        "message": finding.message,
        "fix": finding.fix,
        "cause": finding.cause,
        "kubelet_settings": settings.rejected(refused, build.KUBELET).plain(),
    }
    explained = join.with_rules(told)
    assert row.rule in {problem["rule"] for problem in explained["problems"]}
    field = row.path.partition(".")[0].partition("[")[0]
    assert field in explained["fix"]
    assert "spec.kubelet.config of the NodeConfig" in explained["fix"] and "40-nodeadm.conf" in explained["fix"]


@pytest.mark.parametrize("row", RECORDED_ROWS, ids=lambda row: row.id)
def test_the_neighbour_that_kubelet_takes_has_no_problem(row: Row) -> None:
    accepted = settings.rejected(settings_of(row, row.accepted), build.KUBELET).plain()
    assert [problem for problem in join.find_problems(accepted) if problem.rule == row.rule] == []

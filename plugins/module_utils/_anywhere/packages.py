# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The packages of a cluster: releases of helm, compared with what is wanted, and installed if they differ."""

from __future__ import annotations

import json
import os
import re
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from . import work_folder
from .programs import AdminPrograms, StepFailed, failure

_DEPLOYED = "deployed"
_REGISTRY = "oci://"
_FIELD = re.compile(r"^(name|version):[ \t]*[\"']?([^\"'\s#]+)", re.MULTILINE)


class _Release(NamedTuple):
    """A release as helm knows it. chart: C(NAME-VERSION). values: what the user gave."""

    status: str
    chart: str
    values: Dict[str, Any]


class _Helm:
    """helm for one release."""

    def __init__(self, programs: AdminPrograms, options: Mapping[str, Any]) -> None:
        self.programs = programs
        self.name = options["name"]
        self.chart = os.path.expanduser(options["chart"])
        self.version: Optional[str] = options.get("version")
        self._where = ["--namespace", options["namespace"], "--kubeconfig", options["kubeconfig"]]

    def run(self, *words: str, timeout: float = 60.0) -> str:
        return self.programs.run(["helm", *words, *self._where], timeout)

    def read(self) -> Optional[_Release]:
        """The release, None if there is none. Raises C(StepFailed) if it cannot be read."""
        argv = ["helm", "status", self.name, "-o", "json", *self._where]
        result = self.programs.try_run(argv)
        if result.status:
            if "not found" in result.errors:
                return None
            raise StepFailed(failure(argv, result))
        found = _json(result.output)
        status = str((found.get("info") or {}).get("status", ""))
        # The status does not have the chart. The list has it, but not the releases whose installation was interrupted.
        rows = _json(self.run("list", "--filter", "^{0}$".format(re.escape(self.name)), "-o", "json"))
        chart = next((str(row.get("chart")) for row in rows if row.get("name") == self.name), "")
        return _Release(status, chart, found.get("config") or {})

    def wanted_chart(self) -> str:
        """C(NAME-VERSION) of the chart. Raises C(StepFailed) if there is no such chart, or if it has another version."""
        if self.chart.startswith(_REGISTRY):
            return "{0}-{1}".format(self.chart.rstrip("/").rpartition("/")[2], self.version)
        found = dict(_FIELD.findall(self.programs.run(["helm", "show", "chart", self.chart])))
        if self.version and found.get("version") != self.version:
            raise StepFailed("{0} has the version {1}, and {2} is wanted; fix: name its version, or put the other chart there".format(
                self.chart, found.get("version"), self.version))  # fmt: skip
        return "{0}-{1}".format(found.get("name"), found.get("version"))

    def is_installed(self, values: Mapping[str, Any]) -> Tuple[bool, Optional[_Release]]:
        """Is the release there as it is wanted? And what is there."""
        found = self.read()
        if found is None or found.status != _DEPLOYED:
            return False, found
        return (found.chart, found.values) == (self.wanted_chart(), dict(values)), found

    def settle(self, found: Optional[_Release]) -> None:
        """End what a killed helm left. It refuses every other command otherwise, and the lock says that no helm is running."""
        if found is None or not found.status.startswith("pending-"):
            return
        if found.status == "pending-install":
            self.run("uninstall", self.name)
        else:
            self.run("rollback", self.name)


def are_installed(programs: AdminPrograms, kubeconfig: str, wanted: Sequence[Mapping[str, Any]]) -> bool:
    """Are all packages there as they are wanted? What cannot be read is not installed: the step tells why."""
    if not wanted or not work_folder.read(kubeconfig):
        return not wanted
    try:
        return all(_Helm(programs, dict(one, kubeconfig=kubeconfig)).is_installed(one["values"])[0] for one in wanted)
    except StepFailed:
        return False


def install(programs: AdminPrograms, options: Mapping[str, Any], check_mode: bool) -> Dict[str, Any]:
    """Install or change a release, and wait until it is deployed. Raises C(StepFailed)."""
    helm, values = _Helm(programs, options), options["chart_values"]
    done, before = helm.is_installed(values)
    # Values can be secret, so a difference shows only the chart and the status.
    diff = {"before": _line(before), "after": _line(before) if done else "{0} {1}\n".format(helm.wanted_chart(), _DEPLOYED)}
    if not done and not check_mode:
        helm.settle(before)
        _upgrade(helm, options)
    return {"changed": not done, "status": _DEPLOYED if done or not check_mode else (before.status if before else "absent"), "diff": diff}


def _upgrade(helm: _Helm, options: Mapping[str, Any]) -> None:
    folder = options["work_dir"] or os.path.dirname(options["kubeconfig"])
    path = os.path.join(folder, "values-{0}.json".format(options["name"]))
    # JSON is YAML. In a file with mode 0600, the values are in no list of processes.
    work_folder.write(path, json.dumps(options["chart_values"], sort_keys=True))
    seconds = max(1, int(options["timeout"]))
    words: List[str] = ["--version", helm.version] if helm.version else []
    words += ["--create-namespace", "--values", path, "--wait", "--timeout", "{0}s".format(seconds)]
    try:
        helm.run("upgrade", "--install", helm.name, helm.chart, *words, timeout=seconds + 60.0)
    finally:
        work_folder.remove(path)


def _line(found: Optional[_Release]) -> str:
    return "" if found is None else "{0} {1}\n".format(found.chart, found.status)


def _json(text: str) -> Any:
    try:
        return json.loads(text) if text.strip() else []
    except ValueError:
        raise StepFailed("helm printed something that is not JSON") from None

# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report on drains of a large cluster, beside decoding the same JSON.

A process serves the lists of a generated cluster in pages, as an API server does: 1,000 nodes and 30,000 pods, with the fields that real
objects have. The report reads them by HTTP. The reference is C(json.loads) of the same pages. Each runs in a process of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from .generated_cluster import NODES, PODS
from .inputs import COLLECTIONS

ROUNDS = 3
LIMIT = 2.0
"""What the report takes beside decoding, in processor time: elapsed time also depends on the server and on other programs."""

LIMIT_MEMORY = 500
"""MiB."""

_START = """
import gc, json, resource, sys, urllib.request
from time import perf_counter, process_time
url, kubeconfig = sys.argv[1:3]
"""

_DECODE = (
    _START
    + """
from ansible_collections.nodebootstrap.eks.benchmarks.generated_cluster import pages
made = [page for found in pages().values() for page in found]
elapsed, processor = perf_counter(), process_time()
for page in made:
    json.loads(page)
result = {"bytes": sum(map(len, made))}
result |= {"elapsed": perf_counter() - elapsed, "processor": process_time() - processor}
print(json.dumps(result))
"""
)

_REPORT = (
    _START
    + """
from ansible_collections.nodebootstrap.eks.plugins.module_utils._kubernetes.client import KubernetesClient, KubernetesError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.drain.api import ClusterApi
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.drain.finding import Settings
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.drain.report import counts
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.drain.report_task import make_report
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.drain.text import text

requests = 0
class Counting(KubernetesClient):
    def _send(self, *arguments):
        global requests
        requests += 1
        return super()._send(*arguments)

# The actions do the same: ansible_adapter.run_action.
gc.disable()
elapsed, processor = perf_counter(), process_time()
with Counting({"kubeconfig": kubeconfig}) as client:
    found = make_report(ClusterApi(client, KubernetesError), Settings(now=1.8e9))
text(found)
result = {"elapsed": perf_counter() - elapsed, "processor": process_time() - processor, "requests": requests}
result |= {"memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "pods": sum(found.pods), "counts": counts(found.findings)}
print(json.dumps(result))
"""
)


def main() -> int:
    print(f"Report on drains of {NODES:,} nodes with {PODS:,} pods; medians of {ROUNDS} rounds in turns")
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen(
            [sys.executable, "-m", f"{__package__}.generated_cluster"], stdout=subprocess.PIPE, text=True, env=_environment()
        )
        try:
            assert server.stdout is not None
            url = server.stdout.readline().strip()
            path = Path(folder, "kubeconfig")
            path.write_text(json.dumps(_kubeconfig(url)), encoding="utf-8")
            rounds = [[_run(program, url, path) for program in (_DECODE, _REPORT)] for _unused in range(ROUNDS)]
        finally:
            server.terminate()
            server.wait()
    return _compare(rounds)


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(COLLECTIONS)}


def _run(program: str, url: str, path: Path) -> dict[str, float]:
    done = subprocess.run([sys.executable, "-c", program, url, str(path)], capture_output=True, text=True, check=True, env=_environment())
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _kubeconfig(url: str) -> dict[str, object]:
    return {
        "current-context": "large",
        "contexts": [{"name": "large", "context": {"cluster": "large", "user": "large"}}],
        "clusters": [{"name": "large", "cluster": {"server": url}}],
        "users": [{"name": "large", "user": {}}],
    }


def _compare(rounds: list[list[dict[str, float]]]) -> int:
    decoding, report = ([one[index] for one in rounds] for index in (0, 1))
    print(f"{decoding[0]['bytes'] / 2**20:.0f} MiB of JSON; {report[0]['requests']} requests; findings: {report[0]['counts']}")
    print(f"{'':<10}{'decoding':>10}{'report':>10}{'ratio':>8}")
    ratios = {}
    for name in ("elapsed", "processor"):
        left, right = (median(one[name] for one in found) for found in (decoding, report))
        ratios[name] = median(b[name] / a[name] for a, b in rounds)
        print(f"{name:<10}{left:>10.2f}{right:>10.2f}{ratios[name]:>8.2f}")
    memory = max(one["memory"] for one in report)
    print(f"memory of the report: {memory:.0f} MiB")
    over = [f"{ratios['processor']:.2f} times decoding, limit {LIMIT}"] if ratios["processor"] > LIMIT else []
    over += [f"{memory:.0f} MiB, limit {LIMIT_MEMORY}"] if memory > LIMIT_MEMORY else []
    for problem in over:
        print(f"over the limit: {problem}")
    return 1 if over else 0

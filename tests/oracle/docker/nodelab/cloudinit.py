# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Real cloud-init over real user data: as part of a boot, or stage by stage in a container that serves many cases."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from .engine import HarnessError
from .families import CLOUD_INIT_ENVIRONMENT, SCRIPTS
from .node import AnyNode, File, Node

SEED = "/var/lib/cloud/seed/nocloud"
STAGES = (("init", "--local"), ("init",), ("modules", "--mode=config"), ("modules", "--mode=final"))

_MODULE = re.compile(r"start: (?:init-network|modules-config|modules-final)/config-(\S+): running")
_SCRIPT = re.compile(rf"Running command \['{SCRIPTS}/([^']+)'\]")
_WARNING = re.compile(r"\[(?:WARNING|ERROR|CRITICAL)\]: (.*)")
# The container has no SSH server: cloud-init says so in every run, whatever the user data.
_NO_SSH = re.compile(r"Failed generating key type|SSH service 'ssh' is not installed")


@dataclass(frozen=True)
class CloudInitResult:
    """What one run of cloud-init did.

    errors    what result.json lists; the verdict (exit status and `cloud-init status` differ between versions over mere warnings)
    warnings  warnings and errors of the log, such as "Unhandled unknown content-type"
    order     what ran, in order: module names with dashes ("bootcmd", "write-files", "runcmd", "scripts-user", …), and "script NAME"
              for every script of /var/lib/cloud/instance/scripts at the moment it was started ("script runcmd" is runcmd's)
    output    /var/log/cloud-init-output.log: what scripts printed
    log       /var/log/cloud-init.log
    scripts   {name: content} of /var/lib/cloud/instance/scripts
    """

    errors: list[str]
    warnings: list[str]
    order: list[str]
    output: str
    log: str
    scripts: dict[str, bytes]

    def ran(self, *items: str) -> list[str]:
        """Those of `items` that ran, in the order in which they ran."""
        return [item for item in self.order if item in items]


def run(node: Node, user_data: str | bytes, meta_data: str = "", vendor_data: str | bytes = b"") -> CloudInitResult:
    """Run cloud-init's four stages over NoCloud data in a running node. Reset the node between cases: cloud-init runs once per instance."""
    node.write(_seed(user_data, meta_data, vendor_data))
    for stage in STAGES:
        done = node.exec(["cloud-init", *stage], environment=CLOUD_INIT_ENVIRONMENT, timeout=1200)
        # 1 is "something failed", 2 is "went on with warnings": both are in result.json and in the log.
        if done.returncode not in (0, 1, 2):
            raise HarnessError(f"cloud-init {' '.join(stage)} exited {done.returncode}:\n{done.stderr.decode(errors='replace')}")
    return result(node)


@contextmanager
def boot(
    kind: type[AnyNode],
    user_data: str | bytes,
    *,
    meta_data: str = "",
    vendor_data: str | bytes = b"",
    suite: str = "bookworm",
    files: Mapping[str, File] | None = None,
) -> Iterator[tuple[AnyNode, CloudInitResult]]:
    """Boot a fresh node of a family with this user data, both as NoCloud seed and in the metadata service; yields (node, result)."""
    laid = {**_seed(user_data, meta_data, vendor_data), "/etc/nodelab/user-data": user_data, **(files or {})}
    node = kind.start(suite=suite, cloud_init=True, files=laid)
    try:
        # Its exit status says 2 for warnings from version 23.4 on: not a verdict.
        node.exec(["cloud-init", "status", "--wait"], timeout=1200)
        node.exec(["systemctl", "is-system-running", "--wait"], timeout=1200)
        yield node, result(node)
    finally:
        node.stop()


def result(node: Node) -> CloudInitResult:
    """Read what the last run left behind."""
    log = node.read("/var/log/cloud-init.log").decode(errors="replace")
    try:
        errors = json.loads(node.read("/run/cloud-init/result.json"))["v1"]["errors"]
    except FileNotFoundError:
        raise HarnessError(f"cloud-init did not come to its end:\n{log[-3000:]}") from None
    names = node.exec(["find", SCRIPTS, "-mindepth", "1", "-maxdepth", "1", "-printf", "%f\\0"]).stdout.decode().split("\0")[:-1]
    return CloudInitResult(
        errors=errors,
        warnings=[text for text in _WARNING.findall(log) if not _NO_SSH.search(text)],
        order=list(_order(log)),
        output=node.read("/var/log/cloud-init-output.log").decode(errors="replace"),
        log=log,
        scripts={name: node.read(f"{SCRIPTS}/{name}") for name in sorted(names)},
    )


class CloudInitNode(Node):
    """A bare node for many runs of cloud-init, one after the other."""

    def run(self, user_data: str | bytes, meta_data: str = "", vendor_data: str | bytes = b"") -> CloudInitResult:
        """Reset, then run cloud-init over this user data. What it did to the node can be read until the next run."""
        self.reset()
        return run(self, user_data, meta_data, vendor_data)


def _seed(user_data: str | bytes, meta_data: str, vendor_data: str | bytes) -> dict[str, File]:
    seed: dict[str, File] = {
        f"{SEED}/meta-data": meta_data or "instance-id: i-1234567890abcdef0\n",
        f"{SEED}/user-data": user_data,
    }
    if vendor_data:
        seed[f"{SEED}/vendor-data"] = vendor_data
    return seed


def _order(log: str) -> Iterator[str]:
    for line in log.splitlines():
        module = _MODULE.search(line)
        script = _SCRIPT.search(line)
        if module:
            yield module[1]
        elif script:
            yield f"script {script[1]}"

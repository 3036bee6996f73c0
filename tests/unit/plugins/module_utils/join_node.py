# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node whose files are below a directory, and whose systemd and journal are tables."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.host import FreeSpace, Host
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.programs import Result

KUBELET = "kubelet.service"
KERNEL = "the kernel"


class FakeNode(Host):
    """`units`: {name: properties}. `log`: (unit, pid, monotonic seconds, message), oldest first."""

    def __init__(self, root: Path) -> None:
        super().__init__(2.0, str(root))
        self.root = root
        self.units: dict[str, dict[str, Any]] = {}
        self.log: list[tuple[str, int, float, Any]] = []
        self.dump: str | None = None
        self.version: str | None = None
        self.disk: FreeSpace | None = None
        self.answers = True

    def file(self, path: str, content: str) -> None:
        place = self.root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content, encoding="utf-8")

    def unit(self, name: str, state: str = "active", sub: str = "running", pid: int = 7, since: float = 100.0, **more: Any) -> None:
        given = {"LoadState": "loaded", "ActiveState": state, "SubState": sub, "Result": "success", "MainPID": pid, "ExecMainStatus": 0}
        given["ExecMainStartTimestampMonotonic"] = int(since * 1e6)
        self.units[name] = {"Id": name, **given, **more}

    def process(self, *words: str, pid: int = 7, environ: str = "PATH=/bin\0", program: str = "/usr/bin/kubelet") -> None:
        self.file(f"/proc/{pid}/cmdline", "\0".join([program, *words, ""]))
        self.file(f"/proc/{pid}/environ", environ)

    def free_space(self, path: str) -> FreeSpace | None:
        return self.disk

    def run_program(self, argv: Sequence[str]) -> Result:
        if list(argv[1:]) == ["--version"] and self.version is not None:
            return Result(0, f"Kubernetes v{self.version}\n", "")
        if argv[0] == "systemctl":
            blocks = [self.units.get(name, {"Id": name, "LoadState": "not-found"}) for name in argv[argv.index("--") + 1 :]]
            text = "\n\n".join("\n".join(f"{key}={value}" for key, value in block.items()) for block in blocks)
            return Result(0, text, "") if self.answers else Result(1, "", "no bus")
        return Result(0, self.dump, "") if argv[0] == "containerd" and self.dump is not None else Result(127, "", "")

    def first_lines(self, words: list[str], lines: int, *_limits: float) -> list[bytes]:
        """What journalctl prints."""
        only = None
        if "-u" in words:
            unit: str | None = words[words.index("-u") + 1]
        elif words[-1] == "_TRANSPORT=kernel":
            unit = KERNEL
        else:
            unit, only = None, int(words[-1].partition("=")[2])
        rows = [row for row in self.log if (row[0] == unit if only is None else row[1] == only)]
        found = []
        for _unit, pid, moment, message in rows[::-1] if unit else rows:
            fields = {"_PID": str(pid), "__MONOTONIC_TIMESTAMP": str(int(moment * 1e6)), "MESSAGE": message}
            found.append(message if isinstance(message, bytes) else json.dumps(fields).encode())
        return found[:lines]

    def logs(self, *messages: Any, at: float, pid: int = 7, unit: str = KUBELET) -> None:
        for number, message in enumerate(messages):
            self.log.append((unit, pid, at + number / 1000, message))

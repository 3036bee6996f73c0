# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lets the node's own programs read new files before they are written: containerd, systemd, nodeadm.

Candidates are in a private folder below /run, which is removed afterwards. Only files that change are validated.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
from typing import Any, Callable, Collection, Mapping, Sequence

from .._node import programs
from .._node.errors import ApplyRefused
from .._node.files import Reader
from .._node.programs import NOT_INSTALLED, Result
from .plan import UNIT_FOLDER

_IMPORTS = re.compile(r"^imports = \[[^\]]*\]\n?", re.MULTILINE)

_UNIT_FOLDERS = (UNIT_FOLDER, "/run/systemd/system/", "/usr/lib/systemd/system/", "/lib/systemd/system/")
_HAS_NO_CHECK = re.compile(r"unknown (command|flag|argument)|unexpected argument|invalid choice|usage:", re.IGNORECASE)
# A program may come with the same plan, or a condition tests for it. systemd mounts API file systems by itself.
_HARMLESS = re.compile(r"is not executable|API file system")


class ValidationSandbox:
    """A private folder for candidates, made when it is first needed. A context manager.

    C(is_secret): candidates may hold secrets, and programs quote what they do not accept, so their messages are not passed on.
    """

    def __init__(self, parent: str = "/run", run: Callable[[Sequence[str]], Result] = programs.run, is_secret: bool = False) -> None:
        self._parent = parent
        self._run = run
        self._is_secret = is_secret
        self._folder: str | None = None
        self._dumps: dict[str, Result] = {}

    def __enter__(self) -> ValidationSandbox:
        return self

    def __exit__(self, *_unused: Any) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def add(self, name: str, content: bytes) -> str:
        """Write a candidate and return its path. C(name) may contain folders."""
        path = os.path.join(self._made_folder(), name)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(path, "wb") as handle:
            handle.write(content)
        return path

    def _made_folder(self) -> str:
        if self._folder is None:
            self._folder = tempfile.mkdtemp(prefix="nodebootstrap-", dir=self._parent)
        return self._folder

    # --- containerd ------------------------------------------------------------------------------------------------------------

    def containerd_dump(self, content: bytes) -> str | None:
        """What containerd makes of a configuration; None if it cannot read it."""
        result = self._dump(content)
        return _without_imports(result.output) if result.status == 0 else None

    def _dump(self, content: bytes) -> Result:
        key = hashlib.sha256(content).hexdigest()
        if key not in self._dumps:
            path = self.add(f"containerd/{key[:16]}.toml", content)
            self._dumps[key] = self._run(["containerd", "--config", path, "config", "dump"])
        return self._dumps[key]

    def check_containerd(self, path: str, content: bytes) -> None:
        """Refuse a configuration that containerd does not read."""
        result = self._dump(content)
        if result.status not in (0, NOT_INSTALLED):
            reason = self._reason(result.errors, result.status)
            raise ApplyRefused(f"containerd does not accept the new {path}: {reason}", "correct containerd.config of the node group")

    # --- systemd ---------------------------------------------------------------------------------------------------------------

    def check_units(self, files: Mapping[str, bytes], read: Reader, started: Collection[str]) -> list[str]:
        """Refuse units that systemd cannot load. Returns what systemd says about other units, and what it ignores, as warnings.

        C(files): {path: content} of all units and drop-ins of the plan. C(started): the units that the plan starts.
        """
        candidates = self._unit_candidates(files, read)
        if not candidates:
            return []
        result = self._run(["systemd-analyze", "verify", *(path for _unit, path in sorted(candidates.items()))])
        return [] if result.status == NOT_INSTALLED else self._judge(result.output + result.errors, _unit_names(files), started)

    def _unit_candidates(self, files: Mapping[str, bytes], read: Reader) -> dict[str, str]:
        """Add all files as candidates, and for each drop-in the unit of the image. Returns {unit: path of its candidate}."""
        added = {path[len(UNIT_FOLDER) :]: self.add(f"units/{path[len(UNIT_FOLDER) :]}", content) for path, content in files.items()}
        candidates = {}
        for unit in sorted(_unit_names(files)):
            if unit in added:
                candidates[unit] = added[unit]
                continue
            current = next(filter(None, (read(folder + unit) for folder in _UNIT_FOLDERS)), None)
            if current is not None:
                candidates[unit] = self.add(f"units/{unit}", current.content)
        return candidates

    def _judge(self, text: str, units: Collection[str], started: Collection[str]) -> list[str]:
        folder = os.path.join(self._made_folder(), "units") + "/"
        lines = [line.strip().replace(folder, UNIT_FOLDER) for line in text.splitlines() if not _HARMLESS.search(line)]
        lines = [line for line in lines if UNIT_FOLDER in line or (line.split(":")[0] in units and line.split(":")[0] in started)]
        wrong = [line for line in lines if "ignoring" not in line.lower() and any(unit in line for unit in started)]
        if self._is_secret:
            lines, wrong = _without_messages(lines), _without_messages(wrong)
        if wrong:
            raise ApplyRefused("systemd does not accept a unit of this plan. Nothing was changed", evidence=wrong[:3])
        return [f"systemd: {line}" for line in lines]

    # --- nodeadm ---------------------------------------------------------------------------------------------------------------

    def check_nodeadm(self, documents: Mapping[str, bytes]) -> None:
        """Refuse documents with which nodeadm would not start. Not every version of nodeadm has this check."""
        result = self._run(["nodeadm", "config", "check", *self._nodeadm_sources("candidate", documents)])
        text = (result.errors + result.output).strip()
        if result.status in (0, NOT_INSTALLED) or _HAS_NO_CHECK.search(text):
            return
        reason = self._reason(text, result.status)
        raise ApplyRefused(
            f"nodeadm does not accept the NodeConfig of this plan together with the other sources on the node: {reason}. "
            "Nothing was changed"
        )

    def nodeadm_dump(self, name: str, documents: Mapping[str, bytes]) -> str | None:
        """The NodeConfig that nodeadm makes of user data and documents; None if it cannot."""
        result = self._run(["nodeadm", "config", "dump", *self._nodeadm_sources(name, documents)])
        return result.output if result.status == 0 and result.output.strip() else None

    def _nodeadm_sources(self, name: str, documents: Mapping[str, bytes]) -> list[str]:
        """The arguments that make nodeadm read user data and a folder with the documents."""
        sources = ["--config-source", "imds://user-data"]
        folders = {os.path.dirname(self.add(f"{name}/{file}", content)) for file, content in documents.items()}
        return sources + [word for folder in folders for word in ("--config-source", f"file://{folder}/")]

    def _reason(self, message: str, status: int) -> str:
        if self._is_secret:
            return "its message is not shown because it may quote a secret"
        return message.strip().splitlines()[-1] if message.strip() else f"it ended with status {status}"


def _unit_names(files: Collection[str]) -> set[str]:
    """The units that files below the unit folder belong to: C(a.service) and C(a.service.d/50-x.conf) both belong to C(a.service)."""
    names = [path[len(UNIT_FOLDER) :] for path in files]
    return {name.split("/")[0][: -len(".d")] if "/" in name else name for name in names}


def _without_messages(lines: Collection[str]) -> list[str]:
    return sorted({line.split(" ")[0] + " the message is not shown because it may quote a secret" for line in lines})


def _without_imports(dump: str) -> str:
    """containerd's dump without the list of files that it was read from, which contains the file itself, in any order."""
    return _IMPORTS.sub("", dump)

# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The node's own programs read what is about to be written, before it is: containerd, systemd, nodeadm.

Candidates lie in a private folder below /run that is gone afterwards. Only files that change are looked at.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile

from .._node import programs
from .._node.errors import ApplyRefused
from . import equivalence

ETC_UNITS = "/etc/systemd/system/"
NODEADM_FOLDER = "/etc/eks/nodeadm.d"
_UNIT_FOLDERS = (ETC_UNITS, "/run/systemd/system/", "/usr/lib/systemd/system/", "/lib/systemd/system/")
_NO_CHECK = re.compile(r"unknown (command|flag|argument)|unexpected argument|invalid choice|usage:", re.IGNORECASE)
# A program may come with the same plan, or a condition asks for it. What is an API file system, systemd mounts by itself.
_HARMLESS = re.compile(r"is not executable|API file system")
_NODEADM = re.compile(r"\.(ya?ml|json)\Z", re.IGNORECASE)


class Workshop:
    """A private folder for candidates, made when it is first needed; use it as a context manager.

    C(secret): candidates may hold secrets, so what programs say of them, which quotes them, is not told.
    """

    def __init__(self, parent="/run", run=programs.run, secret=False):
        self._parent = parent
        self._secret = secret
        self._folder = None
        self._dumps = {}
        self.run = run

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def lay(self, name, content):
        """Write a candidate; its path. C(name) may have folders."""
        if self._folder is None:
            self._folder = tempfile.mkdtemp(prefix="nodebootstrap-", dir=self._parent)
        path = os.path.join(self._folder, name)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(path, "wb") as handle:
            handle.write(content)
        return path

    # --- containerd ------------------------------------------------------------------------------------------------------------

    def containerd_dump(self, content):
        """What containerd makes of a configuration, None when it cannot read it."""
        status, output, _unused = self._dump(content)
        return equivalence.without_imports(output) if status == 0 else None

    def _dump(self, content):
        key = hashlib.sha256(content).hexdigest()
        if key not in self._dumps:
            path = self.lay(f"containerd/{key[:16]}.toml", content)
            self._dumps[key] = self.run(["containerd", "--config", path, "config", "dump"])
        return self._dumps[key]

    def check_containerd(self, path, content):
        """Refuse a configuration that containerd does not read."""
        status, _unused, said = self._dump(content)
        if status not in (0, 127):
            reason = self._reason(said, status)
            raise ApplyRefused(f"containerd does not accept the new {path}: {reason}. Correct containerd.config of the node group")

    # --- systemd ---------------------------------------------------------------------------------------------------------------

    def check_units(self, files, read, started):
        """Refuse units that systemd cannot load and that are C(started) by name; what it says of others or ignores is returned.

        C(files): {path: content} of all our units and drop-ins.
        """
        units = {}
        for path, content in files.items():
            name = path[len(ETC_UNITS) :]
            laid = self.lay(f"units/{name}", content)
            units.setdefault(name.split("/")[0][: -len(".d")] if "/" in name else name, None if "/" in name else laid)
            if "/" not in name:
                units[name] = laid
        for unit, laid in sorted(units.items()):
            if laid is None:
                current = next(filter(None, (read(folder + unit) for folder in _UNIT_FOLDERS)), None)
                units[unit] = self.lay(f"units/{unit}", current.content) if current else None
        paths = [laid for _unused, laid in sorted(units.items()) if laid]
        if not paths:
            return []
        status, output, said = self.run(["systemd-analyze", "verify", *paths])
        return [] if status == 127 else self._judge(output + said, units, started)

    def _judge(self, text, units, started):
        folder = os.path.join(self._folder, "units") + "/"
        lines = [line.strip().replace(folder, ETC_UNITS) for line in text.splitlines() if not _HARMLESS.search(line)]
        lines = [line for line in lines if ETC_UNITS in line or (line.split(":")[0] in units and line.split(":")[0] in started)]
        wrong = [line for line in lines if "ignoring" not in line.lower() and any(unit in line for unit in started)]
        if self._secret:
            lines, wrong = (sorted({line.split(" ")[0] + " what it says may quote a secret" for line in some}) for some in (lines, wrong))
        if wrong:
            raise ApplyRefused(f"systemd does not accept a unit of this plan: {'; '.join(wrong[:3])}. Nothing was changed")
        return [f"systemd: {line}" for line in lines]

    # --- nodeadm ---------------------------------------------------------------------------------------------------------------

    def nodeadm_sources(self, name, documents):
        """The words that make nodeadm read user data and a folder with C(documents), {file name: content}."""
        folder = None
        for file, content in documents.items():
            folder = os.path.dirname(self.lay(f"{name}/{file}", content))
        return ["--config-source", "imds://user-data"] + (["--config-source", f"file://{folder}/"] if folder else [])

    def check_nodeadm(self, documents):
        """Refuse documents with which nodeadm would not start; a nodeadm without this check is no problem."""
        status, output, said = self.run(["nodeadm", "config", "check", *self.nodeadm_sources("candidate", documents)])
        text = (said + output).strip()
        if status in (0, 127) or _NO_CHECK.search(text):
            return
        reason = self._reason(text, status)
        raise ApplyRefused(
            f"nodeadm does not accept the NodeConfig of this plan with what else is on the node: {reason}. Nothing was changed"
        )

    def _reason(self, said, status):
        if self._secret:
            return "what it says is not shown, as it may quote a secret"
        return said.strip().splitlines()[-1] if said.strip() else f"it ended with status {status}"

    def nodeadm_dump(self, name, documents):
        """The NodeConfig that nodeadm makes of user data and documents, None when it cannot tell."""
        status, output, _unused = self.run(["nodeadm", "config", "dump", *self.nodeadm_sources(name, documents)])
        return output if status == 0 and output.strip() else None


def nodeadm_documents(read, folder=NODEADM_FOLDER):
    """The documents in nodeadm's folder: {file name: content}."""
    try:
        names = sorted(name for name in os.listdir(folder) if _NODEADM.search(name))
    except OSError:
        return {}
    found = {name: read(os.path.join(folder, name)) for name in names}
    return {name: current.content for name, current in found.items() if current is not None}

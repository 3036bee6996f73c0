# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the scripts that this collection renders: the files that they write first, and the lines after these.

Only a script of exactly this form is read here, from its beginning. Anything else is left to the reader of shell.
"""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass
from typing import Any

from ..artifacts import cloud_init, post_commands
from ..artifacts.bootstrap_script import CONFIG_FILE

HEAD = "#!/bin/bash\nset -eo pipefail\n"
_GUARDS = (f"[ ! -e {cloud_init.PRE_FAILED} ] || ", "trap '[ $? -eq 0 ] || ")
_FILE = re.compile(
    r"install -Dm\d+ /dev/null (?P<path>/[\w./@+-]+)\n(?:cat >(?P=path) <<'(?P<end>E\d*)'\n(?P<text>.*?)^(?P=end)\n)?", re.M | re.S
)
_WAIT = re.compile(r"/etc/nodebootstrap/wait-until-(healthy|ready) (\d+) \S+ \|\| exit")
_POST_HEAD = "#!/bin/bash\nset -e\n"
_START_POST = f"systemctl start --no-block {post_commands.UNIT}\n"
_EXPORT = re.compile(r"export (HTTP_PROXY|HTTPS_PROXY|NO_PROXY)=(.*)\n")
_CERTIFICATE = re.compile(r"/nodebootstrap-\d+\.crt$")
_TRUST_LINE = re.compile(r"^(?:export AWS_CA_BUNDLE=\S+|update-ca-trust(?: extract)?|update-ca-certificates)\n", re.M)
_TRUST_FILE = "/etc/systemd/system/sandbox-image.service.d/40-nodebootstrap-trust.conf"
_PROXY_FILE = "/50-nodebootstrap-proxy.conf"


@dataclass
class OwnScript:
    """A rendered script. files: the text of each written file by path. blocks: the lines that write it. rest: the lines after these."""

    files: dict[str, str]
    blocks: dict[str, str]
    rest: str

    def take_config(self) -> dict[str, Any]:
        """The configuration of kubelet, which is then no longer among the files."""
        try:
            config = json.loads(self.files.get(CONFIG_FILE, "{}"))
        except ValueError:
            return {}
        self._drop(CONFIG_FILE)
        return {name: value for name, value in config.items() if name not in ("apiVersion", "kind")} if isinstance(config, dict) else {}

    def take_post(self) -> list[dict[str, Any]]:
        """The items of C(commands.post), whose files are then no longer among the files."""
        text = self.files.get(post_commands.SCRIPT, "")
        if not text.startswith(_POST_HEAD) or _START_POST not in self.rest:
            return []
        commands: list[dict[str, Any]] = []
        for line in text.removeprefix(_POST_HEAD).splitlines(keepends=True):
            if wait := _WAIT.fullmatch(line.rstrip("\n")):
                commands.append({"run": "", "when": wait[1], "timeout": int(wait[2])})
            elif not commands:
                return []
            else:
                commands[-1]["run"] += line
        for path in post_commands.FILES:
            self._drop(path)
        self.rest = self.rest.replace(_START_POST, "", 1)
        return commands

    def take_proxy(self) -> dict[str, str]:
        """The proxy variables of the script, which are then no longer among the lines and files."""
        found = {}
        for name, value in _EXPORT.findall(self.rest):
            try:
                [found[name]] = shlex.split(value)
            except ValueError:
                return {}
        if found:
            self.rest = _EXPORT.sub("", self.rest)
            for path in [path for path in self.files if path.endswith(_PROXY_FILE)]:
                self._drop(path)
        return found

    def take_trust(self) -> list[str]:
        """The certificates of the user, whose lines and files are then no longer among the others."""
        paths = [path for path in self.files if _CERTIFICATE.search(path)]
        found = [self.files[path] for path in paths]
        if found:
            self.rest = _TRUST_LINE.sub("", self.rest)
            for path in (*paths, _TRUST_FILE):
                self._drop(path)
        return found

    def remaining(self) -> str:
        """The lines that write the files that were not taken."""
        return "".join(self.blocks.values())

    def _drop(self, path: str) -> None:
        self.files.pop(path, None)
        self.blocks.pop(path, None)


def own_script(text: str) -> OwnScript | None:
    """The files and the rest of a script that this collection rendered. None for other scripts."""
    if not text.startswith(HEAD):
        return None
    at = len(HEAD)
    if text.startswith(_GUARDS, at):
        at = text.index("\n", at) + 1
    files: dict[str, str] = {}
    blocks: dict[str, str] = {}
    while match := _FILE.match(text, at):
        if match["path"] in files:
            return None
        files[match["path"]] = match["text"] or ""
        blocks[match["path"]] = match[0]
        at = match.end()
    return OwnScript(files, blocks, text[at:])

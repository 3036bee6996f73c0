# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""User data that cloud-init or nodeadm refuse, drop in part or accept, and what lint reports about it."""

from __future__ import annotations

import base64
import gzip
from dataclasses import dataclass

from ansible_collections.nodebootstrap.eks.tests.oracle.nodeadm_rows import CASES, user_data

_HEAD = 'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="B"\n\n'
_END = "--B--\n"


@dataclass(frozen=True)
class Row:
    """meant: what the scripts print and runcmd says, if everything runs. runs: what cloud-init runs of it. errors: the rules of lint
    with the severity error. family: of the nodes, where nodeadm would refuse what cloud-init runs.
    """

    name: str
    document: bytes
    meant: tuple[str, ...]
    runs: tuple[str, ...]
    errors: tuple[str, ...] = ()
    family: str | None = None


def _script(word: str, kind: str = "text/x-shellscript") -> str:
    return f"--B\nContent-Type: {kind}\n\n#!/bin/sh\necho {word}\n"


def _config(word: str, more: str = "") -> str:
    return f"--B\nContent-Type: text/cloud-config\n\n#cloud-config\n{more}runcmd: [[echo, {word}]]\n"


def _row(name: str, document: str | bytes, meant: str, runs: str, errors: str = "", family: str | None = None) -> Row:
    data = document.encode() if isinstance(document, str) else document
    return Row(name, data, tuple(meant.split()), tuple(runs.split()), tuple(errors.split()), family)


_INNER = "--B\nContent-Type: multipart/mixed; boundary=C\n\n" + _script("a").replace("--B", "--C") + "--C--\n"
_NODE_CONFIG = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {}\n"
_TWO = f"{_HEAD}{_script('a')}{_script('b')}{_END}"
_ENCODED = base64.b64encode(b"#!/bin/sh\necho a\n").decode()

ROWS = (
    _row("script", "#!/bin/sh\necho a\n", "a", "a"),
    _row("script with CRLF", "#!/bin/sh\r\necho a\r\n", "a", "a"),
    _row("script without shebang", "echo a\n", "a", "", "user_data.wrong_kind"),
    _row("blank line before the shebang", "\n#!/bin/sh\necho a\n", "a", "", "user_data.wrong_kind"),
    _row("two scripts", _TWO, "a b", "a b"),
    _row("MIME with CRLF", _TWO.replace("\n", "\r\n"), "a b", "a b"),
    _row("gzip", gzip.compress(_TWO.encode(), mtime=0), "a b", "a b"),
    _row(
        "part without shebang",
        f"{_HEAD}{_script('a')}--B\nContent-Type: text/x-shellscript\n\necho b\n{_END}",
        "a b",
        "a",
        "mime.no_interpreter",
    ),
    _row("closing delimiter in the middle", f"{_HEAD}{_script('a')}{_END}{_script('b')}{_END}", "a b", "a", "mime.text_after_end"),
    _row("blank line first", f"\n{_TWO}", "a b", "", "mime.leading_blank"),
    _row("indented", "".join(f"  {line}\n" for line in _TWO.split("\n")), "a b", "", "mime.leading_blank"),
    _row("no MIME-Version", _TWO.replace("MIME-Version: 1.0\n", ""), "a b", "", "mime.missing_version"),
    _row(
        "part as base64", f"{_HEAD}--B\nContent-Type: text/x-shellscript\nContent-Transfer-Encoding: base64\n\n{_ENCODED}\n{_END}", "a", "a"
    ),
    _row("two runcmd", f"{_HEAD}{_config('a')}{_config('b')}{_END}", "a b", "b", "cloud_config.replaced_key"),
    _row(
        "two runcmd, appended",
        f"{_HEAD}{_config('a')}{_config('b', 'merge_how: list(append)+dict(recurse_array)+str()' + chr(10))}{_END}",
        "a b",
        "a b",
    ),
    _row("cloud-config with a tab", "#cloud-config\nruncmd:\n\t- [echo, a]\n", "a", "", "cloud_config.unreadable"),
    _row("cloud-config", "#cloud-config\nruncmd: [[echo, a]]\n", "a", "a"),
    _row("script as text/plain", f"{_HEAD}{_script('a', 'text/plain')}{_END}", "a", "a"),
    _row("unknown type", f"{_HEAD}{_script('a', 'application/json')}{_END}", "a", "", "mime.unknown_type"),
    _row("unquoted boundary", _TWO.replace('"B"', "B"), "a b", "a b"),
    _row("nested MIME", f"{_HEAD}{_INNER}{_script('b')}{_END}", "a b", "a b", family="al2"),
    _row(
        "nested MIME without its own boundary",
        f"{_HEAD}{_INNER.replace('; boundary=C', '')}{_END}",
        "a",
        "",
        "mime.nested_document",
        "al2",
    ),
    _row("part without a blank line", f"{_HEAD}--B\nContent-Type: text/x-shellscript\n#!/bin/sh\necho a\n{_END}", "a", "a", family="al2"),
    _row(
        "part without a blank line, whose first line looks like a header",
        f"{_HEAD}--B\nContent-Type: text/cloud-config\nruncmd: [[echo, a]]\n{_END}",
        "a",
        "",
        "mime.invalid_header",
    ),
    _row("boothook", "#cloud-boothook\n#!/bin/sh\necho a\n", "a", "a"),
    _row("boothook as a part", f"{_HEAD}{_script('a', 'text/cloud-boothook')}{_END}", "a", "a"),
    _row("template", "## template: jinja\n#!/bin/sh\necho {{ v1.word }}\n", "a", "a"),
    _row("template of a cloud-config", "## template: jinja\n#cloud-config\nruncmd: [[echo, '{{ v1.word }}']]\n", "a", "a"),
    _row(
        "archive",
        "#cloud-config-archive\n- '#!/bin/sh\n\n  echo a'\n- {type: text/cloud-config, content: 'runcmd: [[echo, b]]'}\n",
        "a b",
        "a b",
    ),
    _row("blank line before a cloud-config", "\n#cloud-config\nruncmd: [[echo, a]]\n", "a", "a"),
    _row("capital letters", "#Cloud-Config\nruncmd: [[echo, a]]\n", "a", "a"),
    _row("space in the first line", "# cloud-config\nruncmd: [[echo, a]]\n", "a", "", "user_data.wrong_kind"),
    _row("command with a colon", "#cloud-config\nruncmd:\n- [echo, a]\n- echo b: c\n", "a b", "", "cloud_config.invalid_command"),
    _row("command that is a number", "#cloud-config\nruncmd:\n- [echo, a]\n- 5\n", "a", "", "cloud_config.invalid_command"),
    _row("LF behind the first header only", _TWO.replace("\n", "\r\n").replace("\r\n", "\n", 1), "a b", "a b"),
    _row("CRLF in the headers only", _TWO.replace("\n", "\r\n", 2), "a b", "a b"),
    _row(
        "NodeConfig as cloud-config",
        f"{_HEAD}{_script('a')}--B\nContent-Type: text/cloud-config\n\n{_NODE_CONFIG}{_END}",
        "a node",
        "a",
        "nodeconfig.wrong_part",
    ),
    _row("quote without an end", "#!/bin/sh\necho a\necho 'b\n", "a b", "a", "shell.open_quote"),
    _row("indented end", "#!/bin/sh\ncat >/dev/null <<E\n  E\necho a\n", "a", "", "shell.indented_end"),
    _row("blank behind a backslash", "#!/bin/sh\necho a \\ \n  --b\n", "a --b", "a", "shell.option_as_command"),
    _row("base64 twice", base64.b64encode(base64.b64encode(_TWO.encode())), "a b", "", "user_data.unreadable"),
)

RECORDED = {str(case["id"]): case for case in CASES if case["group"] in ("envelope", "decode")}
"""The rows of nodeadm's record that are one document each."""


def recorded(name: str) -> bytes:
    """The document of a row of C(RECORDED)."""
    return user_data(RECORDED[name])

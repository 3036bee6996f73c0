# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Detects the syntax of user data by its beginning, like its consumers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

Kind = Literal[
    "mime",
    "cloud-config",
    "shell",
    "nodeconfig",
    "toml",
    "powershell",
    "ec2launch",
    "boothook",
    "include",
    "jinja",
    "archive",
    "empty",
    "unknown",
]

_HEADER = re.compile(r"[ \t]*([!-9;-~]+)[ \t]*:(.*)")
_JINJA = re.compile(r"##[ \t]*template:[ \t]*jinja", re.IGNORECASE)
_INCLUDE = re.compile(r"#include(?:-once)?(?![a-z0-9-])", re.IGNORECASE)
_CLOUD_CONFIG = re.compile(r"#cloud-config(?!-)", re.IGNORECASE)
_ARCHIVE = re.compile(r"#cloud-config-archive", re.IGNORECASE)
_BOOTHOOK = re.compile(r"#cloud-boothook", re.IGNORECASE)
_TASKS = re.compile(r"(?:---[ \t]*\n)?(?:[ \t]*(?:#.*)?\n)*version:[ \t]*[\"']?1\.[0-9]+[\"']?[ \t]*(?:#.*)?\r?\n(?:.*\n)*?tasks:")
"""The document of EC2Launch v2, with its version first (docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2launch-v2-settings.html)."""
_WINDOWS_TAG = re.compile(r"<(?:powershell|script|persist)>", re.IGNORECASE)
# A table or a dotted key in the only top-level table of Bottlerocket.
_SETTINGS = re.compile(r"[ \t]*(?:\[{1,2}[ \t]*[\"']?settings[\"']?[ \t]*[.\]]|[\"']?settings[\"']?[ \t]*[.=])")
_API_VERSION = re.compile(r"^(?:---[ \t]+)?[\"']?apiVersion[\"']?[ \t]*:[ \t]*[\"']?node\.eks\.aws/", re.MULTILINE)
_KIND = re.compile(r"^(?:---[ \t]+)?[\"']?kind[\"']?[ \t]*:[ \t]*[\"']?NodeConfig\b", re.MULTILINE)
_FLOW_API_VERSION = re.compile(r"[{,\s][\"']?apiVersion[\"']?\s*:\s*[\"']?node\.eks\.aws/")
_FLOW_KIND = re.compile(r"[{,\s][\"']?kind[\"']?\s*:\s*[\"']?NodeConfig\b")


KIND_NAMES: Mapping[Kind, str] = {
    "mime": "a MIME document",
    "cloud-config": "cloud-config",
    "shell": "a shell script",
    "nodeconfig": "a NodeConfig",
    "toml": "Bottlerocket settings in TOML",
    "powershell": "PowerShell for Windows",
    "ec2launch": "a list of tasks for EC2Launch",
    "boothook": "a boothook of cloud-init",
    "include": "a list of URLs for cloud-init",
    "jinja": "a Jinja template for cloud-init",
    "archive": "an archive of parts for cloud-init",
    "empty": "empty",
    "unknown": "text that nothing on a node would run",
}
"""The name of each kind in messages."""


def classify(text: str) -> Kind:
    """The kind of C(text), which is already decoded (no base64, no gzip).

    C(mime) is also told of a document that its readers would not take for MIME (a blank line first, indented), so that the
    MIME reader can say what is wrong. A NodeConfig needs both its apiVersion and its kind: a script of comments or a
    cloud-config is YAML, too, but not a NodeConfig. C(unknown) is text that nothing on a node runs.
    """
    stripped = text.lstrip(" \t\r\n")
    if not stripped:
        return "empty"
    if _is_mime(stripped):
        return "mime"
    if text.startswith("#!"):
        return "shell"
    if _JINJA.match(stripped):
        return "jinja"
    if _CLOUD_CONFIG.match(stripped):
        return "cloud-config"
    if _ARCHIVE.match(stripped):
        return "archive"
    if _BOOTHOOK.match(stripped):
        return "boothook"
    if _INCLUDE.match(stripped):
        return "include"
    if _is_nodeconfig(stripped):
        return "nodeconfig"
    if _is_bottlerocket(stripped):
        return "toml"
    if _TASKS.match(stripped):
        return "ec2launch"
    if not stripped.startswith("#!") and _WINDOWS_TAG.search(stripped):
        return "powershell"
    return "unknown"


def _is_mime(text: str) -> bool:
    """Whether the first lines are MIME headers."""
    for line in text.split("\n"):
        header = _HEADER.match(line)
        if header is None:
            if line[:1] in (" ", "\t") and line.strip():
                continue
            return False
        name, value = header[1].lower(), header[2].strip().lower()
        if name == "mime-version" or (name == "content-type" and value.startswith("multipart/")):
            return True
    return False


def _is_nodeconfig(text: str) -> bool:
    if text.startswith("{"):
        return bool(_FLOW_API_VERSION.search(text) and _FLOW_KIND.search(text))
    return bool(_API_VERSION.search(text) and _KIND.search(text))


def _is_bottlerocket(text: str) -> bool:
    """Whether the first line that is not a comment belongs to C(settings), the only table that Bottlerocket accepts."""
    for line in text.split("\n"):
        bare = line.strip()
        if bare and not bare.startswith("#"):
            return bool(_SETTINGS.match(line))
    return False

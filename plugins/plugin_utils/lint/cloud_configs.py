# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of cloud-config documents: what cloud-init cannot read, ignores or replaces."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any

from ..artifacts.cloud_init import MERGE_HEADERS
from ..errors import Problems, joined
from ..formats import cloud_config
from ..formats.user_data_kind import KIND_NAMES
from ..readers.built_parts import is_unknown
from ..readers.model import Place, ReadPart
from .report import Report
from .subject import Subject

_LISTS = ("bootcmd", "runcmd", "write_files", "packages")
_KEYS = {
    key.replace("_", ""): key
    for key in (
        "bootcmd",
        "disk_setup",
        "fs_setup",
        "package_update",
        "package_upgrade",
        "packages",
        "power_state",
        "runcmd",
        "write_files",
    )
}
"""Keys that are often misspelt, without underscores."""
_SEPARATOR = re.compile("[-_ ]")
_COMMANDS = ("bootcmd", "runcmd")
_BASE64 = ("b64", "base64", "gz+base64", "gzip+base64", "gz+b64", "gzip+b64")
_ENCODINGS = (*_BASE64, "gz", "gzip", "text/plain")
_MODE = re.compile(r"0?o?[0-7]{1,5}")
_DECIMAL_MODE = re.compile(r"^[ \t-]*permissions:[ \t]*([1-7][0-7]{2})[ \t]*(?:#.*)?$", re.MULTILINE)


def check(subject: Subject, report: Report) -> None:
    """Report the problems of every cloud-config, and keys that a later one replaces."""
    documents = []
    for part in subject.parts("cloud-config"):
        document = cloud_config.load(part.text, part.path, report.problems)
        headers = (name.lower() for name, _value in part.headers)
        merges = any(name in MERGE_HEADERS for name in headers)
        documents.append((part.path, {**document, "merge_how": "the header"} if merges else document))
        if str(document.get("apiVersion", "")).startswith("node.eks.aws/"):
            message = "is a NodeConfig with the type of a cloud-config, and neither nodeadm nor cloud-init reads it"
            report.problems.add("nodeconfig.wrong_part", part.path, message, fix="write Content-Type: application/node.eks.aws")
        _check_keys(part, document, report.problems)
        _check_types(part, document, report.problems)
        _check_commands(part, document, report.problems)
        _check_files(part, document, report.problems)
        _check_modes(part, report)
    cloud_config.conflicts(documents, report.problems)
    for part in subject.parts("include"):
        report.problems.add("user_data.includes_url", part.path, "is fetched by the node when it boots, and was not checked")
    for part in subject.parts("jinja"):
        message = f"is {KIND_NAMES[part.kind]} with statements or comments, and was not checked"
        report.problems.add("user_data.built_on_node", part.path, message)


def _check_keys(part: ReadPart, document: Mapping[str, Any], problems: Problems) -> None:
    """Keys with other capital letters, dashes or underscores than those of cloud-init, which ignores them."""
    for key in document:
        known = _KEYS.get(_SEPARATOR.sub("", str(key)).lower())
        if known is not None and key != known:
            message = "is not a key of cloud-init, which ignores it"
            problems.add("cloud_config.unknown_key", joined(part.path, str(key)), message, nearest=known, fix=f"rename it to {known}")


def _check_types(part: ReadPart, document: dict[str, object], problems: Problems) -> None:
    for key in _LISTS:
        if document.get(key) is not None and not isinstance(document[key], list) and not is_unknown(document[key]):
            path = f"{part.path}.{key}".lstrip(".")
            problems.add("cloud_config.wrong_type", path, "is not a list, and cloud-init ignores it", allowed="a list")


def _check_commands(part: ReadPart, document: Mapping[str, Any], problems: Problems) -> None:
    """cloud-init writes all commands into one script, and writes none of them if it cannot write one."""
    for key in _COMMANDS:
        listed = document.get(key)
        for index, command in enumerate(listed if isinstance(listed, list) else ()):
            if command is None or isinstance(command, (str, list)):
                continue
            path = f"{joined(part.path, key)}[{index}]"
            if isinstance(command, Mapping):
                message = "is a mapping, because YAML takes a colon with a space behind it for a key, and no command of the list runs"
                problems.add("cloud_config.invalid_command", path, message, fix="quote the whole command")
            else:
                message = "is neither text nor a list of words, and no command of the list runs"
                problems.add("cloud_config.invalid_command", path, message, fix="quote the command")


def _check_files(part: ReadPart, document: Mapping[str, Any], problems: Problems) -> None:
    listed = document.get("write_files")
    for index, file in enumerate(listed if isinstance(listed, list) else ()):
        path = f"{joined(part.path, 'write_files')}[{index}]"
        if not isinstance(file, Mapping):
            problems.add("cloud_config.invalid_file", path, "is not a mapping, and cloud-init writes no file of the list")
            continue
        if not file.get("path"):
            problems.add("cloud_config.invalid_file", path, "has no path, and cloud-init does not write it", fix="add path")
        if any(is_unknown(file.get(key)) for key in ("encoding", "content", "permissions")):
            continue
        encoding = str(file.get("encoding") or "text/plain").lower().strip()
        content = file.get("content")
        if encoding not in _ENCODINGS:
            message = f"{encoding} is not an encoding that cloud-init knows, and it writes the content as it stands"
            problems.add("cloud_config.unknown_encoding", f"{path}.encoding", message, allowed=", ".join(_ENCODINGS))
        elif encoding in _BASE64 and isinstance(content, str) and not _is_base64(content):
            message = "is not base64, and cloud-init writes neither this file nor those behind it"
            problems.add("cloud_config.invalid_file", f"{path}.content", message, fix="encode the content, or remove encoding")
        mode = file.get("permissions")
        if isinstance(mode, str) and not _MODE.fullmatch(mode.strip()):
            message = "is not a file mode, and cloud-init uses 0644"
            problems.add("cloud_config.invalid_mode", f"{path}.permissions", message, fix="write octal digits in quotes, such as '0755'")


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text)
    except (binascii.Error, ValueError):
        return False
    return True


def _check_modes(part: ReadPart, report: Report) -> None:
    """YAML reads 644 as a decimal number, which is the mode 1204."""
    for match in _DECIMAL_MODE.finditer(part.text):
        line = part.text.count("\n", 0, match.start(1)) + 1
        column = match.start(1) - part.text.rfind("\n", 0, match.start(1))
        path = report.locate(f"{part.path} line {line} permissions", Place(part.index, line, column, 3), "permissions")
        message = f"is the decimal number {match[1]}, which is the mode {int(match[1]):o}"
        report.problems.add("cloud_config.decimal_mode", path, message, fix=f"write '0{match[1]}'")

# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The running kubelet and its configuration as node_info returns them, without secrets. Standard library, Python 3.7 and newer."""

from __future__ import annotations

from typing import Any, Dict, Mapping

from .._node.host import Process, format_time
from .._node.kubelet_config import ConfigFile, KubeletConfig, field
from .._node.kubelet_process import FIELDS, Flags
from .._node.redaction import is_proxy_name, redact_command_line, redact_document, redact_flag, redact_string, redact_value


def describe(unit: str | None, process: Process, flags: Flags) -> Dict[str, Any]:
    """The process and its flags."""
    return {
        "unit": unit,
        "pid": process.pid or None,
        "started": None if process.started is None else format_time(process.started),
        "argv": redact_command_line(process.argv) or None,
        "environment": sorted(_printable(name) for name in process.environment),
        "flags": {name: _describe_flag(name, flags) for name in flags},
    }


def proxies(process: Process) -> Dict[str, str]:
    """The proxies in the environment of a process, without their passwords."""
    return {name: redact_string(_printable(value)) for name, value in sorted(process.environment.items()) if is_proxy_name(name)}


def describe_config(config: KubeletConfig, flags: Flags, started: float | None) -> Dict[str, Any]:
    """The configuration files and what they result in. C(started): when kubelet was started, in seconds since 1970."""
    effective = config.effective
    return {
        "path": config.path,
        "folder": config.directory,
        "files": [_describe_file(file, started) for file in config.files],
        "effective": None if effective is None else redact_value(effective),
        "set_by_flags": _set_by_flags(flags, config.merged),
    }


def _describe_file(file: ConfigFile, started: float | None) -> Dict[str, Any]:
    """The text is shown only if it could not be merged."""
    is_newer = None if started is None or file.changed_at is None else file.changed_at > started
    text = None if file.text is None or file.value is not None else redact_document(file.text)
    return {"path": file.path, "format": file.format, "changed_since_start": is_newer, "text": text, "problem": file.problem}


def _set_by_flags(flags: Flags, config: Mapping[str, Any]) -> Dict[str, Any]:
    """Field → the flag that sets it, and its value in the files, which kubelet ignores (for featureGates only the same names)."""
    found = {}
    for name in sorted(flags):
        target = FIELDS.get(name)
        if target is not None:
            in_files = redact_value(field(config, target), target.rpartition(".")[2])
            found[target] = {"flag": name, "value": _describe_flag(name, flags), "in_files": in_files}
    return found


def _describe_flag(name: str, flags: Flags) -> Any:
    value = flags[name]
    return [redact_flag(name, one) for one in value] if isinstance(value, list) else redact_flag(name, value)


def _printable(text: str) -> str:
    """Bytes of an environment that are not UTF-8 cannot be returned as JSON."""
    return text.encode("utf-8", "replace").decode("utf-8")

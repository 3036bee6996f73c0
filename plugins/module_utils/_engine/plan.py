# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of a node as the action sends it: base64 of compressed JSON. It comes from our own library, so what does not fit is a
mismatch of versions or a damaged transfer, and nothing of it is touched."""

from __future__ import annotations

import base64
import binascii
import json
import re
import zlib

from .._node.errors import ApplyRefused

FORMAT = 1
FORMS = ("text", "json", "unit", "containerd")

_LARGEST = 16 * 1024 * 1024
_TEXT, _MAYBE, _FLAG, _WORDS = "a text", "a text or null", "a boolean", "a list of texts"
_LIST, _MAP, _MAYBE_MAP = "a list of mappings", "a mapping", "a mapping or null"

_PLAN = {
    "family": _TEXT, "strategy": _MAYBE, "os": _MAP, "cluster": _MAP, "registration": _MAP, "directories": _LIST, "files": _LIST,
    "owned": _WORDS, "snap_facts": _MAYBE_MAP, "steps": _LIST, "verify": _MAP,
}  # fmt: skip
_FILE = {
    "path": _TEXT, "content": _TEXT, "mode": _TEXT, "owner": _TEXT, "group": _TEXT, "form": _TEXT, "read_by": _WORDS, "sensitive": _FLAG,
}  # fmt: skip
_STEPS = {
    "once": {"script": _TEXT},
    "service": {"units": _WORDS, "enable": _WORDS, "active": _WORDS, "wait": _FLAG},
    "image_script": {"path": _TEXT, "writes": _WORDS, "kubelet": _TEXT, "containerd": _TEXT, "snap": _MAYBE},
    "snap": {"snap": _TEXT, "settings": _MAP, "unset": _WORDS, "unit": _TEXT},
}
_FITS = {
    _TEXT: lambda value: isinstance(value, str),
    _MAYBE: lambda value: value is None or isinstance(value, str),
    _FLAG: lambda value: isinstance(value, bool),
    _LIST: lambda value: isinstance(value, list) and all(isinstance(item, dict) for item in value),
    _WORDS: lambda value: isinstance(value, list) and all(isinstance(item, str) for item in value),
    _MAP: lambda value: isinstance(value, dict),
    _MAYBE_MAP: lambda value: value is None or isinstance(value, dict),
}
_UNIT = re.compile(r"[A-Za-z0-9:_.][A-Za-z0-9:_.@\\-]*\.(service|mount|socket|target)\Z")


def decode(text):
    """The plan as a mapping. Raises ApplyRefused for what is no plan of this format."""
    try:
        packed = base64.b64decode(text, validate=True)
        stream = zlib.decompressobj()
        plain = stream.decompress(packed, _LARGEST)
        if not stream.eof:
            raise ValueError("it is cut off or too large")
        plan = json.loads(plain.decode("utf-8"))
    except (binascii.Error, zlib.error, ValueError, RecursionError) as error:
        raise ApplyRefused(f"the plan cannot be read ({error}): it is made by the action nodebootstrap.eks.apply, never by hand") from None
    if not isinstance(plan, dict) or plan.get("format") != FORMAT:
        found = plan.get("format") if isinstance(plan, dict) else None
        raise ApplyRefused(
            f"the plan has format {found!r}, this module reads format {FORMAT}: action and module are of two versions of "
            "nodebootstrap.eks. Install the collection anew on the controller"
        )
    _check(plan, _PLAN, "the plan")
    _check(plan["os"], {"ID": _WORDS, "VERSION_ID": _WORDS, "name": _TEXT}, "os")
    _check(plan["cluster"], {"name": _TEXT, "endpoint": _TEXT}, "cluster")
    _check(plan["registration"], {"labels": _MAP, "taints": _WORDS}, "registration")
    _check(plan["verify"], {"units": _WORDS, "healthz": _MAYBE}, "verify")
    for folder in plan["directories"]:
        _check(folder, {"path": _TEXT, "mode": _TEXT}, "directories")
        _mode(folder["mode"], folder["path"])
    for file in plan["files"]:
        _check_file(file)
    for step in plan["steps"]:
        _check_step(step)
    _check_units(plan)
    return plan


def kubelet_unit(plan):
    """The unit that runs kubelet, or None."""
    return next((unit for unit in plan["verify"]["units"] if "kubelet" in unit), None)


def mode_of(entry):
    """The permission bits of a file or folder of a plan as a number."""
    return int(entry["mode"], 8)


def _check(value, fields, where):
    for name, kind in fields.items():
        if name not in value or not _FITS[kind](value[name]):
            raise ApplyRefused(f"the plan is damaged: {name} of {where} is not {kind}. Install the collection anew on the controller")


def _check_file(file):
    _check(file, _FILE, f"file {file.get('path')!r}")
    _mode(file["mode"], file["path"])
    if file["form"] not in FORMS:
        raise ApplyRefused(f"the plan is damaged: {file['path']} has the unknown form {file['form']!r}")


def _check_step(step):
    _check(step, {"name": _TEXT, "do": _TEXT}, "a step")
    if step["do"] not in _STEPS:
        raise ApplyRefused(f"the plan is damaged: step {step['name']!r} does {step['do']!r}, which this module does not know")
    _check(step, _STEPS[step["do"]], f"step {step['name']!r}")


def _check_units(plan):
    units = list(plan["verify"]["units"])
    for step in plan["steps"]:
        for field in ("units", "enable", "active"):
            units += step.get(field, [])
        units += [step[field] for field in ("kubelet", "containerd", "unit") if field in step]
    for unit in units:
        if not _UNIT.match(unit):
            raise ApplyRefused(f"the plan is damaged: {unit!r} is not the name of a unit")


def _mode(text, path):
    if not re.match(r"0?[0-7]{3}\Z", text):
        raise ApplyRefused(f"the plan is damaged: {path} has the mode {text!r}")

# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What nodeadm of July 2026 did with 434 inputs (data/nodeadm.json), row by row."""

from __future__ import annotations

import base64
import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tomllib
import yaml

RECORDED: dict[str, Any] = json.loads((Path(__file__).parent / "data" / "nodeadm.json").read_text())
CASES: list[dict[str, Any]] = RECORDED["cases"]
#: Rows of which the files are known that the config phase of `nodeadm init` wrote.
STARTED = [case for case in CASES if "init" in case]

#: The instance of the record: two CPUs, whatever its type; the address that its IMDS told for IPv6.
VCPUS, IPV6 = 2, "2001:db8::5"

_CA = "/etc/kubernetes/pki/ca.crt"
_ENVIRONMENT = "/etc/eks/kubelet/environment"
_ARGUMENTS = "NODEADM_KUBELET_ARGS"


def row_id(case: dict[str, Any]) -> str:
    return f"{case['group']}-{case['id']}"


def user_data(case: dict[str, Any]) -> bytes:
    if "user_data_base64" in case:
        return base64.b64decode(case["user_data_base64"])
    return str(case["user_data"]).encode()


def drop_ins(case: dict[str, Any]) -> dict[str, bytes]:
    return {name: text.encode() for name, text in case.get("drop_ins", {}).items()}


def files(case: dict[str, Any]) -> dict[str, Any]:
    """Path → the content of the file, for a row of STARTED that went well."""
    found = copy.deepcopy(RECORDED["baseline_files"])
    found[_CA] = base64.b64decode(case["merged"]["cluster"]["certificateAuthority"]).decode()
    for path, changed in case["init"]["changed"].items():
        if path not in found:
            found[path] = copy.deepcopy(changed)
            continue
        for key, value in changed.items():
            _set(found[path], key.removeprefix("/").split("/"), copy.deepcopy(value))
    for path in case["init"].get("absent", []):
        del found[path]
    return found


def _set(tree: dict[str, Any], keys: list[str], value: Any) -> None:
    for key in keys[:-1]:
        tree = tree[key]
    if value == {"absent": True}:
        del tree[keys[-1]]
    else:
        tree[keys[-1]] = value


def meaning(path: str, text: str, user_flags: list[str]) -> Any:
    """The content of a file in the shape of C(files)."""
    if path == _ENVIRONMENT:
        return dict(_environment(text, user_flags))
    if path.endswith(".toml"):
        return tomllib.loads(text)
    if path.endswith("kubeconfig"):
        return yaml.safe_load(text)
    if path.startswith("/etc/kubernetes/kubelet/") or path.endswith(".json"):
        return json.loads(text)
    return text


def _environment(text: str, user_flags: list[str]) -> Iterator[tuple[str, Any]]:
    for line in text.split("\n"):
        name, _unused, value = line.partition("=")
        if name != _ARGUMENTS:
            yield name, value
            continue
        users = " ".join(user_flags)
        assert value.endswith(users), "the user's flags come last, as they were written"
        yield "own_flags_as_a_set", sorted(value.removesuffix(users).split())
        yield "then", users

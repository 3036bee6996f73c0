# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A copy of the collection in which modules only record their options and give prepared answers.

Without it, a test that runs the action apply on this machine would set up this machine. The copy is the same for all tests of a process;
each test has a folder for the calls and the answers.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import errors

COLLECTION = Path(errors.__file__).parents[2]

# Without AnsibleModule, which would take most of the time of a test. So it checks names and types itself, and converts nothing.
_MODULE = """#!/usr/bin/python
# WANT_JSON
import json, os, sys
NAME, OPTIONS, FOLDER = {name!r}, {options!r}, os.environ["NODE_STAND_IN"]
with open(sys.argv[1]) as arguments:
    given = json.load(arguments)
params = dict((name, value) for name, value in given.items() if not name.startswith("_ansible_"))
for name, value in params.items():
    if type(value).__name__ not in OPTIONS.get(name, ()):
        sys.exit("{name}: the option %s with the value %r is not expected" % (name, value))
with open(os.path.join(FOLDER, "calls"), "a") as calls:
    calls.write(json.dumps([NAME, params, given["_ansible_check_mode"], given["_ansible_diff"]]) + "\\n")
with open(os.path.join(FOLDER, NAME)) as answers:
    answer, *more = json.load(answers)
if more:
    with open(os.path.join(FOLDER, NAME), "w") as answers:
        json.dump(more, answers)
print(json.dumps(answer))
"""
_APPLY_PLAN = {
    "plan": ["str"],
    "phases": ["list"],
    "state": ["str"],
    "restart": ["str"],
    "take_over": ["bool"],
    "reconcile": ["bool"],
    "drift": ["str"],
    "lock_timeout": ["int", "float"],
    "wait_timeout": ["int", "float"],
    "wait_for": ["str"],
}
#: Collection → module → option → names of its types.
_MODULES: Mapping[str, Mapping[str, Mapping[str, list[str]]]] = {
    "nodebootstrap.eks": {
        "anywhere_diagnostics": {
            "name": ["str"],
            "work_dir": ["str"],
            "kubeconfigs": ["dict"],
            "folder": ["str"],
            "timeout": ["int", "float"],
            "secrets": ["list"],
        },
        "anywhere_limits": {"max_user_watches": ["int"], "max_user_instances": ["int"]},
        "anywhere_tools": {"tools": ["list"], "folder": ["str"], "timeout": ["int", "float"], "staged": ["dict"]},
        "anywhere_images": {
            "cluster_file": ["str"],
            "cluster_api_version": ["str", "NoneType"],
            "clusterctl_arguments": ["list"],
            "clusterctl_config": ["str", "NoneType"],
            "bootstrap_image": ["str", "NoneType"],
            "images": ["list"],
            "manifests": ["list"],
            "output": ["str", "NoneType"],
            "timeout": ["int", "float"],
        },
        "anywhere_machine_info": {
            "tools": ["list"],
            "work_dir": ["str"],
            "files": ["list"],
            "addresses": ["list"],
            "registries": ["list"],
            "timeout": ["int", "float"],
        },
        "apply_plan": _APPLY_PLAN,
        "cluster_info": {"name": ["str"], "region": ["str"]},
        "doctor_logs": {"folder": ["str"], "timeout": ["int", "float"]},
        "image_import": {
            "images": ["list"],
            "folder": ["str"],
            "import": ["str"],
            "snapshotter": ["str"],
            "address": ["str"],
        },
        "image_lock": {"plan": ["dict"], "folder": ["str", "NoneType"], "timeout": ["int"]},
        "image_packages": {
            "family": ["str"],
            "packages": ["list"],
            "held": ["list"],
            "lock": ["dict"],
            "folder": ["str"],
        },
        "image_provenance": {"root": ["str"], "plan": ["dict"], "lock": ["str"]},
        "image_seal": {"root": ["str"], "ignore": ["list"], "mount_points": ["list"]},
        "image_verify": {"profile": ["str"], "kubernetes_version": ["str"], "ignore": ["list"]},
        "imds_info": {},
        "join_check": {"wait_for": ["str"], "wait_timeout": ["int", "float"]},
    },
    "kubernetes.core": {
        "k8s": {"state": ["str"], "definition": ["dict"]},
        "k8s_taint": {"name": ["str"], "state": ["str"], "taints": ["list"]},
    },
}
LARGE = {"changed": False, "imds": {"instance_type": "m5.large"}}
HEALTHY = {"changed": True, "healthy": True, "waited": 0.5, "actions": ["write /a", "restart kubelet.service"], "warnings": []}


def make(folder: Path, **answers: list[Any]) -> dict[str, str]:
    """Use C(folder) for calls and answers; the environment that a run of Ansible needs. answers: as for C(answer)."""
    answer(folder, **{"apply_plan": [HEALTHY], "imds_info": [LARGE], **answers})
    return {"ANSIBLE_COLLECTIONS_PATH": _COPY.name, "NODE_STAND_IN": str(folder)}


def _make_copy(root: Path) -> None:
    for collection, modules in _MODULES.items():
        folder = root.joinpath("ansible_collections", *collection.split("."), "plugins", "modules")
        folder.mkdir(parents=True)
        for name, options in modules.items():
            (folder / f"{name}.py").write_text(_MODULE.format(name=name, options=options), encoding="utf-8")
    plugins = [f"plugins/{name}" for name in ("action", "filter", "module_utils", "plugin_utils", "modules/apply.py")]
    for name in ("galaxy.yml", "meta", "roles", "playbooks", *plugins):
        (root / "ansible_collections/nodebootstrap/eks" / name).symlink_to(COLLECTION / name)


# Made when this file is imported: ansible-test runs each test in a process of its own that it ends without clean-up.
_COPY = tempfile.TemporaryDirectory()
_make_copy(Path(_COPY.name))


def answer(folder: Path, **answers: list[Any]) -> None:
    """What modules answer from now on, in order; the last answer is given again and again."""
    for name, given in answers.items():
        (folder / name).write_text(json.dumps(given), encoding="utf-8")


def calls(folder: Path) -> list[list[Any]]:
    """Name, options, check mode and diff mode of each call."""
    path = folder / "calls"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []

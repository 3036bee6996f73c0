# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the modules of the admin machine have in common: their options, the work folder, and errors as results."""

from __future__ import annotations

import os
from typing import Any, Callable, Dict, Mapping, Sequence

from . import work_folder
from .kubectl import without_secrets
from .programs import AdminPrograms, StepFailed
from .providers import PROVIDER_TYPES

Work = Callable[[AdminPrograms, Mapping[str, Any], bool], Dict[str, Any]]

WORK_DIR: Dict[str, Any] = {"work_dir": {"type": "path"}}
ENVIRONMENT: Dict[str, Any] = {"environment": {"type": "dict", "default": {}, "no_log": True}}
CLUSTER: Dict[str, Any] = {
    "kubeconfig": {"type": "path", "required": True},
    "name": {"type": "str", "required": True},
    "namespace": {"type": "str", "default": "eksa-system"},
}
PROVIDERS: Dict[str, Any] = {
    "type": "list",
    "elements": "dict",
    "options": {
        "name": {"type": "str", "required": True},
        "type": {"type": "str", "required": True, "choices": list(PROVIDER_TYPES)},
        "version": {"type": "str", "required": True},
    },
}
OBSERVED: Dict[str, Any] = {
    "name": {"type": "str", "required": True},
    "namespace": {"type": "str", "default": "eksa-system"},
    "bootstrap_name": {"type": "str", "required": True},
    "bootstrap_kubeconfig": {"type": "path", "required": True},
    "kubeconfig": {"type": "path", "required": True},
    "providers": dict(PROVIDERS, default=[]),
    "objects": {"type": "list", "elements": "dict", "default": []},
    "network": {"type": "list", "elements": "dict", "default": []},
    "machines_from": {"type": "str", "choices": ["docker", "machines", "none"], "default": "none"},
}
_HIDDEN = ("config", "values", "files", "environment", "chart_values")
_PATHS = ("work_dir", "kubeconfig", "bootstrap_kubeconfig", "dest")


def run_module(module: Any, work: Work, needed: Sequence[str], only_reads: bool = False) -> None:
    """Do the work of a module, and end it. needed: the programs that it runs. only_reads: it does not create the work folder."""
    options = {name: os.path.abspath(value) if name in _PATHS and value else value for name, value in module.params.items()}
    programs = AdminPrograms(options.get("work_dir"))
    absent = programs.missing(needed)
    if absent:
        _fail(module, "{0} is not in PATH; fix: install it on the machine where the module runs".format(", ".join(absent)))
    try:
        if options.get("work_dir") and not module.check_mode and not only_reads:
            work_folder.make(options["work_dir"])
        result = work(programs, options, module.check_mode)
    except (StepFailed, OSError) as error:
        _fail(module, str(error))
        return
    if not module._diff:
        result.pop("diff", None)
    module.exit_json(invocation=_invocation(module), **result)


def _fail(module: Any, message: str) -> None:
    module.fail_json(msg="{0}: {1}".format(module._name.rpartition(".")[2], message), invocation=_invocation(module))


def _invocation(module: Any) -> Dict[str, Any]:
    """The options for C(-vvv), without the values of Secrets and without files that may contain passwords."""
    shown = {name: value for name, value in module.params.items() if name not in _HIDDEN}
    for name in ("objects", "network"):
        if shown.get(name):
            shown[name] = [without_secrets(one) for one in shown[name]]
    return {"module_args": shown}

# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Imports Ansible and the collection once, and forks for each run of a program of Ansible.

Starting ansible-playbook takes over a second of processor time: Python imports Ansible, and Ansible's collection loader compiles the
collection, which it does without bytecode files. The server uses those of Python. C(ansible_runs.run) is the
interface for tests; this file is its server process.

A request is a line of JSON on standard input with the keys C(command), C(folder), C(environment), C(stdout) and C(stderr), the answer a
line with the exit status on standard output. The configuration of Ansible is read at the start of the server, so the environment of a
request has the same C(ANSIBLE_) variables as that of the server.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import traceback
from importlib import import_module
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any

# A run that takes longer is stuck.
TIMEOUT_SECONDS = 900


ACTIONS = sorted(path.stem for path in (Path(__file__).resolve().parents[2] / "plugins" / "action").glob("[!_]*.py"))
# Plugins that most runs use, and all actions of the collection. Any other plugin is imported by the run that needs it.
PLUGINS = {
    "action": ("debug", "include_vars", "normal", *(f"nodebootstrap.eks.{name}" for name in ACTIONS)),
    "inventory": ("auto", "host_list", "ini", "script", "toml", "yaml"),
    "strategy": ("linear",),
}
LIBRARY = "ansible_collections.nodebootstrap.eks.plugins.plugin_utils"
# What the library imports when it needs it.
LATE = ("artifacts.live_plan", "formats.toml", "formats.yaml_reader", "nodeconfig.merge", "rules")


def use_bytecode() -> None:
    """Let Ansible's loader of collections take the code of a file from Python's own loader, which keeps it as bytecode."""
    finder: Any = import_module("ansible.utils.collection_loader._collection_finder")
    loader = finder._AnsibleCollectionPkgLoaderBase
    compiled = loader.get_code

    def get_code(self: Any, fullname: str) -> CodeType | None:
        path = self.get_filename(fullname)
        if self._compiled_code is None and path and os.path.isfile(path):
            self._compiled_code = SourceFileLoader(fullname, path).get_code(fullname)
        code: CodeType | None = compiled(self, fullname)
        return code

    loader.get_code = get_code


def prepare() -> None:
    """Import what every run needs, and leave no thread and no state behind."""
    # The folder of this file is not a place for imports: it has a folder "plugins".
    del sys.path[0]
    from ansible import cli, constants
    from ansible.plugins import loader

    import_module("ansible.cli.playbook")
    # Waiting for a task a thousand times a second takes as much processor time as the task.
    constants.DEFAULT_INTERNAL_POLL_INTERVAL = 0.01
    use_bytecode()
    loader.init_plugin_loader()
    # Each run would do it again, with a warning.
    cli.init_plugin_loader = lambda *_paths: None
    for kind in ("become", "callback", "connection", "shell", "vars"):
        list(getattr(loader, f"{kind}_loader").all(class_only=True))
    for kind, names in PLUGINS.items():
        for name in names:
            getattr(loader, f"{kind}_loader").get(name, class_only=True)
    for name in LATE:
        import_module(f"{LIBRARY}.{name}")
    # The garbage collector of a run would touch, and so copy, all of the memory that it has in common with the server.
    gc.freeze()


def run(request: dict[str, Any]) -> None:
    """Become the program of a request. It does not return."""
    status = 255
    try:
        for name, descriptor in (("stdout", 1), ("stderr", 2)):
            os.dup2(os.open(request[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), descriptor)
        os.chdir(request["folder"])
        os.environ.clear()
        os.environ.update(request["environment"])
        signal.alarm(TIMEOUT_SECONDS)
        program, *_arguments = sys.argv = request["command"]
        import_module(f"ansible.cli.{program.removeprefix('ansible-')}").main()
        status = 0
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        # Without the exit handlers that this process has in common with the server.
        os._exit(status)


def main() -> None:
    requests, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    os.dup2(2, 1)
    prepare()
    for line in requests:
        child = os.fork()
        if not child:
            run(json.loads(line))
        _pid, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), file=answers, flush=True)


if __name__ == "__main__":
    main()

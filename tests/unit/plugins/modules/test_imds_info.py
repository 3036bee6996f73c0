# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module imds_info as a process of its own, as a node runs it; also under Python 3.7 where this machine has one."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ansible
import pytest

from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages, mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.imds_stand_in import (
    FACTS,
    IDENTITY_PATH,
    TOKEN_PATH,
    StandIn,
    serving,
)

MODULE = "ansible_collections.nodebootstrap.eks.plugins.modules.imds_info"
TOP = Path(__file__).resolve().parents[4]
SOURCES = (TOP / "plugins/modules/imds_info.py", TOP / "plugins/module_utils/_node/imds.py")

# What the module uses of AnsibleModule, for Pythons that today's ansible-core does not run on.
STAND_IN_FOR_ANSIBLE = """\
import json, sys
class AnsibleModule:
    def __init__(self, argument_spec, supports_check_mode):
        assert supports_check_mode
        given = json.loads(open(sys.argv[1]).read())["ANSIBLE_MODULE_ARGS"]
        self.params = {name: given.get(name, option["default"]) for name, option in argument_spec.items()}
    def exit_json(self, **result):
        print(json.dumps(result)); sys.exit(0)
    def fail_json(self, msg):
        print(json.dumps({"failed": True, "msg": msg})); sys.exit(1)
"""


def old_python() -> str:
    """Python 3.7 where there is one, otherwise this one."""
    roots = [os.environ.get("PYENV_ROOT", ""), str(Path.home() / ".pyenv")]
    found = [str(path) for root in roots if root for path in sorted(Path(root).glob("versions/3.7*/bin/python"))]
    return next(iter(found), sys.executable)


@pytest.fixture
def service() -> Iterator[StandIn]:
    with serving() as stand_in:
        yield stand_in


@pytest.fixture
def paths(tmp_path: Path) -> tuple[Path, Path]:
    """Two roots for imports: the collection, and a stand-in for Ansible."""
    collection, stand_in = tmp_path / "collection", tmp_path / "stand_in"
    link = collection / "ansible_collections/nodebootstrap/eks"
    link.parent.mkdir(parents=True)
    link.symlink_to(TOP, target_is_directory=True)
    package = stand_in / "ansible/module_utils"
    package.mkdir(parents=True)
    for name in ("ansible/__init__.py", "ansible/module_utils/__init__.py"):
        (stand_in / name).touch()
    (package / "basic.py").write_text(STAND_IN_FOR_ANSIBLE, encoding="utf-8")
    return collection, stand_in


def call(python: str, roots: list[Path], folder: Path, **arguments: Any) -> tuple[int, dict[str, Any]]:
    """Exit status and result; nothing may stand on the error stream."""
    given = folder / "arguments.json"
    given.write_text(json.dumps({"ANSIBLE_MODULE_ARGS": arguments}), encoding="utf-8")
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(map(str, roots)), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [python, "-m", MODULE, str(given)]
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False, timeout=900)
    assert done.stderr == ""
    return done.returncode, json.loads(done.stdout)


@pytest.fixture
def roots(paths: tuple[Path, Path]) -> list[Path]:
    return [paths[0], Path(str(ansible.__file__)).resolve().parents[1]]


@pytest.mark.parametrize("check", [False, True])
def test_it_answers(service: StandIn, roots: list[Path], tmp_path: Path, check: bool) -> None:
    status, result = call(sys.executable, roots, tmp_path, endpoint=service.endpoint, _ansible_check_mode=check)
    assert (status, result["imds"], result["changed"]) == (0, FACTS, False)
    assert service.count(TOKEN_PATH) == 1 and len(service.requests) == 6
    assert not [token for token in service.tokens if token in json.dumps(result)]


@pytest.mark.parametrize(
    ("faults", "arguments"),
    [
        ({TOKEN_PATH: [403] * 9}, {}),
        ({TOKEN_PATH: ["silent"] * 9}, {"timeout": 0.2, "retries": 1}),
        ({IDENTITY_PATH: [401]}, {}),
        ({}, {"endpoint": "http://127.0.0.1:1"}),
        ({}, {"endpoint": "http://example.com"}),
        ({}, {"timeout": 0}),
        ({}, {"retries": 11}),
        ({}, {"retries": "often"}),
    ],
)
def test_it_fails_with_a_sentence(
    service: StandIn, roots: list[Path], tmp_path: Path, faults: dict[str, Any], arguments: dict[str, Any], golden_message: GoldenMessages
) -> None:
    service.faults |= faults
    status, result = call(sys.executable, roots, tmp_path, **{"endpoint": service.endpoint, "retries": 0} | arguments)
    assert status == 1 and result["failed"]
    assert "Traceback" not in json.dumps(result)
    if arguments == {"retries": "often"}:
        assert mentions(result["msg"], "retries"), "the message of Ansible"
    else:
        golden_message(result["msg"], ENDPOINT=service.endpoint)


def test_it_runs_on_the_python_of_amazon_linux_2(
    service: StandIn, paths: tuple[Path, Path], tmp_path: Path, golden_message: GoldenMessages
) -> None:
    for source in SOURCES:
        ast.parse(source.read_text(encoding="utf-8"), feature_version=(3, 7))
    python = old_python()
    assert call(python, list(paths), tmp_path, endpoint=service.endpoint) == (0, {"changed": False, "imds": FACTS})
    service.faults[TOKEN_PATH] = ["silent"] * 9
    status, result = call(python, list(paths), tmp_path, endpoint=service.endpoint, timeout=0.2, retries=1)
    assert status == 1
    golden_message(result["msg"], ENDPOINT=service.endpoint)
    service.faults[TOKEN_PATH] = [b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nshort", 503, "close"]
    assert call(python, list(paths), tmp_path, endpoint=service.endpoint)[0] == 0
    status, result = call(python, list(paths), tmp_path, endpoint="http://[fd00:ec2::zz]")
    assert status == 1 and mentions(result["msg"], "http://[fd00:ec2::zz]")

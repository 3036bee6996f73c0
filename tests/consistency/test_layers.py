# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The library's layers import to the left only, and the library knows nothing of the world."""

from __future__ import annotations

import pytest

from ansible_collections.nodebootstrap.eks.tests.consistency import layers, project

NAMES = {name.removeprefix(f"{project.LIBRARY}/"): name for name in project.under(project.LIBRARY, ".py")}
MODULES = {layers.module_path(name) for name in NAMES}


NODE = "plugins/module_utils"
NODE_NAMES = {name.removeprefix(f"{NODE}/"): name for name in project.under(NODE, ".py")}
NODE_MODULES = {layers.module_path(name) for name in NODE_NAMES}


def test_both_halves_are_found() -> None:
    assert "errors.py" in NAMES and "_node/errors.py" in NODE_NAMES


def test_the_node_half_imports_along_its_layers() -> None:
    found = (layers.node_import_problems(name, project.text(path), NODE_MODULES) for name, path in NODE_NAMES.items())
    project.none_of(problem for problems in found for problem in problems)


@pytest.mark.parametrize(("names", "modules"), [(NAMES, MODULES), (NODE_NAMES, NODE_MODULES)], ids=["library", "node half"])
def test_no_files_import_each_other(names: dict[str, str], modules: set[tuple[str, ...]]) -> None:
    project.none_of(layers.import_cycles({name: project.text(path) for name, path in names.items()}, modules))


def test_imports_go_to_the_left() -> None:
    project.none_of(problem for name, path in NAMES.items() for problem in layers.import_problems(name, project.text(path), MODULES))


def test_the_library_is_pure() -> None:
    project.none_of(problem for name, path in NAMES.items() for problem in layers.purity_problems(name, project.text(path)))


def test_only_the_last_stage_touches_the_world() -> None:
    assert NAMES.keys() >= layers.TOUCHES_THE_WORLD
    assert {layers.module_path(name)[0] for name in layers.TOUCHES_THE_WORLD} == {"outputs"}


EXAMPLE_MODULES = {
    ("errors",),
    ("data",),
    ("formats",),
    ("formats", "yaml"),
    ("model", "spec"),
    ("families", "al2"),
    ("families", "al2023"),
    ("anywhere", "model"),
}


@pytest.mark.parametrize(
    ("name", "source", "message"),
    [
        ("data.py", "from .errors import Problems", None),
        ("errors.py", "from .data import table", "data does not stand left of errors"),
        ("formats/yaml.py", "from ..model.spec import NodeSpec", "model does not stand left of formats"),
        ("formats/yaml.py", "from .. import data", None),
        ("formats/yaml.py", "from .json import load", None),
        ("families/al2023.py", "from ..formats import yaml", None),
        ("families/al2023.py", "from .al2 import words", "families never import each other"),
        ("families/al2023.py", "from . import al2", "families never import each other"),
        ("families/registry.py", "from . import al2", None),
        ("importers/eksctl.py", "from ..outputs.user_data import user_data", "outputs does not stand left of importers"),
        ("anywhere/validate.py", "from ..errors import Problems", None),
        ("anywhere/validate.py", "from .model import Cluster", None),
        ("anywhere/validate.py", "from ..formats import yaml", None),
        ("anywhere/validate.py", "from ..model.spec import NodeSpec", "anywhere imports only"),
        ("families/al2023.py", "from ..anywhere.model import Cluster", "anywhere does not stand left of families"),
        ("outputs/user_data.py", "from ..anywhere import model", "anywhere does not stand left of outputs"),
        ("outputs/user_data.py", "from ..ansible_adapter import to_plain", "nothing in the library knows the border"),
        ("outputs/user_data.py", "from ..novelty import thing", "novelty has no place"),
        ("novelty.py", "", "novelty has no place"),
        ("ansible_adapter.py", "from .outputs.user_data import user_data", None),
    ],
)
def test_a_wrong_import_is_seen(name: str, source: str, message: str | None) -> None:
    problems = layers.import_problems(name, source, EXAMPLE_MODULES)
    assert [message in problem for problem in problems] == ([True] if message else [])


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import json\nfrom urllib.parse import urlsplit\nimport yaml", None),
        ("import os", "imports os"),
        ("from os import environ", "imports os.environ"),
        ("from urllib import request", "imports urllib.request"),
        ("import urllib.request", "imports urllib.request"),
        ("def f():\n    import time", "imports time"),
        ("from ansible.errors import AnsibleError", "imports ansible.errors"),
        ("import requests", "imports requests"),
        ("import tomlkit", "imports tomlkit at the top"),
        ("from email.message import EmailMessage", "at the top"),
        ("def f():\n    import tomlkit\n    from email.message import EmailMessage", None),
        ("x = datetime.datetime.now()", "asks the clock"),
        ("x = open('/etc/hosts')", "calls open()"),
        ("x = hash('a')", "calls hash()"),
        ("x = path.read_text()", "touches files"),
    ],
)
def test_an_impure_line_is_seen(source: str, message: str | None) -> None:
    problems = layers.purity_problems("formats/example.py", source)
    assert [message in problem for problem in problems] == ([True] if message else [])


def test_only_the_border_and_the_data_reader_are_free() -> None:
    assert layers.purity_problems("ansible_adapter.py", "from ansible.errors import AnsibleError") == []
    assert layers.purity_problems("data.py", "x = path.read_text()") == []


EXAMPLE_NODE_MODULES = {("_node", "files"), ("_node", "host"), ("_engine", "apply"), ("_join", "wait"), ("_aws", "client")}


@pytest.mark.parametrize(
    ("name", "source", "count"),
    [
        ("_node/files.py", "import os\nfrom .host import Host", 0),
        ("_engine/apply.py", "from .._node import files\nfrom .._join import wait", 0),
        ("_node/files.py", "from .._engine import apply", 1),
        ("_join/wait.py", "from .._engine.apply import run", 1),
        ("_aws/client.py", "from .._node import host", 1),
        ("_aws/client.py", "import boto3", 0),
        ("_join/wait.py", "import boto3", 1),
        ("_join/wait.py", "def f():\n    import requests", 1),
        ("_engine/apply.py", "from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import files", 1),
        ("novelty.py", "", 1),
    ],
)
def test_a_wrong_import_of_the_node_half_is_seen(name: str, source: str, count: int) -> None:
    assert len(layers.node_import_problems(name, source, EXAMPLE_NODE_MODULES)) == count


@pytest.mark.parametrize(
    ("first", "second", "third", "count"),
    [
        ("from . import b", "from . import c", "", 0),
        ("from . import b", "from . import a", "", 1),
        ("from . import b", "from . import c", "def f():\n    from .a import x", 1),
        ("from . import b", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .a import x", "", 0),
    ],
)
def test_a_cycle_is_seen(first: str, second: str, third: str, count: int) -> None:
    sources = {"p/a.py": first, "p/b.py": second, "p/c.py": third}
    assert len(layers.import_cycles(sources, {("p", "a"), ("p", "b"), ("p", "c")})) == count

# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The templates of examples/packer: Packer 1.6.6 validates what it can, and a dated table has the rest.

Packer 1.6.6 refuses the blocks in CUT, which a template needs today. They are cut from a copy, and the copy is validated. The blocks
themselves are only parsed, and compared with data/packer_options.yml. No current Packer reads them here.
"""

from __future__ import annotations

import io
import re
import shutil
from pathlib import Path
from typing import Any

import hcl2
import pytest
import yaml

from ansible_collections.nodebootstrap.eks.tests.oracle.packer import packer

HERE = Path(__file__).resolve().parent
EXAMPLE = HERE.parents[1] / "examples" / "packer"
FILES = ("plugins.pkr.hcl", "sources.pkr.hcl", "build.pkr.hcl")
SOURCES = ("al2023", "ubuntu")

CUT = {
    "packer": "plugins.pkr.hcl",
    "metadata_options": "sources.pkr.hcl",
    "imds_support": "sources.pkr.hcl",
}
"""What Packer 1.6.6 refuses, and the file that contains it."""

TABLE: dict[str, Any] = yaml.safe_load((HERE / "data" / "packer_options.yml").read_text(encoding="utf-8"))


def cut(text: str, name: str) -> str:
    """A formatted template without every attribute or block of a name."""
    return re.sub(rf"^(?P<indent> *){name}(?: = .*\n| \{{\n(?:.*\n)*?(?P=indent)\}}\n)", "", text, flags=re.MULTILINE)


def parsed(text: str) -> dict[str, Any]:
    """A template as plain data, without quotes and comments."""
    plain = _plain(hcl2.load(io.StringIO(text)))
    assert isinstance(plain, dict)
    return plain


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key.strip('"'): _plain(item) for key, item in value.items() if key not in ("__is_block__", "__comments__")}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value.strip('"') if isinstance(value, str) else value


def without(value: Any, name: str) -> Any:
    """Plain data without a key, at any depth."""
    if isinstance(value, dict):
        return {key: without(item, name) for key, item in value.items() if key != name}
    return [without(item, name) for item in value] if isinstance(value, list) else value


def text(file: str) -> str:
    return (EXAMPLE / file).read_text(encoding="utf-8")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the example without what Packer 1.6.6 refuses."""
    folder = tmp_path / "packer"
    shutil.copytree(EXAMPLE, folder)
    for name, file in CUT.items():
        (folder / file).write_text(cut((folder / file).read_text(encoding="utf-8"), name), encoding="utf-8")
    return folder


def test_packer_validates_the_templates(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = packer(copy, "validate", ".")
    assert done.returncode == 0, done.stdout + done.stderr
    kept = {file: _options(parsed((copy / file).read_text(encoding="utf-8"))) for file in FILES}
    with capsys.disabled():
        print("\nexamples/packer: validated by Packer 1.6.6:")
        print(*(f"  {file}: {count} options" for file, count in kept.items() if count), sep="\n")
        print(f"examples/packer: refused by Packer 1.6.6, compared with a table of {TABLE['date']}:")
        print(*(f"  {file}: {name}: {', '.join(_names(name))}" for name, file in CUT.items()), sep="\n")


def _options(value: Any) -> int:
    """How many attributes there are, at any depth."""
    if isinstance(value, dict):
        return sum(_options(item) for item in value.values())
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        return sum(_options(item) for item in value)
    return 1


def _names(name: str) -> list[str]:
    names = [*TABLE[name]["options"]]
    return ["required_version", "required_plugins"] if name == "packer" else names


def test_only_the_named_blocks_are_cut() -> None:
    for file in FILES:
        original, rest = parsed(text(file)), text(file)
        for name in (name for name, place in CUT.items() if place == file):
            rest, original = cut(rest, name), without(original, name)
        assert parsed(rest) == original
    assert _options(parsed(text("sources.pkr.hcl"))) > 40


@pytest.mark.parametrize(("name", "refused"), [("packer", "required_plugins"), *((name, name) for name in CUT if name != "packer")])
def test_packer_refuses_each_of_the_named_blocks(copy: Path, name: str, refused: str) -> None:
    """If this fails, Packer is new enough: remove the block from CUT."""
    rest = text(CUT[name])
    for other, file in CUT.items():
        if file == CUT[name] and other != name:
            rest = cut(rest, other)
    # 1.6.6 also refuses the required version, before it reads anything else.
    (copy / CUT[name]).write_text(cut(rest, "required_version"), encoding="utf-8")
    done = packer(copy, "validate", ".")
    assert done.returncode == 1 and f'"{refused}"' in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("file", "old", "new", "named"),
    [
        ("sources.pkr.hcl", "instance_type = var", "instance_typ = var", "instance_typ"),
        ("build.pkr.hcl", "use_proxy ", "use_prox ", "use_prox"),
        ("build.pkr.hcl", "/bake.yml", "/other.yml", "other.yml"),
    ],
)
def test_packer_finds_mistakes_in_the_rest(copy: Path, file: str, old: str, new: str, named: str) -> None:
    changed = text(file).replace(old, new, 1)
    for name in CUT:
        changed = cut(changed, name)
    (copy / file).write_text(changed, encoding="utf-8")
    done = packer(copy, "validate", ".")
    assert done.returncode == 1 and named in done.stdout + done.stderr


def problems(name: str, options: dict[str, Any]) -> list[str]:
    """What is wrong with the options of a cut block, by the table."""
    known: dict[str, dict[str, Any]] = TABLE[name]["options"]
    found = [f"{name}: unknown option {option}" for option in options if option not in known]
    found += [f"{name}: {option} is missing" for option, facts in known.items() if facts.get("required") and option not in options]
    return found + [
        f"{name}: {option}: {value!r}"
        for option, value in options.items()
        if "allowed" in known.get(option, {}) and value not in known[option]["allowed"]
    ]


def test_the_cut_blocks_agree_with_the_table() -> None:
    (block,) = parsed(text("plugins.pkr.hcl"))["packer"]
    (plugins,) = block.pop("required_plugins")
    found = problems("packer", block)
    for plugin in plugins.values():
        found += problems("required_plugins", plugin)
    assert {plugin["source"] for plugin in plugins.values()} == set(TABLE["required_plugins"]["options"]["source"]["allowed"])
    assert sorted(source for (source,) in _sources()) == sorted(SOURCES)
    for source in _sources():
        ((_name, options),) = source.items()
        (metadata,) = options["metadata_options"]
        found += problems("metadata_options", metadata)
        found += problems("imds_support", {"imds_support": options["imds_support"]} if "imds_support" in options else {})
    assert found == []


def _sources() -> list[dict[str, Any]]:
    return [source["amazon-ebs"] for source in parsed(text("sources.pkr.hcl"))["source"]]


@pytest.mark.parametrize("options", [{}, {"http_tokens": "optional"}, {"http_tokens": "required", "http_token": "x"}])
def test_the_table_finds_mistakes(options: dict[str, Any]) -> None:
    assert problems("metadata_options", options)


def test_the_templates_are_formatted() -> None:
    assert packer(EXAMPLE, "fmt", "-check", "-diff", ".").stdout == ""


def test_every_source_has_variables_of_its_family() -> None:
    for source in SOURCES:
        variables = yaml.safe_load(text(f"{source}.yml"))
        assert variables["eks_node_image"]["family"] == source

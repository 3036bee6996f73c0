# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of every layer. C(about), in seconds, decides which of them start first; it was measured on two cores and need not be exact."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from .lanes import Step, file_name

TOP = Path(__file__).resolve().parents[2]
REPORTS = TOP / ".cache" / "reports"
COPY = TOP / ".cache" / "lint"
COLLECTION = COPY / "ansible_collections" / "nodebootstrap" / "eks"
LIBRARY = "ansible_collections.nodebootstrap.eks.plugins.plugin_utils"
LAB = "ansible_collections.nodebootstrap.eks.tests.lab"


def pytest(name: str, about: float, *arguments: str, after: str = "") -> Step:
    """A pytest step, counted by its report."""
    report = ("--junitxml", str(REPORTS / f"{file_name(name)}.xml"), "-o", "junit_family=xunit2")
    return Step(name, ("python", "-m", "pytest", "-q", *report, *arguments), after=after, about=about)


def molecule(scenario: str) -> Step:
    """The whole sequence of a scenario of C(molecule/), its nodes removed at the end, whatever comes of it."""
    # Otherwise its working folder would be below the user's home.
    folder = str(TOP / ".cache" / "molecule" / scenario)
    command = ("molecule", "test", "--scenario-name", scenario)
    variables = (("MOLECULE_EPHEMERAL_DIRECTORY", folder),)
    if scenario == "join":
        # It waits for them without a word.
        return Step(f"molecule: {scenario}", command, variables=variables, after="lab: programs", about=120)
    return Step(f"molecule: {scenario}", command, variables=variables, about=75)


def cores() -> tuple[str, ...]:
    """The releases of ansible-core that tools/pythons.sh lists, oldest first."""
    command = ["bash", "-c", ". tools/pythons.sh; cores"]
    listed = subprocess.run(command, cwd=TOP, check=True, capture_output=True, text=True).stdout
    return tuple(line.partition(" ")[0] for line in listed.splitlines())


def ansible_test(what: str, core: str, *words: str, about: float = 220) -> Step:
    """ansible-test on one release of ansible-core."""
    return Step(f"{what}: ansible-core {core}", (str(TOP / "tools" / "ansible_test.sh"), what, core, *words), about=about)


def core_of_unit() -> str:
    """The release of ansible-core that layer unit runs with, the one in .venv; empty where there is none."""
    found = (TOP / ".venv" / "lib").glob("python3.*/site-packages/ansible_core-*.dist-info")
    return next((".".join(path.name.partition("-")[2].split(".")[:2]) for path in found), "")


def units() -> list[Step]:
    """What layer unit has shown is not shown again.

    The library knows no Ansible, so beside layer unit only the release with the newest Python runs its tests. Actions and roles
    are run by layer unit on its own ansible-core.
    """
    *older, newest = cores()
    steps = []
    for core in older:
        shown = ["plugins/plugin_utils", *(["plugins/action", "roles"] if core == core_of_unit() else [])]
        steps.append(ansible_test("units", core, *(word for folder in shown for word in ("--exclude", f"tests/unit/{folder}/"))))
    return [*steps, ansible_test("units", newest, about=450)]


def reports_of(step: Step) -> list[Path] | None:
    """The reports of a step that has some, as far as they are there; None for any other step."""
    if step.layer == "units":
        folder = TOP / ".cache" / f"units-{step.command[2]}" / "ansible_collections" / "nodebootstrap" / "eks"
        return sorted(folder.glob("tests/output/junit/*.xml"))
    if "--junitxml" in step.command:
        report = Path(step.command[step.command.index("--junitxml") + 1])
        return [report] if report.is_file() else []
    return None


def lint() -> list[Step]:
    """Some linters walk or copy the whole folder, virtual environments included, so they run on a copy of what git knows."""
    copied: dict[str, Any] = {
        "folder": COLLECTION,
        "variables": (("ANSIBLE_COLLECTIONS_PATH", str(COPY)),),
        "after": "lint: copy for linters",
    }
    plain = {
        "ruff check": ("ruff", "check", "--quiet", "--output-format=concise", "."),
        "ruff format": ("ruff", "format", "--check", "--quiet", "."),
        "yamllint": ("yamllint", "--strict", "."),
        "shellcheck": ("bash", "-c", "git ls-files -z '*.sh' .ci/run ':!tests/golden' | xargs -0 -r shellcheck -x"),
        "codespell": ("codespell",),
        "reuse": ("reuse", "lint", "--quiet"),
        "changelog": ("antsibull-changelog", "lint"),
    }
    # "dependent", not "all": "all" reads every collection that pip's ansible brings (two minutes), and whatever is neither ours
    # nor a dependency is refused anyway.
    references = ("--check-extra-docs-refs", "--validate-collection-refs=dependent", "--disallow-unknown-collection-refs")
    ansible_lint = ("ansible-lint", "--offline", "--profile", "production", "--strict", "--nocolor", "-q")
    mypy = ("mypy", "--config-file=pyproject.toml", "-p", LIBRARY)
    return [
        Step("lint: copy for linters", (str(TOP / "tools" / "collection_copy.sh"), str(COPY)), about=100),
        Step("lint: mypy", mypy, variables=(("MYPYPATH", str(TOP / ".cache")),)),
        Step("lint: ansible-lint", ansible_lint, about=40, **copied),
        Step("lint: antsibull-docs", ("antsibull-docs", "lint-collection-docs", "--plugin-docs", *references, "."), about=20, **copied),
        *(Step(f"lint: {name}", command) for name, command in plain.items()),
    ]


def lab() -> list[Step]:
    """Real kubelets join a real API server. The programs are built once for a machine, which takes minutes."""
    programs = Step("lab: programs", ("python", "-m", LAB, "build"), variables=(("PYTHONPATH", str(TOP / ".cache")),), about=1000)
    return [programs, pytest("lab: tests", 400, "tests/lab", after=programs.name)]


def layers() -> dict[str, list[Step]]:
    """The steps of every layer."""
    return {
        "lint": lint(),
        "consistency": [pytest("consistency", 120, "-n", "2", "tests/consistency")],
        "unit": [pytest("unit", 350, "-n", "2", "tests/unit")],
        "units": units(),
        "sanity": [ansible_test("sanity", core) for core in cores()],
        "package": [Step("package", (str(TOP / "tools" / "check_package.sh"),), about=60)],
        "oracle": [pytest("oracle", 1300, "tests/oracle")],
        "molecule": [molecule(path.parent.name) for path in sorted((TOP / "molecule").glob("*/molecule.yml"))],
        "lab": lab(),
    }

# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of every layer, and those of the matrix.

C(layers) is what C(make test) runs, C(matrix) what C(make matrix) runs: the same checks on more releases, with more random input, and
tests marked C(matrix). CONTRIBUTING.md lists what the matrix holds and which check in C(make test) covers the same property.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from .runner import Step, file_name

TOP = Path(__file__).resolve().parents[2]
REPORTS = TOP / ".cache" / "reports"
COPY = TOP / ".cache" / "lint"
COLLECTION = COPY / "ansible_collections" / "nodebootstrap" / "eks"
DOCS_PYTHON = str(TOP / ".cache" / "venv-docs" / "bin" / "python")
LIBRARY = "ansible_collections.nodebootstrap.eks.plugins.plugin_utils"
NODE_HALF = "ansible_collections.nodebootstrap.eks.plugins.module_utils"
LAB = "ansible_collections.nodebootstrap.eks.tests.lab"

#: Unit tests that show whether the oldest release of ansible-core runs each kind of plugin and a role. The library and module_utils
#: import no Ansible, and a play of oracle runs the modules on that release.
CORE_DEPENDENT = (
    "tests/unit/plugins/action/test_apply.py",
    "tests/unit/plugins/action/test_render.py",
    "tests/unit/plugins/filter/",
    "tests/unit/plugins/plugin_utils/test_ansible_adapter.py",
    "tests/unit/plugins/plugin_utils/test_ansible_imports.py",
    "tests/unit/plugins/test/",
    "tests/unit/roles/test_misspelt_fields.py",
)

#: The unit tests that depend on Ansible, by folder. The others import only the library or module_utils.
WITH_ANSIBLE = (
    "tests/unit/plugins/action/",
    "tests/unit/plugins/filter/",
    "tests/unit/plugins/modules/",
    "tests/unit/plugins/plugin_utils/test_ansible_adapter.py",
    "tests/unit/plugins/plugin_utils/test_ansible_imports.py",
    "tests/unit/plugins/test/",
    "tests/unit/roles/",
)

#: The tests of ansible-test that understand documentation, that import and compile, and that check style where ruff does not. The others
#: look for words and names of files, or are pylint, which takes longer than all of these together.
SANITY = (
    "action-plugin-docs", "ansible-doc", "compile", "import", "no-assert", "no-smart-quotes", "pep8", "runtime-metadata",
    "validate-modules", "yamllint",
)  # fmt: skip

#: Scenarios of molecule/ whose subject tests of oracle and lab show as well, by the module or by the playbook.
REPEATED_SCENARIOS = ("broken_connection", "check_first", "join", "values", "wrong_machine")

#: Sanity tests on the oldest release: whether Python 3.7, the oldest on the nodes, can compile and import what runs there.
OLD_NODES = ("--test", "compile", "--test", "import", "--python", "3.7")

#: Files of tests/oracle that share a step. A step takes as long as its slowest part, so files with many containers are spread over
#: several steps. The last step, C(oracle), has every file that is not named here.
ORACLE_GROUPS = {
    "transactions": ("test_transaction_crash.py", "test_transaction_boot.py", "test_systemd_quoting.py", "test_imds_info.py"),
    "live nodes": ("test_apply_plan.py", "test_apply_plan_images.py", "test_node_info.py", "test_doctor.py"),
    "drift": ("test_drift.py", "test_apply_kills.py"),
    "connections": ("test_connections.py", "test_al2023_boot.py"),
    "images": ("test_image_role.py", "test_image_cache.py", "test_image_seal.py"),
    "image inputs": ("test_image_inputs.py", "test_image_full_disk.py"),
}

#: Builds a container image with packages from PyPI, so it has a step of its own. All of its tests are marked C(matrix).
EXECUTION_ENVIRONMENT = "tests/oracle/test_execution_environment.py"

#: The step that builds the programs of the lab.
PROGRAMS = "lab: programs"

#: The files of tests/lab that have steps of their own. Labs wait side by side.
LAB_JOINS = (
    "test_join.py",
    "test_join_ipv6.py",
    "test_join_settings.py",
    "test_image_gc.py",
    "test_migration.py",
    "test_one_winner.py",
    "test_user_nodes.py",
)
#: Tests with real pods.
LAB_WORKLOADS = ("test_workloads.py", "test_drain_blockers.py", "test_node_drain.py", "test_upgrade.py")
LAB_BAKE = "tests/lab/test_bake.py"


def pytest(name: str, seconds: float, *arguments: str, after: str = "", variables: tuple[tuple[str, str], ...] = ()) -> Step:
    """Create a pytest step. Its tests are counted from its report."""
    report = ("--junitxml", str(REPORTS / f"{file_name(name)}.xml"), "-o", "junit_family=xunit2")
    command = ("python", "-m", "pytest", "-q", *report, *arguments)
    return Step(name, command, variables=variables, after=after, estimated_seconds=seconds)


def molecule(scenario: str) -> Step:
    """Create a step that runs the whole sequence of a scenario of C(molecule/) and always removes its nodes."""
    # By default, Molecule's working directory is below the user's home.
    folder = str(TOP / ".cache" / "molecule" / scenario)
    command = ("molecule", "test", "--scenario-name", scenario)
    # Without "after", the scenario join would wait for the programs without any output.
    after = PROGRAMS if scenario == "join" else ""
    seconds = {"join": 100, "default": 250}.get(scenario, 60)
    variables = (("MOLECULE_EPHEMERAL_DIRECTORY", folder),)
    return Step(f"molecule: {scenario}", command, variables=variables, after=after, estimated_seconds=seconds)


def scenarios() -> tuple[str, ...]:
    """Return the names of the Molecule scenarios."""
    return tuple(sorted(path.parent.name for path in (TOP / "molecule").glob("*/molecule.yml")))


def cores() -> tuple[str, ...]:
    """Return the releases of ansible-core that tools/pythons.sh lists, oldest first."""
    command = ["bash", "-c", ". tools/pythons.sh; cores"]
    listed = subprocess.run(command, cwd=TOP, check=True, capture_output=True, text=True).stdout
    return tuple(line.partition(" ")[0] for line in listed.splitlines())


def ansible_test(what: str, core: str, *arguments: str, seconds: float, detail: str = "") -> Step:
    """Create a step that runs ansible-test on one release of ansible-core."""
    name = f"{what.partition('-')[0]}: ansible-core {core}{detail}"
    return Step(name, (str(TOP / "tools" / "ansible_test.sh"), what, core, *arguments), estimated_seconds=seconds)


def units() -> list[Step]:
    """Create the step for the oldest release: layer unit uses a newer one."""
    return [ansible_test("units", cores()[0], *CORE_DEPENDENT, seconds=60)]


def sanity() -> list[Step]:
    """Create the steps of ansible-test sanity: what understands code on the newest release, and what old nodes need on the oldest.

    They check the files of the artifact. The linters check all files.
    """
    oldest, *_between, newest = cores()
    tests = [word for name in SANITY for word in ("--test", name)]
    return [ansible_test("sanity", newest, *tests, seconds=200), ansible_test("sanity", oldest, *OLD_NODES, seconds=40)]


def reports_of(step: Step) -> list[Path] | None:
    """Return the existing reports of a step that writes reports, and None for any other step."""
    if step.command[0].endswith("ansible_test.sh") and step.command[1] == "units":
        folder = TOP / ".cache" / f"units-{step.command[2]}" / "ansible_collections" / "nodebootstrap" / "eks"
        return sorted(folder.glob("tests/output/junit/*.xml"))
    if "--junitxml" in step.command:
        report = Path(step.command[step.command.index("--junitxml") + 1])
        return [report] if report.is_file() else []
    return None


def lint() -> list[Step]:
    """Create the steps of the linters. Linters that read the whole directory run on a copy of the files that git tracks."""
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
        "actionlint": ("actionlint",),
    }
    # "dependent", not "all": "all" reads every collection of the ansible package (two minutes), and a reference to a collection that is
    # not a dependency is refused anyway.
    references = ("--check-extra-docs-refs", "--validate-collection-refs=dependent", "--disallow-unknown-collection-refs")
    ansible_lint = ("ansible-lint", "--offline", "--profile", "production", "--strict", "--nocolor", "-q")
    mypy = ("mypy", "--config-file=pyproject.toml", "-p", LIBRARY, "-p", NODE_HALF)
    return [
        Step("lint: copy for linters", (str(TOP / "tools" / "collection_copy.sh"), str(COPY)), estimated_seconds=100),
        Step("lint: mypy", mypy, variables=(("MYPYPATH", str(TOP / ".cache")),), estimated_seconds=60),
        Step("lint: ansible-lint", ansible_lint, estimated_seconds=200, **copied),
        Step(
            "lint: antsibull-docs",
            ("antsibull-docs", "lint-collection-docs", "--plugin-docs", *references, "."),
            estimated_seconds=20,
            **copied,
        ),
        *(Step(f"lint: {name}", command) for name, command in plain.items()),
    ]


def unit() -> list[Step]:
    """Create the steps of tests that need no container: tests/unit, and those of tests/oracle that ask programs of this machine."""
    marked = ("-m", "not docker and not matrix")
    # The programs contain the packages of kubelet that these tests link, so that Go compiles them once.
    without = pytest("unit: oracle without containers", 300, "-n", "2", "--dist", "loadfile", *marked, "tests/oracle", after=PROGRAMS)
    return [pytest("unit", 1000, "-n", "2", "-m", "not matrix", "tests/unit"), without]


def oracle() -> list[Step]:
    """Create the steps of the tests that start containers, several files to a step."""

    def group(name: str, seconds: float, *arguments: str) -> Step:
        return pytest(name, seconds, "-m", "docker and not matrix", *arguments)

    named = {name: [f"tests/oracle/{file}" for file in files] for name, files in ORACLE_GROUPS.items()}
    rest = [word for files in named.values() for file in files for word in ("--ignore", file)]
    return [*(group(f"oracle: {name}", 300, *files) for name, files in named.items()), group("oracle", 300, "tests/oracle", *rest)]


def lab() -> list[Step]:
    """Create the steps of the lab, where real kubelets join a real API server. The programs are built once for each machine."""
    programs = Step(PROGRAMS, ("python", "-m", LAB, "build"), variables=(("PYTHONPATH", str(TOP / ".cache")),), estimated_seconds=1150)
    joins, workloads = ([f"tests/lab/{file}" for file in files] for files in (LAB_JOINS, LAB_WORKLOADS))
    rest = ["tests/lab", *(word for file in (*joins, *workloads, LAB_BAKE) for word in ("--ignore", file))]
    return [
        programs,
        pytest("lab: joins", 400, "-m", "not matrix", *joins, after=programs.name),
        pytest("lab: workloads", 350, "-m", "not matrix", *workloads, after=programs.name),
        pytest("lab: bake", 170, "-m", "not matrix", LAB_BAKE, after=programs.name),
        pytest("lab: failures", 400, "-m", "not matrix", *rest, after=programs.name),
    ]


def docs() -> list[Step]:
    """Create the step that builds the documentation site."""
    return [Step("docs", (DOCS_PYTHON, "tools/docsite/build.py"), estimated_seconds=60)]


def layers() -> dict[str, list[Step]]:
    """Return the steps of every layer of C(make test)."""
    return {
        "lint": lint(),
        "consistency": [pytest("consistency", 230, "-n", "2", "tests/consistency")],
        "unit": unit(),
        "units": units(),
        "sanity": sanity(),
        "docs": docs(),
        "package": [Step("package", (str(TOP / "tools" / "check_package.sh"),), estimated_seconds=60)],
        "oracle": oracle(),
        "molecule": [molecule(scenario) for scenario in scenarios() if scenario not in REPEATED_SCENARIOS],
        "lab": lab(),
    }


def matrix() -> list[Step]:
    """Return the steps of C(make matrix)."""
    thorough = (("HYPOTHESIS_PROFILE", "matrix"),)
    programs, *_tests = lab()
    *older, newest = cores()
    browser = (DOCS_PYTHON, "tools/docsite/check_browser.py", "--site", "out/reports")
    return [
        *(ansible_test("sanity-all-files", core, seconds=300, detail=", all files") for core in cores()),
        ansible_test("units", newest, seconds=600, detail=", all tests"),
        *(ansible_test("units", core, *WITH_ANSIBLE, seconds=120, detail=", all that depend on Ansible") for core in older),
        pytest("unit: more examples", 600, "-n", "2", "tests/unit", variables=thorough),
        pytest("unit: oracle without containers, more examples", 900, "-n", "2", "-m", "not docker", "tests/oracle", variables=thorough),
        pytest("oracle: matrix", 1300, "-m", "docker and matrix", "tests/oracle", "--ignore", EXECUTION_ENVIRONMENT),
        pytest("oracle: execution environment", 300, EXECUTION_ENVIRONMENT),
        *(molecule(scenario) for scenario in REPEATED_SCENARIOS),
        *docs(),
        Step("docs: browser", (DOCS_PYTHON, "tools/docsite/check_browser.py"), after="docs", estimated_seconds=180),
        Step("docs: reports", ("python", "tools/docsite/report_pages.py"), estimated_seconds=5),
        Step("docs: reports in a browser", browser, after="docs: reports", estimated_seconds=20),
        programs,
        pytest("lab: matrix", 1600, "-m", "matrix", "tests/lab", after=programs.name, variables=thorough),
    ]

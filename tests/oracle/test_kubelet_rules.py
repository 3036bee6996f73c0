# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubelet's own code takes what we render for Linux nodes, and refuses what we refuse, except for the listed rows.

C(kubelet_check.py) has the program, C(kubelet_groups.py) the groups.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import data
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problem, SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.kubelet_effective import effective_config
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.quantities import parse_duration
from ansible_collections.nodebootstrap.eks.tests.oracle import kubelet_check, kubelet_groups
from ansible_collections.nodebootstrap.eks.tests.oracle.kubelet_decoder import minors
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.kubelet_rows import ROWS, Row
from ansible_collections.nodebootstrap.eks.tools import record_refusals

#: 1.30 and 1.36 always; every other minor in the matrix.
MINORS = [pytest.param(minor, marks=() if minor in kubelet_groups.PINNED else pytest.mark.matrix) for minor in sorted(minors())]
FIRST_DROP_IN = {"al2": 29, "ubuntu": 30}
LAST = {"al2": 32, "al2-static": 32}

#: What we refuse although kubelet takes it: rule and top-level fields (none for any), with the reason.
STRICTER: dict[tuple[str, str], str] = {
    ("kubelet.flag_overrides_config", ""): "it has no effect beside the flag of the image",
    ("kubelet.unknown_value", "cgroupDriver"): "the program does not connect to a runtime, which is where kubelet compares it",
    ("kubelet.unknown_value", "configMapAndSecretChangeDetectionStrategy"): "kubelet reads it when it starts to watch",
    ("kubelet.out_of_range", "containerLogMaxFiles"): "before 1.33 kubelet refuses it when it makes the manager of logs",
    ("kubelet.invalid_value", "healthzBindAddress"): "the name of a host is taken, and an address that does not exist is only logged",
    ("kubelet.invalid_value", "containerRuntimeEndpoint imageServiceEndpoint"): "kubelet reads it when it connects",
    ("kubelet.invalid_value", "podLogsDir"): "kubelet takes a relative path of a file, not of a drop-in",
    ("kubelet.invalid_value", "reservedMemory"): "kubelet reads the NUMA node only with the static policy",
    ("kubelet.inconsistent_fields", "evictionSoftGracePeriod"): "a grace period without a threshold has no effect",
    ("kubelet.missing_feature_gate", "logging"): "kubelet loses options of logging in a drop-in before it validates them",
    ("kubelet.out_of_range", "logging"): "kubelet 1.30 loses a negative flushFrequency of a drop-in",
    ("kubelet.out_of_range", "maxPods"): "a zero is the default, or no pods; so many pods cannot run",
    ("input.out_of_range", "maxPods"): "the range of max_pods",
    ("strategy.missing_max_pods", ""): "the number beside it is refused",
    ("kubelet.out_of_range", "port"): "a zero is the default",
    ("input.invalid_quantity", "kubeReserved systemReserved"): "with reservedSystemCPUs, kubelet does not read other CPUs",
    ("kubelet.field_not_in_version", ""): "kubelet says that it does not know the field, and goes on without it",
    ("reserved.exceeds_capacity", ""): "kubelet compares the sum with the machine when it starts its manager of containers",
    ("kubelet.cgroup_version", ""): "Amazon Linux 2 has cgroup v1, and the machine of the test may have v2",
}


@pytest.fixture(scope="module")
def kubelet_of() -> Iterator[Callable[[int], kubelet_check.Kubelet]]:
    running: dict[int, kubelet_check.Kubelet] = {}

    def start(minor: int) -> kubelet_check.Kubelet:
        if minor not in running:
            running[minor] = kubelet_check.Kubelet(kubelet_check.build(minor))
        return running[minor]

    yield start
    for kubelet in running.values():
        kubelet.close()


Kubelets = Callable[[int], kubelet_check.Kubelet]


#: Gates that a patch added or changed which is newer than the one of the program.
CHANGED_BY_PATCH = {
    25: {"UnauthenticatedHTTP2DOSMitigation"},
    27: {"UnauthenticatedHTTP2DOSMitigation", "EventedPLEG", "WatchFromStorageWithoutResourceVersion"},
    31: {"OrderedNamespaceDeletion"},
    32: {"OrderedNamespaceDeletion"},
}


@pytest.mark.parametrize("minor", MINORS)
def test_feature_gates_are_those_of_kubelet(kubelet_of: Kubelets, minor: int) -> None:
    theirs = {name: [one["stage"] or "ga", one["default"], one["locked"]] for name, one in kubelet_of(minor).gates().items()}
    table = data.kubelet_gates()["gates"]
    ours = {name: row[2:] for name, rows in table.items() for row in rows if row[0] <= minor <= row[1]}
    known = {name: state for name, state in theirs.items() if name not in ("AllAlpha", "AllBeta")}
    unlike = {name for name in {*ours, *known} if ours.get(name) != known.get(name)}
    assert unlike == CHANGED_BY_PATCH.get(minor, set())


def leaves(tree: dict[str, Any], path: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in tree.items():
        found |= leaves(value, f"{path}{key}.") if isinstance(value, dict) else {f"{path}{key}": value}
    return found


@pytest.mark.parametrize("minor", MINORS)
def test_defaults_are_those_of_kubelet(kubelet_of: Kubelets, minor: int) -> None:
    own = {"failCgroupV1": False} if minor > 30 else {}
    args = list(kubelet_groups.unit_flags(minor))
    asked = {"config": json.dumps(kubelet_groups.HEAD | own), "args": args, "cpus": 2, "memory": 8 << 30, "effective": True}
    [answer] = kubelet_of(minor).ask([asked])
    theirs, ours = leaves(answer["effective"]), leaves(effective_config(minor, own, None))
    unlike = {path: (value, theirs.get(path)) for path, value in ours.items() if not same(value, theirs.get(path))}
    assert unlike == {}


def same(one: Any, other: Any) -> bool:
    return one == other or (parse_duration(one) is not None and parse_duration(one) == parse_duration(other))


def rows(minor: int) -> list[Row]:
    return [row for row in ROWS if row.minor == minor]


@pytest.mark.parametrize("minor", MINORS)
def test_kubelet_refuses_the_rows_and_takes_their_neighbours(kubelet_of: Kubelets, minor: int) -> None:
    # An endpoint is read when kubelet connects or listens. Of a NUMA node only the sums count. A drop-in can lose options of logging.
    later = (
        "containerRuntimeEndpoint",
        "healthzBindAddress",
        "reservedMemory[0].numaNode",
        "logging.options.text.splitStream",
        "logging.options.json.splitStream",
    )
    chosen = [row for row in rows(minor) if not row.path.startswith(later)]
    asked = [kubelet_groups.as_written(row.family, minor, config) for row in chosen for config in (row.refused, row.accepted)]
    answers = [answer.get("error", "") for answer in kubelet_of(minor).ask(asked)]
    assert [row.id for row, answer in zip(chosen, answers[::2], strict=True) if not answer] == [], "refused by us, taken by kubelet"
    assert [(row.id, answer) for row, answer in zip(chosen, answers[1::2], strict=True) if answer] == [], "neighbours"


@pytest.mark.parametrize("minor", [one for one in MINORS if one.values[0] >= 28])
def test_a_drop_in_keeps_the_settings_of_the_file_but_in_kubelet_1_28(kubelet_of: Kubelets, minor: int) -> None:
    text = json.dumps({**kubelet_groups.HEAD, "podPidsLimit": 100})
    asked = [kubelet_groups.question("al2023", minor, "", ()) | {"drop_in": drop_in, "effective": True} for drop_in in ("", text)]
    without, merged = (answer["effective"] for answer in kubelet_of(minor).ask(asked))
    changed = {name for name in without.keys() | merged.keys() if without.get(name) != merged.get(name)}
    lost = {"cgroupDriver", "evictionHard", "hairpinMode", "maxPods", "serializeImagePulls"}
    assert changed == {"podPidsLimit"} | (lost if minor == 28 else set())


@pytest.mark.parametrize("minor", kubelet_groups.PINNED)
def test_go_compiles_no_package_again_that_the_kubelet_of_the_lab_has(minor: int) -> None:
    """With -trimpath, a package that comes from another version of its module is compiled again, even if its source is the same."""
    own, labs = kubelet_check.selected(minor)
    assert len(own.keys() & labs.keys()) > 1_000
    assert {name: (own[name], labs[name]) for name in own.keys() & labs.keys() if own[name] != labs[name]} == {}


@pytest.mark.parametrize("minor", kubelet_groups.PINNED)
def test_the_recorded_errors_are_those_of_kubelet(kubelet_of: Kubelets, minor: int) -> None:
    """join_check finds causes in them: tests/unit/plugins/module_utils/_join/test_refusals.py."""
    recorded = json.loads(record_refusals.FILE.read_text(encoding="utf-8"))
    found = record_refusals.refusals(kubelet_of(minor), minor)
    assert found == [one for one in recorded if one["id"].startswith(f"1.{minor} ")], "run tools/record_refusals.py"


_FORMAT = re.compile(r'Errorf\("((?:[^"\\]|\\.)*)"')
_VERB = re.compile(r"%[#+]?[a-z]|%%")
_FUNCTION = re.compile(r"^func (?:\([^)]*\) )?(\w+)\(.*?^}", re.MULTILINE | re.DOTALL)

#: What kubelet calls with its configuration after the validation: the functions of a file, or all of them.
STARTING: dict[str, tuple[str, ...]] = {
    "cmd/kubelet/app/server.go": ("parseResourceList",),
    "pkg/kubelet/cm/container_manager.go": ("ParseQOSReserved", "parsePercentage"),
    "pkg/kubelet/cm/cpumanager/cpu_manager.go": ("NewManager",),
    "pkg/kubelet/cm/cpumanager/policy_options.go": (),
    "pkg/kubelet/cm/cpumanager/policy_static.go": ("NewStaticPolicy",),
    "pkg/kubelet/cm/memorymanager/memory_manager.go": ("NewManager", "validateReservedMemory", "getSystemReservedMemory"),
    "pkg/kubelet/cm/memorymanager/policy_static.go": ("NewPolicyStatic",),
    "pkg/kubelet/cm/topologymanager/policy_options.go": (),
    "pkg/kubelet/cm/topologymanager/topology_manager.go": ("NewManager",),
    "pkg/kubelet/eviction/helpers.go": (
        "ParseThresholdConfig",
        "parseThresholdStatements",
        "parseThresholdStatement",
        "parseGracePeriods",
        "parseMinimumReclaims",
        "parsePercentage",
    ),
    "pkg/kubelet/sysctl/allowlist.go": ("NewAllowlist",),
}

#: Errors that no configuration reaches here: a part of their text, the first minor, and the reason.
UNREACHED = (
    ("MaxContainerRestartPeriod must be set", 36, "it has a default"),
    ("memoryThrottlingFactor is required", 30, "it has a default"),
    ("podLogsDir was not specified", 36, "it has a default, in drop-ins from 1.32 on"),
    ("containerRuntimeEndpoint was not specified", 36, "it has a default, in drop-ins from 1.32 on"),
    ("ImageMaximumGCAge feature gate is required", 36, "the gate is locked"),
    ("NodeLogQuery feature gate is required", 36, "the gate is locked"),
    ("when NodeSwap feature flag is disabled", 36, "the gate is locked"),
    ("when using cgroup v1", 36, "the machine may have v2"),
    ("not run on a host using cgroup v1", 36, "the machine may have v2"),
    ("Beta-level Options not enabled", 36, "no option of the CPU manager is beta"),
    ("topology manager policy alpha-level options", 30, "no option of the topology manager is alpha"),
    ("topology manager policy beta-level options", 36, "no option of the topology manager is beta"),
    ("unsupported cpumanager option", 30, "unknown names are refused before"),
    ("unsupported topologymanager option", 30, "unknown names are refused before"),
    ("unknown scope", 30, "the validation refuses it"),
    ("you should specify the system reserved memory", 30, "the sums are compared before"),
    ("unable to build the reserved physical CPUs", 30, "the machine here has one thread a core"),
    ("number of sockets are more than number of NUMA", 30, "the machine here has two NUMA nodes"),
    ("on machines with more than %v NUMA Nodes", 30, "the machine here has two NUMA nodes"),
    ("cannot discover NUMA topology", 30, "the machine here has one"),
    ("is not available on Windows", 36, "the program is one for Linux"),
    ("is not available for platform", 36, "the program is one for Linux"),
)

#: Refused in another way first: taints and reservations have fields of their own, without the gate the policy's default is refused, and
#: the instance type tells how many CPUs there are.
MORE: tuple[dict[str, Any], ...] = (
    {"registerWithTaints": [{"key": "a b", "effect": "NoSchedule"}]},
    {"registerWithTaints": [{"key": "a", "effect": "NoSchedule", "timeAdded": "2026-01-01T00:00:00Z"}]},
    {"preloadedImagesVerificationAllowlist": ["a.io/b"], "featureGates": {"KubeletEnsureSecretPulledImages": False}},
    {"cpuManagerPolicy": "static", "kubeReserved": {"cpu": "5"}},
    {"kubeReserved": {"cpu": "abc"}},
    {"kubeReserved": {"cpu": "-1"}},
)


def beyond(minor: int) -> Iterator[dict[str, Any]]:
    """A configuration for each limit, and each choice, of the table of fields: one step beyond."""
    for name, row in data.kubelet_fields()["fields"].items():
        if row.get("since", 0) <= minor <= row.get("until", minor):
            items = row.get("items", row)
            values = [row[limit] + step for limit, step in (("minimum", -1), ("maximum", 1)) if limit in row]
            # A zero is often the default.
            values += [-1] if row.get("minimum", 0) > 0 else []
            values += [["nosuch"] if items is not row else "nosuch"] if "enum" in items else []
            yield from ({name: value} for value in values)


def errors_of(minor: int) -> set[str]:
    """The formats of the errors in kubelet's validation, and in what its managers call when it starts."""
    sources = kubelet_check.sources(minor)
    folder = sources / "pkg/kubelet/apis/config/validation"
    files = [folder / f"validation{part}.go" for part in ("", "_linux", "_reserved_memory")]
    code = [path.read_text(encoding="utf-8") for path in files if path.is_file()]
    for name, functions in STARTING.items():
        text = (sources / name).read_text(encoding="utf-8")
        found = [(body[1], body[0]) for body in _FUNCTION.finditer(text)]
        code += [body for function, body in found if not functions or function in functions]
    return {json.loads(f'"{text}"') for text in _FORMAT.findall("\n".join(code))}


@pytest.mark.parametrize("minor", kubelet_groups.PINNED)
def test_every_error_of_kubelet_is_reached(kubelet_of: Kubelets, minor: int) -> None:
    """By the rows, which have an accepted neighbour each, or by a step beyond a limit of the table."""
    for config in MORE:
        refused_here = config.keys() <= set(kubelet_groups.fields(minor))
        assert not refused_here or isinstance(kubelet_groups.rendered("al2023", minor, config), SpecError), config
    configs = [row.refused for row in ROWS if row.refused.keys() <= set(kubelet_groups.fields(minor))]
    asked = [kubelet_groups.as_written("al2023", minor, config) for config in (*configs, *MORE, *beyond(minor))]
    said = "\n".join(answer.get("error", "") for answer in kubelet_of(minor).ask(asked))
    patterns = {text: ".*".join(map(re.escape, _VERB.split(text))) for text in errors_of(minor)}
    missing = {text.lower() for text, pattern in patterns.items() if not re.search(pattern, said)}
    expected = [part.lower() for part, since, _reason in UNREACHED if since <= minor]
    assert [text for text in sorted(missing) if not any(part in text for part in expected)] == []
    assert [part for part in expected if not any(part in text for text in missing)] == []


def stricter(problem: Problem) -> bool:
    field = problem.path.removeprefix("node_group.kubelet.config.").partition(".")[0].partition("[")[0]
    return any(rule == problem.rule and field in (fields.split() or [field]) for rule, fields in STRICTER)


def runs(way: str, minor: int) -> bool:
    """Whether a way exists with a configuration in this minor."""
    return FIRST_DROP_IN.get(way, 24) <= minor <= LAST.get(way, 36)


def compare(kubelet: kubelet_check.Kubelet, way: str, minor: int, count: int) -> tuple[list[Any], list[Any], Counter[str]]:
    """(rendered and refused by kubelet, refused by us and taken by kubelet without a reason, what happened how often)."""
    asked: list[tuple[dict[str, Any], SpecError | None]] = []

    def questions() -> Iterator[dict[str, Any]]:
        for config in kubelet_groups.configurations(minor, f"{way} 1.{minor}", count):
            result = kubelet_groups.rendered(way, minor, config)
            refused = result if isinstance(result, SpecError) else None
            asked.append((config, refused))
            yield kubelet_groups.as_written(way, minor, config) if isinstance(result, SpecError) else result[1]

    wrong, needless, seen = [], [], Counter[str]()
    for index, answer in enumerate(kubelet.ask(questions())):
        config, error = asked[index]
        is_taken = "error" not in answer
        seen["rendered" if error is None else "refused"] += 1
        seen["taken"] += is_taken
        if error is None and not is_taken:
            wrong.append((config, answer["stage"], answer["error"]))
        elif error is not None and is_taken:
            seen["refused and taken"] += 1
            if not all(map(stricter, error.problems)):
                needless.append((config, [str(problem) for problem in error.problems if not stricter(problem)]))
    return wrong, needless, seen


#: Groups of each Linux family, over its strategies and minors.
FULL = 20_000
GROUPS = {"matrix": FULL, "fuzz": 100_000}.get(os.environ.get("HYPOTHESIS_PROFILE", ""), 600)


def share(way: str, minor: int) -> int:
    """How many of the groups of its family a way gets in a minor; minors that are only in the matrix get some beside them."""
    family = kubelet_groups.WAYS[way]["family"]
    ways = [other for other, fields in kubelet_groups.WAYS.items() if fields["family"] == family]
    pairs = [(other, pinned) for other in ways for pinned in kubelet_groups.PINNED if runs(other, pinned)]
    return GROUPS // len(pairs) if minor in kubelet_groups.PINNED else 500


def ways_and_minors() -> list[Any]:
    """Each way with the minors in which it has a configuration; al2 ends before the newest."""
    return [
        pytest.param(way, *minor.values, id=f"{way}-{minor.id or minor.values[0]}", marks=minor.marks)
        for way in kubelet_groups.WAYS
        for minor in MINORS
        if runs(way, minor.values[0])
    ]


@pytest.mark.fuzz
@pytest.mark.parametrize(("way", "minor"), ways_and_minors())
def test_what_we_render_kubelet_takes(kubelet_of: Kubelets, say: Callable[[str], None], way: str, minor: int) -> None:
    count = share(way, minor)
    wrong, needless, seen = compare(kubelet_of(minor), way, minor, count)
    figures = ", ".join(f"{number} {what}" for what, number in sorted(seen.items()))
    say(f"{way} 1.{minor}: {count} groups, {figures}; {len(wrong)} rendered that kubelet refuses, {len(needless)} refused without a reason")
    assert wrong[:5] == []
    assert needless[:5] == []
    assert 0.3 <= seen["rendered"] / count <= 0.7


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Callable[[str], None]:
    """Print figures: at once where the groups are many, otherwise with a failure."""

    def print_line(line: str) -> None:
        if GROUPS < FULL:
            print(line)
        else:
            with capsys.disabled():
                print(f"\n{line}")

    return print_line


@pytest.mark.parametrize("family", sorted({fields["family"] for fields in kubelet_groups.WAYS.values()}))
def test_the_groups_of_a_family_contain_enough(say: Callable[[str], None], family: str) -> None:
    """Every field, values at limits, and both sides of every pair; in C(make test) as many as its part of the groups gives."""
    tally, dealt, pairs = kubelet_groups.Tally(), set(), set()
    ways = [way for way, fields in kubelet_groups.WAYS.items() if fields["family"] == family]
    for way, minor in [(way, minor) for way in ways for minor in kubelet_groups.PINNED if runs(way, minor)]:
        list(kubelet_groups.configurations(minor, f"{way} 1.{minor}", share(way, minor), tally))
        dealt |= set(kubelet_groups.fields(minor))
        pairs |= {(row.id, is_refused) for sides in kubelet_groups.pieces(minor).values() for row, is_refused in sides}
    seen = {(name, True) for name in tally.refused} | {(name, False) for name in tally.accepted}
    least = min(tally.fields[name] for name in dealt)
    say(
        f"{family}: {tally.groups} groups, every one of {len(dealt)} fields in {least} or more, {tally.at_limit / tally.groups:.0%} with a "
        f"value at a limit or beyond, {len(seen)} of {len(pairs)} sides of the pairs"
    )
    assert least >= 200 * GROUPS // FULL
    assert tally.at_limit >= tally.groups / 2
    assert len(seen) >= len(pairs) * min(1, 10 * GROUPS / FULL)


def test_the_list_of_stricter_rules_is_short() -> None:
    assert len(STRICTER) <= 20

# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""formats/systemd.py against real systemd: whatever is quoted arrives as it was, thousands of hostile values in one unit."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable, Iterator, Sequence

import pytest
from nodelab import CloudInitNode, Node

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import systemd

pytestmark = pytest.mark.docker

UNIT = "/etc/systemd/system/quoting.service"
RECORDER = "/opt/recorder.py"

#: Says what it was given; surrogates stand for bytes that are no UTF-8.
RECORDER_TEXT = """
import json, os, sys
with open("/run/recorded/quoting.json", "w") as handle:
    json.dump({"argv": sys.argv[1:], "environment": dict(os.environ)}, handle)
"""

#: Each of these is something to systemd: a specifier, a variable, a quote, an escape, a separator, a comment, a prefix, an option.
HOSTILE = [
    "", " ", "  two  ", " lead", "trail ", "%", "%%", "%b", "%n", "%%b", "%%%b", "100%", "%{x}", "%h/%u", "%i%I%%",
    "$HOME", "${HOME}", "$$", "$", "${", "$1", "$(id)", "`id`", "a$b", "$HOME'$HOME\"",
    "'", '"', "''", '""', "it's", 'say "x"', "'quoted'", '"quoted"', "a'b\"c", "\"'\"'",
    "\\", "\\\\", "\\n", "\\t", "\\x41", "\\u0041", "\\101", "\\s", "end\\", "\\ ", "\\'", '\\"', "\\$", "\\%b", "a\\b\\", "C:\\new",
    ";", "; rm -rf /", "a;b", "&&", "|", "#", "# c", ";c", "a#b", "=", "==", "a=b=c", "=x", "KEY=value other=1",
    "-", "--", "--x=y", "@", "!", "!!", "+", ":", "-a", "*", "?", "[a-z]", "{a,b}", "~", "!x", "<x>", "(", ")",
    "\t", "a\tb", "\ta", "a\t",
    "é", "日本語", "\U0001f600", "e\u0301", "\u00a0", "\u2028", "\u2029", "\u0085", "\u200b", "\ufeff", "\u202e",
    "\ufffd", "\ufffe", "\uffff", "\ufdd0", "\U0001fffe", "\U0010ffff", "\x80", "\x9f", "\x7f", "\x01", "\x1b[31m", "\x0b", "\x0c",
    "eks.amazonaws.com/nodegroup=a,b=c", "k=v:NoSchedule", "memory.available<5%", '{"a": "b c"}', "[a, 'b']", "https://x/?a=%20&b=$c",
    "a" * 4000, "%" * 50, "\\" * 51, "'" * 7 + '"' * 7,
]  # fmt: skip

ALPHABET = "".join(sorted(set("".join(HOSTILE)))) + "\\\\\\%%%$$$''\"\"  " + "abcxyzbBnNtTsuU01"


def hostile_values(count: int, seed: int) -> list[str]:
    """The table, then random mixtures of its values (the same ones in every run: the seed is fixed)."""
    dice = random.Random(seed)

    def mixtures() -> Iterator[str]:
        while True:
            length = dice.choice((1, 1, 2, 2, 3, 4, 6, 9, 14, 30))
            if dice.random() < 0.5:
                yield "".join(dice.choices(ALPHABET, k=length))
            else:
                yield "".join(dice.choice(HOSTILE[:-4]) for _unused in range(min(length, 5)))

    return list(itertools.islice(itertools.chain(HOSTILE, mixtures()), count))


def allowed(values: Sequence[str], problem: Callable[[str], str | None]) -> list[str]:
    kept = [value for value in values if problem(value) is None]
    # A quoting that refuses nearly everything would pass any test.
    assert len(kept) > len(values) / 3
    return kept


def recorded(node: Node, unit: str, files: dict[str, str] | None = None) -> dict[str, object]:
    """Start a unit that runs the recorder; what arrived there."""
    node.write({UNIT: unit, RECORDER: RECORDER_TEXT, **(files or {})})
    node.exec(["rm", "-f", "/run/recorded/quoting.json"])
    node.exec(["systemctl", "daemon-reload"], check=True)
    started = node.exec(["systemctl", "start", "quoting.service"])
    assert started.returncode == 0, node.journal("quoting.service")[-2000:]
    found: dict[str, object] = json.loads(node.read("/run/recorded/quoting.json"))
    return found


def differences(wanted: Sequence[object], got: Sequence[object]) -> list[tuple[object, object]]:
    """The first few values that did not arrive as they were: a diff of thousands does not help."""
    found = [(want, have) for want, have in itertools.zip_longest(wanted, got) if want != have]
    return found[:10]


@pytest.fixture(params=["bookworm", "trixie"])
def node(request: pytest.FixtureRequest) -> CloudInitNode:
    """systemd 252 and 257."""
    name = {"bookworm": "cloud_init", "trixie": "cloud_init_new"}[request.param]
    found: CloudInitNode = request.getfixturevalue(name)
    return found


def service(*lines: str) -> str:
    return "\n".join(["[Service]", "Type=oneshot", *lines, ""])


def test_environment_assignments_arrive_unchanged(node: CloudInitNode) -> None:
    values = allowed(hostile_values(3000, 1), systemd.systemd_problem)
    lines = [f"Environment={systemd.environment_assignment(f'V{number}', value)}" for number, value in enumerate(values)]
    environment = recorded(node, service(*lines, f"ExecStart=/usr/bin/python3 {RECORDER}"))["environment"]
    assert isinstance(environment, dict)
    assert differences(values, [environment.get(f"V{number}") for number in range(len(values))]) == []


def test_assignments_side_by_side_on_one_line_stay_apart(node: CloudInitNode) -> None:
    values = allowed(hostile_values(600, 2), systemd.systemd_problem)
    words = " ".join(systemd.environment_assignment(f"V{number}", value) for number, value in enumerate(values))
    environment = recorded(node, service(f"Environment={words}", f"ExecStart=/usr/bin/python3 {RECORDER}"))["environment"]
    assert isinstance(environment, dict)
    assert differences(values, [environment.get(f"V{number}") for number in range(len(values))]) == []


def test_exec_words_arrive_unchanged(node: CloudInitNode) -> None:
    values = allowed(hostile_values(3000, 4), systemd.systemd_problem)
    words = " ".join(systemd.exec_word(value) for value in values)
    arrived = recorded(node, service(f"ExecStart=/usr/bin/python3 {RECORDER} {words}"))["argv"]
    assert isinstance(arrived, list)
    assert differences(values, arrived) == []


def test_al2_extra_args_survive_the_paste_and_the_split(node: CloudInitNode) -> None:
    """The image's own line, Environment='KUBELET_EXTRA_ARGS=…' and an unbraced variable in ExecStart, once per list of words."""
    words = allowed(hostile_values(6000, 5), systemd.al2_extra_args_problem)
    dice = random.Random(6)
    lists = []
    while words:
        size = dice.choice((1, 1, 2, 3, 5))
        lists.append(words[:size])
        words = words[size:]
    lines = [f"Environment='A{number}={systemd.al2_extra_args(case)}'" for number, case in enumerate(lists)]
    variables = " ".join(f"$A{number} -next-case-" for number in range(len(lists)))
    arrived = recorded(node, service(*lines, f"ExecStart=/usr/bin/python3 {RECORDER} {variables}"))["argv"]
    assert isinstance(arrived, list)
    cases = [list(group) for end, group in itertools.groupby(arrived, lambda word: word == "-next-case-") if not end]
    assert differences(lists, cases) == []


def test_a_specifier_never_becomes_what_it_stands_for(node: CloudInitNode) -> None:
    """%b is the boot id: the case that other tools get wrong, with the boot id in hand."""
    boot = node.read("/proc/sys/kernel/random/boot_id").decode().strip().replace("-", "")
    naive = recorded(node, service("Environment=V=%b", f"ExecStart=/usr/bin/python3 {RECORDER} %b"))
    assert naive["argv"] == [boot] and naive["environment"]["V"] == boot
    word, assignment = systemd.exec_word("%b"), systemd.environment_assignment("V", "%b")
    quoted = recorded(node, service(f"Environment={assignment}", f"ExecStart=/usr/bin/python3 {RECORDER} {word}"))
    assert quoted["argv"] == ["%b"] and quoted["environment"]["V"] == "%b"


def test_a_unit_is_read_back_as_it_was_meant(node: CloudInitNode) -> None:
    """Directives of `unit()`: repeated ones are all there, an empty one resets the list."""
    command = ["/usr/bin/python3", RECORDER, "a b", "%n", "$PATH"]
    text = systemd.unit(
        {
            "Unit": [("Description", "quoting")],
            "Service": [
                ("Type", "oneshot"),
                ("Environment", systemd.environment_assignment("GONE", "1")),
                ("Environment", ""),
                ("Environment", systemd.environment_assignment("KEPT", "x y")),
                ("ExecStart", " ".join([command[0], *map(systemd.exec_word, command[1:])])),
            ],
        }
    )
    found = recorded(node, text)
    assert found["argv"] == command[2:]
    assert isinstance(found["environment"], dict)
    assert found["environment"].get("KEPT") == "x y" and "GONE" not in found["environment"]

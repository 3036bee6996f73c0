# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Generated bash scripts, and what real bash passes to the programs that they call.

The only commands of a script are assignments, functions of its own, builtins that change variables, and C(record), a function that writes
its arguments to standard output. bash runs with an empty environment and an empty PATH in an empty directory.
"""

from __future__ import annotations

import random
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import shell_reader
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats.shell_reader import Command

BASH = ("/bin/bash", "--noprofile", "--norc")
SECONDS = 120
_SCALARS = ("A", "B", "C", "LONG_NAME", "x1")
_ARRAYS = ("list", "ARGS")
_TEXTS = (
    "a",
    "b c", "", "--max-pods=20", "k=v,x=y", "x  y ", "it's", 'say "hi"', "$A", "a\\b", "*", "https://h.example:443/p?q=1", "é", "#no", "~",
    "{a,b}", "-", "0", "one\ttwo", "node.kubernetes.io/lifecycle=spot", "a;b|c&d", "(x)", "!", "50%",
)  # fmt: skip


def _single(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


@dataclass
class Generator:
    """Writes one script. depth: of nested statements."""

    chance: random.Random
    lines: list[str] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)
    number: int = 0

    def script(self, statements: int) -> str:
        """A whole script."""
        return "".join(f"{self.statement(0)}\n" for _unused in range(statements))

    # --- words ---------------------------------------------------------------------------------------------------------------------

    def name(self) -> str:
        """A scalar variable."""
        return self.chance.choice(_SCALARS)

    def array(self) -> str:
        """An array."""
        return self.chance.choice(_ARRAYS)

    def operator(self) -> str:
        """An operator of an expansion in braces."""
        word = self.chance.choice(["x", "$B", "'q r'", '"d $A"', "", "m n", "\\$", "${C}", "${B:-z}"])
        kind = self.chance.choice([":-", "-", ":=", "=", ":+", "+", "%", "%%", "#", "##", "^^", ",", ":1", ":1:2"])
        if kind in ("%", "%%", "#", "##"):
            return kind + self.chance.choice(["x", "*", "?", "*=", "=*", "'*'", "$B", "b*", "/*"])
        return kind if kind[0] in "^," or kind[-1].isdigit() else kind + word

    def expansion(self, *, quoted: bool) -> str:
        """An expansion of a variable."""
        name, array = self.name(), self.array()
        kinds: list[Callable[[], str]] = [
            lambda: f"${name}",
            lambda: f"${{{name}}}",
            lambda: f"${{#{name}}}",
            lambda: f"${{{array}[@]}}",
            lambda: f"${{{array}[*]}}",
            lambda: f"${{{array}[{self.chance.randrange(3)}]}}",
            lambda: f"${{#{array}[@]}}",
            lambda: f"${array}",
            lambda: self.chance.choice(["$1", "$@", "$#", "$*", "${2:-n}"]),
        ]
        if quoted or self.chance.random() < 0.7:
            operator = self.operator()
            if not (quoted and '"' in operator):
                kinds += [lambda: f"${{{name}{operator}}}"] * 3
        return self.chance.choice(kinds)()

    def piece(self) -> str:
        """A part of a word."""
        kind = self.chance.randrange(10)
        if kind < 3:
            return self.chance.choice(["a", "--max-pods=20", "x=y", "b,c", "1", "\\ ", "\\'", "\\\\", "=", ":", "@", "é", "%", "+", "\\\n"])
        if kind < 5:
            return _single(self.chance.choice(_TEXTS))
        if kind < 7:
            inner = [self.chance.choice(["a ", "$ ", "\\$", "\\\\", "\\a", "'", "=", "\\\n", "\\`"]), self.expansion(quoted=True)]
            self.chance.shuffle(inner)
            return '"' + "".join(inner[: self.chance.randrange(3)]) + '"'
        if kind < 8:
            return "$'" + self.chance.choice(["a\\tb", "\\n", "\\x41\\101", "it\\'s", "\\\\", "q", ""]) + "'"
        return self.expansion(quoted=False)

    def word(self) -> str:
        """A word."""
        return "".join(self.piece() for _unused in range(self.chance.choice([1, 1, 1, 2, 3])))

    def words(self, most: int = 4) -> str:
        """Some words."""
        return " ".join(self.word() for _unused in range(self.chance.randrange(most + 1)))

    # --- statements -----------------------------------------------------------------------------------------------------------------

    def record(self) -> str:
        """A call that is recorded. The first argument says which one."""
        self.number += 1
        return f"record c{self.number} {self.words()}".rstrip(" ")

    def assignment(self) -> str:
        """An assignment to a variable or an array."""
        kind = self.chance.randrange(8)
        if kind < 4:
            return f"{self.name()}{self.chance.choice(['=', '=', '=', '+='])}{self.word()}"
        if kind < 5:
            return f"{self.name()}={self.word()} {self.name()}={self.word()}"
        if kind < 7:
            return f"{self.array()}{self.chance.choice(['=', '+='])}({self.words()})"
        return f"{self.array()}[{self.chance.randrange(3)}]={self.word()}"

    def statement(self, depth: int) -> str:
        """One statement."""
        if depth > 2 or self.chance.random() < 0.8:
            return self.flat()

        def inside() -> str:
            return "\n".join(self.statement(depth + 1) for _unused in range(self.chance.choice([1, 2, 3])))

        return self.chance.choice(
            [
                lambda: f"if [ {self.word()} = {self.word()} ]\nthen\n{inside()}\nfi",
                lambda: f'if [[ "{self.expansion(quoted=True)}" ]]; then\n{inside()}\nelse\n{inside()}\nfi',
                lambda: f"if false; then\n{inside()}\nelif true; then\n{inside()}\nfi",
                lambda: f"for {self.name()} in {self.words()}; do\n{inside()}\ndone",
                lambda: f"case {self.word()} in\na) {self.record()} ;;\n*)\n{inside()}\n;;\nesac",
                lambda: f"(\n{inside()}\n)",
                lambda: f"{{\n{inside()}\n}}",
                lambda: f"{{\n{inside()}\n}} | while read -r line; do :; done",
                lambda: self.function(depth),
                lambda: self.function(depth),
                lambda: f"true && {{\n{inside()}\n}}",
                lambda: f"[ {self.word()} ] || {{\n{inside()}\n}}",
                lambda: f"{self.flat()} && {self.flat()}",
                lambda: f'while [ -z "$once" ]; do\nonce=1\n{inside()}\ndone',
            ]
        )()

    def flat(self) -> str:
        """A statement without others."""
        kind = self.chance.randrange(22)
        if kind < 9:
            return self.record()
        if kind < 15:
            return self.assignment()
        if kind < 16:
            return f"{self.chance.choice(['export', 'declare', 'declare -x', 'readonly NEVER; export'])} {self.name()}={self.word()}"
        if kind < 17:
            return f"{self.name()}={self.word()} {self.record()}"
        if kind < 18 and self.functions:
            return f"{self.chance.choice(self.functions)} {self.words()}"
        if kind < 19:
            return self.here_document()
        if kind < 20:
            return self.chance.choice(
                [f"unset {self.name()}", f"read -r {self.name()} <<<{_single('r s')}", f"eval {_single(self.assignment())}",
                 "set -e; set +e",
                 f"set -- {self.words()}", f"printf -v {self.name()} p", f"export {self.name()}", f"{self.name()}=$(echo s)", "shift",
                 f"eval {_single(self.record())}", f"(({self.name()}_n = 3))", f": ${{{self.name()}:={self.word()}}}"]
            )  # fmt: skip
        behind = ["> /dev/null", "2>&1", "2> /dev/null", "|| true", "&& true", "# no $A", "| cat_", "< /dev/null"]
        return f"{self.record()} {self.chance.choice(behind)}"

    def here_document(self) -> str:
        """A call that gets a here-document."""
        lines = [
            self.chance.choice(["text", "$A", "${B:-x}", "record no", 'it\'s "$C"', "\\$A", "a\\\nb", ""])
            for _unused in range(self.chance.randrange(4))
        ]
        start, end = self.chance.choice([("E", "E"), ("'E'", "E"), ('"E F"', "E F"), ("\\E", "E")])
        self.number += 1
        return (
            f"document c{self.number} {self.words(1)} <<{start} {self.chance.choice(['', '|| true', '&& ' + self.record()])}\n"
            + "".join(f"{line}\n" for line in lines)
            + end
        )

    def function(self, depth: int) -> str:
        """A function, which is called at once, later or never."""
        name = f"f{len(self.functions)}"
        body = "\n".join(
            self.chance.choice([lambda: f"local {self.name()}={self.word()}", lambda: self.statement(depth + 2), self.flat])()
            for _unused in range(self.chance.choice([1, 2, 3]))
        )
        end = self.chance.choice(["", "", "\nreturn", '\n[ "$A" ] && return\n' + self.flat()])
        call = f"\n{name} {self.words()}" if self.chance.random() < 0.6 else ""
        text = f"{name}() {{\n{body}{end}\n}}{call}"
        self.functions.append(name)
        return text


_PRELUDE = r"""
record() { printf '%s\0' "$#" "$@" >&7; }
document() { printf '%s\0' "$(($# + 1))" "$@" "$(while IFS= read -r line; do
    printf '%s\n' "$line"
  done; printf .)" >&7; }
cat_() { while read -r line; do :; done; }
"""


def run(scripts: Sequence[str]) -> list[list[list[str]]]:
    """The recorded calls of each script, in the order in which they ran."""
    parts = []
    for script in scripts:
        # Each script runs in a subshell, whose output ends with a mark. exec 7 is the way for records.
        parts.append(f"(\n{_PRELUDE}\neval {_single(script)}\n) 2> /dev/null > /dev/null\nprintf '%s\\0' END >&7\n")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "scripts")
        path.write_text("exec 7>&1\n" + "".join(parts), encoding="utf-8")
        (empty := Path(folder, "empty")).mkdir()
        environment = {"PATH": str(empty), "LC_ALL": "C.UTF-8"}
        done = subprocess.run(
            [*BASH, str(path)], stdin=subprocess.DEVNULL, capture_output=True, check=False, cwd=empty, env=environment, timeout=SECONDS
        )
    words = iter(done.stdout.decode().split("\0")[:-1])
    calls: list[list[list[str]]] = [[]]
    for word in words:
        if word == "END":
            calls.append([])
        else:
            calls[-1].append([next(words) for _unused in range(int(word))])
    return calls[:-1]


@dataclass
class Result:
    """wrong: what the reader said otherwise. words, unknown: of the calls that ran."""

    wrong: list[str] = field(default_factory=list)
    words: int = 0
    unknown: int = 0


def compare(script: str, calls: Sequence[Sequence[str]], result: Result) -> None:
    """Compare what the reader finds in a script with the calls that real bash made."""
    read = shell_reader.read(script, starts_empty=True)
    found: dict[str | None, list[Command]] = {}
    for command in read.commands:
        if command.values[:1] in (("record",), ("document",)):
            found.setdefault(command.values[1], []).append(command)
    ran: dict[str, list[Sequence[str]]] = {}
    for call in calls:
        ran.setdefault(call[0], []).append(call)
    for name, actual in ran.items():
        commands = found.get(name, [])
        if not commands and any(one.values[0] is None for one in read.commands):
            result.words += sum(map(len, actual))
            result.unknown += sum(map(len, actual))
            continue
        for index, call in enumerate(actual):
            certain = [one for one in commands if one.condition != "function"]
            pairs = certain[index : index + 1] if certain == commands and all(one.is_certain for one in certain) else commands
            one = next((one for one in pairs if matches(one, call)), None)
            if one is None:
                result.wrong.append(f"{name}: bash passed {call}, read {[(one.condition, one.values) for one in pairs]}")
            else:
                result.words += len(one.words) - 1
                result.unknown += sum(value is None for value in one.values[1:])
    if calls and calls[-1][0] == "end":
        for name, commands in found.items():
            certain = sum(one.is_certain and not one.may_have_ended for one in commands)
            if certain > len(ran.get(str(name), [])):
                result.wrong.append(f"{name}: certain {certain} times, ran {len(ran.get(str(name), []))} times")


def matches(command: Command, actual: Sequence[str]) -> bool:
    """Whether bash may have passed these arguments: each known word is equal. An unknown one is one word, or any number of them."""
    expected = command.words[1:]
    if command.values[0] == "document":
        expected += tuple(replace(one.target, pieces=(*one.target.pieces, ".")) for one in command.redirections if one.operator == "<<")
    reached = {0}
    for word in expected:
        if not word.is_single:
            reached = {later for at in reached for later in range(at, len(actual) + 1)}
        else:
            reached = {at + 1 for at in reached if at < len(actual) and (word.value is None or word.value == actual[at])}
    return len(actual) in reached

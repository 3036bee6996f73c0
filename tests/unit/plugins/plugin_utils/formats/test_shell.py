# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Words and files for bash, read back by the real one."""

from __future__ import annotations

import itertools
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import shell
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.problem_list import error_of, rules_and_paths

BASH = ["/bin/bash", "--noprofile", "--norc"]
NASTY = [
    "'",
    '"',
    "$x",
    "$(id)",
    "`id`",
    "\\",
    "\n",
    "\r",
    "E",
    "E1",
    "\nE\n",
    "!",
    "~",
    "*",
    "#",
    ";",
    "&",
    "é",
    "\x7f",
    "\x01",
    "%",
    " ",
    "\t",
    "a=b",
    "{a,b}",
]
TEXT = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
    st.lists(st.one_of(st.sampled_from(NASTY), st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=3))).map(
        "".join
    ),
)
ANYTHING = st.text(st.characters())


def bash(script: str) -> bytes:
    """What bash prints. Only words and redirections to variables reach it here, never a rendered script."""
    return subprocess.run(
        [*BASH, "-s"], input=script.encode(), capture_output=True, check=True, timeout=300, env={"LC_ALL": "C.UTF-8", "PATH": ""}
    ).stdout


@given(st.lists(TEXT.filter(lambda text: not shell.shell_problem(text)), min_size=1, max_size=20))
def test_bash_gives_every_word_back(words):
    printed = bash("".join(f"printf '%s\\0' {shell.quote(word)}\n" for word in words))
    assert printed.decode("utf-8").split("\0")[:-1] == words


@given(ANYTHING)
def test_a_word_is_quoted_or_refused(text):
    if shell.shell_problem(text):
        with pytest.raises(SpecError):
            shell.quote(text)
    else:
        assert "\n" not in shell.quote(text)


@pytest.mark.parametrize(("text", "reason"), [("a\nb", "line break"), ("a\r", "line break"), ("\0", "NUL"), ("\ud800", "lone surrogate")])
def test_what_no_word_can_hold_is_refused_with_the_reason(text, reason):
    assert reason in shell.shell_problem(text)


@given(st.lists(TEXT.filter(lambda text: not shell.shell_problem(text)), max_size=5))
def test_a_command_gets_its_words(words):
    assert bash(shell.command(["printf", "%s\\0", "x", *words])).decode().split("\0")[1:-1] == words


@pytest.mark.parametrize("word", ["if", "time", "A=b", "x+=1", "function", "!"])
def test_the_first_word_is_always_a_program(word):
    ran = subprocess.run([*BASH, "-c", shell.command([word, "x"])], capture_output=True, check=False, env={"PATH": "/nonexistent"})
    assert ran.returncode == 127, ran.stderr


@given(TEXT)
def test_a_file_gets_its_content_exactly(content):
    lines = shell.write_file("/f", content, "0644")
    assert lines.endswith("\n")
    if not content:
        assert lines == "install -Dm644 /dev/null /f\n"
        return
    # Only bash's own builtins run: the here-document or printf, and what it expands to.
    script = lines.partition("\n")[2]
    if script.startswith("cat"):
        script = script.replace("cat >/f", "IFS= read -r -d '' got", 1) + 'printf %s "$got"\n'
    else:
        script = script.removesuffix(" >/f\n") + "\n"
    assert bash(script) == content.encode()


@given(st.lists(st.sampled_from(["E", "E1", "E2", "x", ""]), max_size=6), st.booleans())
def test_no_line_of_the_content_ends_the_document(lines, final):
    content = "\n".join(lines) + ("\n" if final else "")
    text = shell.write_file("/f", content)
    if "<<'" in text:
        end = text.split("<<'")[1].split("'")[0]
        assert end not in content.split("\n")
        assert text.endswith(f"\n{end}\n")


@pytest.mark.parametrize(
    ("path", "content", "mode", "text"),
    [
        ("/etc/a b", "x\n", "0600", "install -Dm600 /dev/null '/etc/a b'\ncat >'/etc/a b' <<'E'\nx\nE\n"),
        ("/etc/a", "x", "644", "install -Dm644 /dev/null /etc/a\nprintf %s x >/etc/a\n"),
        ("/etc/a", "", "4755", "install -Dm4755 /dev/null /etc/a\n"),
        ("/etc/a", "E\n", "0000", "install -Dm0 /dev/null /etc/a\ncat >/etc/a <<'E1'\nE\nE1\n"),
    ],
)
def test_the_lines_are_few_and_readable(path, content, mode, text):
    assert shell.write_file(path, content, mode) == text


@pytest.mark.parametrize(
    ("path", "content", "mode", "problem"),
    [
        ("etc/a", "", "0644", "shell.invalid_path path"),
        ("/etc/", "", "0644", "shell.invalid_path path"),
        ("/etc/a\nb", "", "0644", "shell.unsafe_text path"),
        ("/etc/a", "\0", "0644", "shell.unsafe_text /etc/a"),
        ("/etc/a", "\ud800", "0644", "shell.unsafe_text /etc/a"),
        ("/etc/a", "", "u+x", "shell.invalid_mode /etc/a"),
        ("/etc/a", "", "9999", "shell.invalid_mode /etc/a"),
    ],
)
def test_what_cannot_be_a_file_is_refused(path, content, mode, problem, golden_message: GoldenMessages):
    error = error_of(shell.write_file, path, content, mode)
    assert problem in rules_and_paths(error)
    golden_message(error)


def test_all_problems_of_a_file_at_once():
    with pytest.raises(SpecError) as caught:
        shell.write_file("x", "\0", "rw")
    assert len(caught.value.problems) == 3


@pytest.mark.parametrize("umask", ["022", "077", "000"])
@pytest.mark.parametrize("content", ["secret\n", "secret", ""])
def test_mode_and_parents_do_not_depend_on_the_umask(tmp_path, umask, content):
    target = tmp_path / "new" / "dir" / "file"
    subprocess.run([*BASH, "-euc", f"umask {umask}\n{shell.write_file(str(target), content, '0640')}"], check=True, timeout=300)
    assert target.read_text() == content
    assert target.stat().st_mode & 0o7777 == 0o640
    assert [parent.stat().st_mode & 0o777 for parent in itertools.islice(target.parents, 2)] == [0o755, 0o755]

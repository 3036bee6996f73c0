# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the calls of C(/etc/eks/bootstrap.sh) in shell scripts (amazon-eks-ami, al2 branch; Canonical's images), with their arguments.

The script takes the value of an option from the next word. An option that it does not know, also C(--name=value), is a plain word to it,
and the first plain word is the name of the cluster. Scripts also change its settings without a call: they edit it, or export one of the
variables from which it takes defaults.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from .kubelet_settings import flag_name

if TYPE_CHECKING:
    from .formats.shell_reader import Assignment, Command, Pieces, ShellPlace, Word

SCRIPT = "/etc/eks/bootstrap.sh"
EXTRA_ARGS = "--kubelet-extra-args"
CLUSTER_NAME = "CLUSTER_NAME"
KUBELET_MAX_PODS = 110
"""kubelet's own default, if the script is told not to compute a number."""
GUESSED_DNS = "10.100.0.10, or 172.20.0.10 if the VPC has addresses that begin with 10"
"""The address of the cluster DNS if the script knows neither it nor the service CIDR, and does not ask the EKS API."""

OPTIONS = frozenset(
    {
        "--apiserver-endpoint",
        "--aws-api-retry-attempts",
        "--b64-cluster-ca",
        "--cluster-id",
        "--container-runtime",
        "--containerd-config-file",
        "--dns-cluster-ip",
        "--docker-config-json",
        "--enable-docker-bridge",
        "--enable-local-outpost",
        "--ip-family",
        EXTRA_ARGS,
        "--local-disks",
        "--mount-bpf-fs",
        "--pause-container-account",
        "--pause-container-version",
        "--service-ipv4-cidr",
        "--service-ipv6-cidr",
        "--use-max-pods",
    }
)
VARIABLES = frozenset(
    {
        "API_RETRY_ATTEMPTS",
        "APISERVER_ENDPOINT",
        "B64_CLUSTER_CA",
        "CLUSTER_ID",
        "CONTAINERD_CONFIG_FILE",
        "CONTAINER_RUNTIME",
        "DNS_CLUSTER_IP",
        "DOCKER_CONFIG_JSON",
        "ENABLE_DOCKER_BRIDGE",
        "ENABLE_LOCAL_OUTPOST",
        "IP_FAMILY",
        "KUBELET_EXTRA_ARGS",
        "LOCAL_DISKS",
        "MOUNT_BPF_FS",
        "PAUSE_CONTAINER_ACCOUNT",
        "PAUSE_CONTAINER_VERSION",
        "SERVICE_IPV4_CIDR",
        "SERVICE_IPV6_CIDR",
        "USE_MAX_PODS",
    }
)
"""Variables of the environment from which the script takes defaults."""
SUDO, TIMEOUT = "sudo", "timeout"
_EDITORS = ("sed", "tee", "cp", "mv", "install", "patch", "perl", "ln", "rm", "truncate", "dd")
_FILTERS = ("sed", "perl")
_IN_PLACE = ("-i", "--in-place", "-pi", "-ni", "-ri", "-Ei")
_WRITES = (">", ">>", ">|", "&>", "&>>", "<>")
_SHELL_OPTIONS = frozenset({"-o", "+o", "-O", "+O", "--rcfile", "--init-file"})
_WRAPPERS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("bash", "sh", "dash"), _SHELL_OPTIONS),
    **dict.fromkeys(("command", "nohup", "setsid"), frozenset()),
    "env": frozenset({"-u", "--unset", "-C", "--chdir"}),
    "exec": frozenset({"-a"}),
    "ionice": frozenset({"-c", "--class", "-n", "--classdata"}),
    "nice": frozenset({"-n", "--adjustment"}),
    "stdbuf": frozenset({"-i", "-o", "-e", "--input", "--output", "--error"}),
    SUDO: frozenset({"-C", "-D", "-R", "-T", "-g", "-h", "-p", "-r", "-t", "-u", "--chdir", "--group", "--host", "--prompt", "--user"}),
    "time": frozenset({"-f", "-o", "--format", "--output"}),
    TIMEOUT: frozenset({"-k", "-s", "--kill-after", "--signal"}),
}
"""Programs that run the program behind their options, with those options whose value is a word of its own."""
_FOLDER = re.compile(r"^/(?:usr/)?(?:local/)?s?bin/")
_WITHOUT_EFFECT = ("set", "echo", "printf", "true", ":", "exit", "exec")
"""Commands that change no setting of the node (C(exec) without a program redirects; with one, it is read as a wrapper)."""
_HELPERS = ("source", ".")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_QUOTED = re.compile(r"[\"'\\]")


@dataclass(frozen=True)
class Call:
    """One call. options: with their leading dashes; the last one counts. flags: of kubelet, without dashes.

    others: the words after the name of the cluster, which the script ignores. line: where the call begins, from 1.
    """

    cluster_name: str | None
    options: Mapping[str, str] = field(default_factory=dict)
    flags: Mapping[str, list[str]] = field(default_factory=dict)
    others: tuple[str, ...] = ()
    line: int = 1

    def max_pods(self) -> int | None:
        """The number of pods. None if the script computes it."""
        value = self.flags.get("max-pods", [""])[-1]
        if value.isascii() and value.isdigit() and len(value) < 10:
            return int(value)
        return None if self.options.get("--use-max-pods", "true") == "true" else KUBELET_MAX_PODS


@dataclass(frozen=True)
class Argument:
    """An option, a flag of kubelet, or the name of the cluster, which has no name here. place: of the word with its value.

    pieces: text, and None for text that only the node knows. option: the place of the option itself.
    """

    name: str
    pieces: Pieces
    place: ShellPlace
    option: ShellPlace | None = None

    @property
    def value(self) -> str | None:
        """None if the value is unknown."""
        texts = [piece for piece in self.pieces if piece is not None]
        return "".join(texts) if len(texts) == len(self.pieces) else None


@dataclass(frozen=True)
class FoundCall:
    """A call whose values may be unknown. arguments: the name of the cluster and the options, with their leading dashes.

    flags: of kubelet, without dashes. is_whole: whether all arguments are found. command: the place, and the condition of the call.
    call: with its values, if all of them are known and quotes do not change them. others: the words after the name of the cluster.
    """

    command: Command
    arguments: tuple[Argument, ...]
    flags: tuple[Argument, ...]
    is_whole: bool
    call: Call | None = None
    others: tuple[Argument, ...] = ()


@dataclass(frozen=True)
class Reading:
    """The calls in a script that are certain and known. found: all calls. is_complete: whether no other command can change a setting.

    edits: commands that change the file of the script. exports: its variables that the script exports.
    """

    calls: tuple[Call, ...]
    is_complete: bool
    found: tuple[FoundCall, ...] = ()
    edits: tuple[Command, ...] = ()
    exports: tuple[Assignment, ...] = ()


def read_calls(text: str, known: Mapping[str, str] | None = None, helper: str | None = None, *, starts_empty: bool = False) -> Reading:
    """The calls in a script. known: environment variables. helper: a file that only sets these. starts_empty: whether there are no others.

    Raises C(shell_reader.PackageMissing).
    """
    from .formats import shell_reader

    if not is_shell(text):
        return Reading((), False)
    script = shell_reader.read(text, known, helper=helper, starts_empty=starts_empty)
    calls, found, edits = [], [], []
    exports = tuple(one for one in script.assignments if one.name in VARIABLES and one.name in script.exported)
    complete = script.is_readable and not exports
    for command in script.commands:
        words = program_words(command.words)
        values = tuple(word.value for word in words)
        is_edit = _is_edit(command, values)
        if is_edit:
            edits.append(command)
        if values[:1] == (SCRIPT,):
            found.append(_found(command, words[1:]))
            behind = command.words[: len(command.words) - len(words)]
            given = {one.name for one in command.environment} | {(one.value or "").partition("=")[0] for one in behind}
            call = found[-1].call if command.is_certain and not given & VARIABLES else None
            complete = complete and call is not None
            calls.extend([call] if call is not None else [])
        elif is_edit or (
            values
            and not command.is_function
            and (values[0] not in _WITHOUT_EFFECT or (command.is_redirected and values != ("exec",)))
            and not (values[0] in _HELPERS and values[1:] == (helper,))
        ):
            complete = False
    return Reading(tuple(calls), complete, tuple(found), tuple(edits), exports)


def is_shell(text: str) -> bool:
    """Whether a shell runs the script, and not another interpreter."""
    return not text.startswith("#!") or bool(re.match(r"#!\s*\S*/(?:env\s+)?(?:ba|da)?sh\b", text))


def wrappers(words: tuple[Word, ...]) -> list[str]:
    """The names of the programs that run the program of a command, the outermost first."""
    found = []
    while (name := _wrapper(words)) is not None:
        found.append(name)
        words = _behind_wrapper(name, words)
    return found


def user_of(words: tuple[Word, ...]) -> str | None:
    """The user as whom sudo runs the call, or None for root."""
    values = [word.value or "" for word in words]
    if SUDO not in wrappers(words) or SCRIPT not in values:
        return None
    options = values[: values.index(SCRIPT)]
    found = [one.partition("=")[2] for one in options if one.startswith("--user=")]
    found += [value for option, value in pairwise(options) if option in ("-u", "--user")]
    return next((user for user in found if user not in ("root", "#0")), None)


def program_words(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """The program that a command runs, with its arguments: without sudo, env, timeout and the like in front of it."""
    while (name := _wrapper(words)) is not None:
        words = _behind_wrapper(name, words)
    return words


def _wrapper(words: tuple[Word, ...]) -> str | None:
    name = _FOLDER.sub("", words[0].value or "", count=1) if len(words) > 1 else ""
    return name if name in _WRAPPERS else None


def _behind_wrapper(name: str, words: tuple[Word, ...]) -> tuple[Word, ...]:
    """The words without the wrapper, its options, and the variables that sudo and env set."""
    words = words[1:]
    while words and (words[0].value or "").startswith(("-", "+")):
        option = words[0].value or ""
        words = words[2 if option in _WRAPPERS[name] else 1 :]
        if option == "--":
            break
    # The first operand of timeout is the time.
    words = words[1:] if name == TIMEOUT else words
    while words and _VARIABLE.match(words[0].value or ""):
        words = words[1:]
    return words


def _is_edit(command: Command, values: tuple[str | None, ...]) -> bool:
    """Whether a command changes the file of the script."""
    if any(one.operator in _WRITES and one.target.value == SCRIPT for one in command.redirections):
        return True
    program = (values[0] or "").rpartition("/")[2] if values else ""
    if program not in _EDITORS or SCRIPT not in values[1:]:
        return False
    return program not in _FILTERS or any((value or "").startswith(_IN_PLACE) for value in values)


def _found(command: Command, words: tuple[Word, ...]) -> FoundCall:
    arguments: list[Argument] = []
    flags: list[Argument] = []
    others: list[Argument] = []
    at = 0
    # Behind a number of words that is unknown, an option could be the value of another one.
    count = next((index for index, word in enumerate(words) if not word.is_single), len(words))
    while at < count:
        word = words[at]
        name = word.value
        if name in OPTIONS:
            value = words[at + 1] if at + 1 < count else None
            if value is None and count < len(words):
                break
            argument = Argument(name, value.pieces if value else (), value.place if value else word.place, word.place)
            arguments.append(argument)
            if name == EXTRA_ARGS:
                flags = list(flags_in(argument))
            at += 2
        else:
            plain = others if any(not one.name for one in arguments) else arguments
            plain.append(Argument("", word.pieces, word.place))
            at += 1
    call = _call(tuple(word.value for word in words), command.line)
    return FoundCall(command, tuple(arguments), tuple(flags), count == len(words), call, tuple(others))


def flags_in(argument: Argument) -> Iterator[Argument]:
    """The flags of kubelet in the value of an argument."""
    found: list[list[str | None]] = [[]]
    for piece in argument.pieces:
        if piece is None:
            found[-1].append(None)
            continue
        first, *others = re.split(r"\s+", piece)
        found[-1] += [first] if first else []
        found += [[other] if other else [] for other in others]
    for pieces in found:
        name, equals, value = (pieces[0] or "").partition("=") if pieces else ("", "", "")
        if name.startswith("--") and (equals or len(pieces) == 1):
            rest = ([value] if value else []) + pieces[1:]
            yield Argument(flag_name(name), tuple(rest) if equals else ("true",), argument.place)


def _call(words: tuple[str | None, ...], line: int) -> Call | None:
    """A call, or None if a word is unknown."""
    literal = [word for word in words if word is not None]
    if len(literal) != len(words):
        return None
    options: dict[str, str] = {}
    plain = []
    at = 0
    while at < len(literal):
        if literal[at] in OPTIONS:
            options[literal[at]] = literal[at + 1] if at + 1 < len(literal) else ""
            at += 2
        else:
            plain.append(literal[at])
            at += 1
    extra = options.pop(EXTRA_ARGS, "")
    if _QUOTED.search(extra):
        return None
    flags: dict[str, list[str]] = {}
    for word in extra.split():
        name, equals, value = word.partition("=")
        if not name.startswith("--"):
            return None
        flags.setdefault(flag_name(name), []).append(value if equals else "true")
    return Call(plain[0] if plain else None, options, flags, tuple(plain[1:]), line)

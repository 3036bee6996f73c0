# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the literal arguments of calls of C(/etc/eks/bootstrap.sh) in shell scripts (amazon-eks-ami, al2 branch; Canonical's images).

The script takes the value of an option from the next word. An option that it does not know, also C(--name=value), is a plain word to it,
and the first plain word is the name of the cluster.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from .kubelet_settings import flag_name

SCRIPT = "/etc/eks/bootstrap.sh"
EXTRA_ARGS = "--kubelet-extra-args"
CLUSTER_NAME = "CLUSTER_NAME"
KUBELET_MAX_PODS = 110
"""kubelet's own default, if the script is told not to compute a number."""

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
_WRAPPERS = ("sudo", "exec", "bash", "sh", "/bin/bash", "/bin/sh", "/usr/bin/bash", "command", "nohup", "time")
_WITHOUT_EFFECT = ("set", "echo", "printf", "true", ":", "exit", "exec")
"""Commands that change no setting of the node (C(exec) without a program redirects; with one, it is read as a wrapper)."""
_HELPERS = ("source", ".")
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
class Reading:
    """The calls in a script. is_complete: whether the script has no other command that can change a setting of the node."""

    calls: tuple[Call, ...]
    is_complete: bool


def read_calls(text: str, known: Mapping[str, str] | None = None, helper: str | None = None) -> Reading:
    """The calls in a script. known: environment variables. helper: a file that only sets these.

    Raises C(shell_reader.PackageMissing).
    """
    from .formats import shell_reader

    if not is_shell(text):
        return Reading((), False)
    script = shell_reader.read(text, known)
    calls = []
    complete = script.is_readable
    for command in script.commands:
        words = _without_wrappers(command.words)
        if words[:1] == (SCRIPT,):
            call = _call(words[1:], command.line) if command.is_certain else None
            complete = complete and call is not None
            calls.extend([call] if call is not None else [])
        elif (
            words
            and (words[0] not in _WITHOUT_EFFECT or (command.is_redirected and words != ("exec",)))
            and not (words[0] in _HELPERS and words[1:] == (helper,))
        ):
            complete = False
    return Reading(tuple(calls), complete)


def is_shell(text: str) -> bool:
    """Whether a shell runs the script, and not another interpreter."""
    return not text.startswith("#!") or bool(re.match(r"#!\s*\S*/(?:env\s+)?(?:ba|da)?sh\b", text))


def _without_wrappers(words: tuple[str | None, ...]) -> tuple[str | None, ...]:
    while words and words[0] in _WRAPPERS and len(words) > 1:
        words = words[1:]
        while words and words[0] is not None and words[0].startswith("-"):
            words = words[1:]
    return words


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

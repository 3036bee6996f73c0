# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of shell scripts: commands that do not do on the family's image what they are meant to do."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from ..bootstrap_calls import SCRIPT, is_shell
from ..formats.shell_reader import Command, PackageMissing, Script, read
from . import bootstrap_calls
from .kubelet_settings import is_unexpanded
from .report import Report
from .shell_texts import ShellText, shell_texts
from .subject import Subject

Words = tuple[str, ...]

_PREFIXES = ("sudo", "exec", "command", "nohup", "time", "env")
_INSTALLERS = ("yum", "dnf", "apt", "apt-get")
_INSTALLS = ("install", "update", "upgrade", "dist-upgrade", "groupinstall", "reinstall")
_TEMPLATE = re.compile(r"%\{|\{\{|<%")
"""A directive of a template, which another program replaces."""
_OPTION = re.compile(r"--[a-z]")
_YES = re.compile(r"-[a-zA-Z]*y[a-zA-Z]*|--yes|--assume-yes|--assumeyes")
_URL = re.compile(r"(?:https?|ftp)://(?!169\.254\.169\.254|localhost|127\.0\.0\.1|\[?fd00:ec2|\[?::1)")
_IMDS = re.compile(r"169\.254\.169\.254/latest/(?:meta-data|user-data|dynamic)")
_TOKEN = "x-aws-ec2-metadata-token"
_OLD_CONFIG = "/etc/kubernetes/kubelet/kubelet-config.json"
_GENERATED_CONFIG = "/etc/kubernetes/kubelet/config.json"
_IGNORED_VARIABLES = ("KUBELET_EXTRA_ARGS", "USE_MAX_PODS", "BOOTSTRAP_EXTRA_ARGS", "CONTAINER_RUNTIME", "CNI_PREFIX_DELEGATION_ENABLED")
_NOT_ON_IMAGE = {
    "al2": ("apt", "apt-get", "dnf"),
    "al2023": ("apt", "apt-get", "amazon-linux-extras"),
    "ubuntu": ("yum", "dnf", "amazon-linux-extras"),
}


def check(subject: Subject, report: Report) -> None:
    """Report what is wrong in the scripts and in their calls of the image's bootstrap script."""
    texts = list(shell_texts(subject))
    try:
        bootstrap_calls.check(texts, subject, report)
        for text in texts:
            if is_shell(text.text):
                _check_script(text, subject, report)
    except PackageMissing as missing:
        report.problems.add("shell.missing_package", "", f"contains shell scripts, which were not checked: {missing}")


def _check_script(text: ShellText, subject: Subject, report: Report) -> None:
    script = read(text.text)
    _check_syntax(text, script, report)
    commands = [(command, words) for command in script.commands if (words := _literal(command))]
    for rule, find in _COMMAND_RULES:
        for command, words in commands:
            if (message := find(words, text.text, subject.family)) is not None:
                path = report.locate(f"{text.path} line {command.line} {rule}", text.place(command.line, words[0]), " ".join(words[:2]))
                report.problems.add(rule, path, message)
                if rule == "shell.downloads":
                    break
    if subject.family == "al2023" and SCRIPT not in text.text:
        for assignment in script.assignments:
            if assignment.name in _IGNORED_VARIABLES:
                place = next((text.place(number, assignment.name) for number in _lines_with(text.text, assignment.name)), text.place(1))
                path = report.locate(f"{text.path} {assignment.name}", place, assignment.name)
                report.problems.add("shell.ignored_variable", path, "is a variable of /etc/eks/bootstrap.sh, which AL2023 does not have")
    if subject.family == "al2023":
        for name, message in (
            (_OLD_CONFIG, "does not exist on AL2023, where nodeadm writes the configuration of kubelet"),
            (_GENERATED_CONFIG, "is written by nodeadm after the scripts of user data, which replaces the change"),
        ):
            for number in _lines_with(text.text, name):
                path = report.locate(f"{text.path} line {number} {name}", text.place(number, name), name)
                report.problems.add("shell.edits_generated_file", path, message)


def _check_syntax(text: ShellText, script: Script, report: Report) -> None:
    """Report what bash cannot read, or reads as another command than it looks like."""
    for one in script.unfinished:
        path = report.locate(f"{text.path} {one.kind} {one.place.line}", text.at(one.place), "the script")
        if one.kind == "quote":
            report.problems.add("shell.open_quote", path, "has a quote without an end, and bash does not run the commands behind it")
        else:
            message = "has a here-document whose end is indented, so that the lines behind it belong to its text, and are not run"
            report.problems.add("shell.indented_end", path, message)
    if script.errors and not script.unfinished and not _TEMPLATE.search(text.text):
        path = report.locate(f"{text.path} syntax", text.at(script.errors[0]), "the script")
        report.problems.add("shell.not_understood", path, "has text that the grammar of bash does not allow here, and was checked in part")
    for command in script.commands:
        name = command.values[0] if command.values else None
        if name is not None and _OPTION.match(name) and command.condition != "unreadable" and not is_unexpanded(name):
            path = report.locate(f"{text.path} option {command.line}", text.at(command.words[0].place), name)
            report.problems.add("shell.option_as_command", path, "begins a command, because the line before it does not continue here")


def _lines_with(text: str, word: str) -> Iterator[int]:
    """The numbers of the lines with a word that are not comments."""
    for number, line in enumerate(text.split("\n"), 1):
        if word in line and not line.lstrip().startswith("#"):
            yield number


def _literal(command: Command) -> Words:
    """The program of a command, without its folder, and its known arguments; an empty tuple if the program is unknown."""
    words = list(command.values)
    while words and (words[0] in _PREFIXES or (words[0] or "").startswith("-")):
        words = words[1:]
    if not words or not words[0]:
        return ()
    return (words[0].rpartition("/")[2], *(word for word in words[1:] if word is not None))


def _asks(words: Words, _text: str, _family: str | None) -> str | None:
    installs = words[0] in _INSTALLERS and any(word in _INSTALLS for word in words[1:2] + tuple(w for w in words[2:] if w in _INSTALLS))
    if installs and "update" in words and words[0].startswith("apt"):
        return None
    if installs and not any(_YES.fullmatch(word) for word in words[1:]):
        return "asks for confirmation, and gets no answer at boot"
    return None


def _downloads(words: Words, _text: str, _family: str | None) -> str | None:
    fetches = words[0] in ("curl", "wget") and any(_URL.match(word) for word in words[1:])
    installs = words[0] in _INSTALLERS and any(word in _INSTALLS for word in words[1:])
    others = words[:2] in (("pip", "install"), ("pip3", "install"), ("git", "clone"), ("snap", "install")) or words[0] == "aws"
    return "needs the network at boot, and fails in a private cluster without an endpoint for it" if fetches or installs or others else None


def _without_token(words: Words, text: str, _family: str | None) -> str | None:
    if words[0] in ("curl", "wget") and any(_IMDS.search(word) for word in words) and _TOKEN not in text.lower():
        return "asks the instance metadata service without a token, which it refuses if the launch template requires IMDSv2"
    return None


def _not_on_image(words: Words, _text: str, family: str | None) -> str | None:
    if words[0] in _NOT_ON_IMAGE.get(family or "", ()):
        return "is not a program of the image"
    return None


def _uses_docker(words: Words, text: str, family: str | None) -> str | None:
    manages = words[0] in ("systemctl", "service") and {"docker", "docker.service"} & set(words[1:])
    if family in _NOT_ON_IMAGE and (manages or words[0] == "docker") and not re.search(r"install\b[^\n]*\bdocker", text):
        return "uses Docker, which images for Kubernetes 1.24 and newer do not have"
    return None


def _starts_kubelet(words: Words, _text: str, family: str | None) -> str | None:
    starts = words[0] == "systemctl" and {"kubelet", "kubelet.service"} & set(words) and {"start", "restart", "--now"} & set(words)
    if family == "al2023" and (starts or words[:2] == ("nodeadm", "init")):
        return "runs before nodeadm has configured the node, because nodeadm-run starts after the scripts of user data"
    return None


_COMMAND_RULES: Sequence[tuple[str, Callable[[Words, str, str | None], str | None]]] = (
    ("shell.asks_question", _asks),
    ("shell.downloads", _downloads),
    ("shell.imds_without_token", _without_token),
    ("shell.missing_program", _not_on_image),
    ("shell.uses_docker", _uses_docker),
    ("shell.starts_kubelet", _starts_kubelet),
)

# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of calls of C(/etc/eks/bootstrap.sh): whether the image has it, and what it does with the options.

Calls that may not run, and calls with arguments that only the node knows, are checked as far as they are known.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import replace
from difflib import get_close_matches
from functools import cache

from .. import rules
from ..bootstrap_calls import EXTRA_ARGS, KUBELET_MAX_PODS, OPTIONS, SCRIPT, Argument, FoundCall, is_shell, read_calls
from ..capacity import max_pods_of_type
from ..data import instance_types
from ..errors import Problem, Problems
from ..formats.shell_reader import read
from ..formats.systemd import split_variable
from ..kubelet_settings import NODE_LABELS, TAINTS, flag_name
from ..model.values import certificate_authority
from ..network import cidr_problem, endpoint_host, ip_problem
from . import instance
from .kubelet_settings import Flag, check_configuration, check_dns, check_flags, is_unexpanded
from .report import Report
from .shell_texts import ShellText
from .subject import Subject

_NEVER = ("unreachable", "unreadable")
"""Conditions of calls that do not run, or about which nothing is certain."""
_LOOKED_UP = ("--apiserver-endpoint", "--b64-cluster-ca")
_SWITCHES = ("--use-max-pods", "--enable-docker-bridge", "--mount-bpf-fs", "--enable-local-outpost")
_OF_DOCKER = ("--enable-docker-bridge", "--docker-config-json")
_FAMILIES_OF_IP = ("ipv4", "ipv6")
_FOLDER = f"{SCRIPT.rpartition('/')[0]}/"
_ALMOST = 0.9
"""How similar a misspelt path is: one or two characters of it differ."""
_RESERVES = {"config", "config-dir", "kube-reserved"}
"""Flags of kubelet that can reserve memory."""
_DASHED = re.compile("[-\u2010-\u2015\u2212]{1,2}[A-Za-z-]")
"""The beginning of an option, also with a dash that a word processor wrote."""
_ONE_DASH = re.compile(r"-(?!v\b)[A-Za-z][A-Za-z-]+(?==|$)")
_CHANGED = re.compile(r"[\"'\\]")
_LOST_WORD = re.compile(r"[^\s-]-*\s+--[a-z]|^[^\s=-][^\s=]*=")
"""A word that is neither a name nor an option: a piece of the value of --kubelet-extra-args."""
_LINE_BREAK = re.compile(r"(?<!\\)\n")
_SEVERAL_FLAGS = re.compile(r"\s--[a-z]")


def check(texts: Iterable[ShellText], subject: Subject, report: Report) -> None:
    """Report every call. Raises C(PackageMissing)."""
    is_called = False
    for text in texts:
        for found in read_calls(text.text).found if SCRIPT in text.text else ():
            command = found.command
            if command.condition in _NEVER:
                continue
            call = _Call(text, found, subject, report)
            if command.is_certain and is_called:
                call.problems.add("user_data.bootstraps_twice", call.script, "is called a second time", fix="remove one of the calls")
            is_called = is_called or command.is_certain
            if subject.family == "al2023":
                message = "ends with an error on AL2023, where nodeadm reads a NodeConfig instead"
                call.problems.add("bootstrap.removed_from_image", call.script, message)
            else:
                call.check()
            report.problems.extend(problem if command.is_certain else _possible(problem, "if the call runs") for problem in call.problems)


def check_names(texts: Iterable[ShellText], subject: Subject, report: Report) -> None:
    """Report programs whose path is almost that of the image's script, unless user data writes them."""
    document = subject.user_data.document
    for text in texts:
        for command in read(text.text).commands if is_shell(text.text) and _FOLDER in text.text else ():
            for word in command.words[:2]:
                name = word.value
                if name is None or name == SCRIPT or not name.startswith(_FOLDER) or document.count(name) > 1:
                    continue
                if get_close_matches(name, [SCRIPT], cutoff=_ALMOST):
                    path = report.locate(f"{text.path} program {command.line}", text.at(word.place), name)
                    message = "is not on the image, so the node does not join"
                    report.problems.add("bootstrap.misspelt_script", path, message, nearest=SCRIPT, fix=f"write {SCRIPT}")


def _possible(problem: Problem, case: str) -> Problem:
    """A problem that exists only in some cases is not an error."""
    if rules.catalogue()[problem.rule].severity != "error":
        return problem
    return replace(problem, rule="bootstrap.possible_problem", message=f"{problem.message} ({case})")


class _Call:
    """A call. problems: what is wrong with it. script: the path of its program."""

    def __init__(self, text: ShellText, found: FoundCall, subject: Subject, report: Report) -> None:
        self.problems = Problems(report.problems)
        self._text = text
        self._found = found
        self._subject = subject
        self._report = report
        self._values = {argument.name: argument for argument in found.arguments}
        self._path = f"{text.path} call {found.command.place.line}.{found.command.place.column}"
        self.script = report.locate(self._path, text.within(found.command.place, SCRIPT), SCRIPT)

    def _at(self, argument: Argument, shown: str = "") -> str:
        """The path of the value of an argument."""
        name = shown or argument.name
        return self._report.locate(f"{self._path} {name}", self._text.at(argument.place), name)

    def _at_option(self, name: str) -> str:
        """The path of an option."""
        argument = self._values[name]
        return self._report.locate(f"{self._path} {name} itself", self._text.at(argument.option or argument.place), name)

    def _at_flag(self, name: str) -> str:
        """The path of a flag of kubelet."""
        flag = f"--{name}"
        place = self._text.within(self._values[EXTRA_ARGS].place, flag)
        return self._report.locate(f"{self._path} {EXTRA_ARGS} {flag}", place, flag)

    def check(self) -> None:
        """Report what is wrong with the known arguments."""
        self._check_words()
        self._check_values()
        if self._found.is_whole:
            self._check_lookups()
        options = {name: argument.value for name, argument in self._values.items()}
        version = self._subject.version
        if options.get("--container-runtime") == "dockerd" and (version is None or version >= (1, 24)):
            self.problems.add(
                "bootstrap.removed_runtime", self._at_option("--container-runtime"), "is dockerd, and the script ends with an error"
            )
        for name in _OF_DOCKER:
            if name in options:
                self.problems.add("bootstrap.ignored_option", self._at_option(name), "configures Docker, which the image does not have")
        words = self._kubelet_words()
        if words is not None:
            for word in words:
                if (found := _ONE_DASH.match(word)) is not None:
                    message = "has one dash, so kubelet takes it for several short flags, and exits"
                    path = self._report.locate(
                        f"{self._path} {EXTRA_ARGS} {found[0]}", self._text.within(self._values[EXTRA_ARGS].place, found[0]), found[0]
                    )
                    self.problems.add("kubelet.unknown_flag", path, message, fix=f"write -{found[0]}")
            self._check_flags(_flags(words), options.get("--use-max-pods"))

    def _check_words(self) -> None:
        found, problems = self._found, self.problems
        if found.is_whole and ("" not in self._values or self._values[""].value == ""):
            problems.add("bootstrap.missing_cluster_name", self.script, "has no name of a cluster, and ends with an error")
        plain = [argument for argument in found.arguments if not argument.name]
        for argument in (*plain, *found.others):
            word = argument.value
            if word is not None and _LOST_WORD.search(word) and not is_unexpanded(word):
                message = "is a word of its own, because the value before it has ended, so kubelet does not get it"
                fix = "put all flags into one pair of quotes, without other quotes inside, and without spaces in values"
                problems.add("bootstrap.broken_quoting", self._at(argument, word), message, fix=fix)
            elif word is not None and _DASHED.match(word):
                message = "is not an option of the script, which takes it for the name of the cluster or ignores it"
                problems.add("bootstrap.unknown_option", self._at(argument, word), message)
        unknown = [argument.name or "the name of the cluster" for argument in found.arguments if argument.value is None]
        if unknown or not found.is_whole:
            names = ", ".join(unknown) if unknown else "some arguments"
            message = f"gets {names} from the node, and the values were not checked"
            problems.add("bootstrap.unknown_argument", self.script, message)

    def _check_values(self) -> None:
        problems = self.problems
        given: dict[str, Argument] = {}
        for argument in self._found.arguments:
            before = given.get(argument.name)
            if argument.name and before is not None and before.pieces != argument.pieces:
                path = self._report.locate(f"{self._path} {argument.name} first", self._text.at(before.place), argument.name)
                message = "is given again later in the call, and the script ignores this value"
                problems.add("bootstrap.repeated_option", path, message, fix="put all values into one option")
            given[argument.name] = argument
        known = [(one, one.value) for one in self._found.arguments if one.name and one.value is not None and not is_unexpanded(one.value)]
        for argument, value in known:
            if (allowed := _allowed(argument.name, value)) is not None:
                problems.add("bootstrap.invalid_value", self._at(argument), "is not a valid value", allowed=allowed)
            elif argument.name == "--b64-cluster-ca":
                certificate_authority(value, self._at(argument), problems)
        values = {argument.name: value for argument, value in known}
        if (dns := self._values.get("--dns-cluster-ip")) is not None:
            cidr = values.get("--service-ipv4-cidr", values.get("--service-ipv6-cidr"))
            check_dns([(self._at(dns), address) for address in values.get(dns.name, "").split(",")], cidr, problems)

    def _check_lookups(self) -> None:
        missing = [name for name in _LOOKED_UP if name not in self._values]
        if missing:
            message = f"asks the EKS API for {' and '.join(missing)}, which needs the network and the permission eks:DescribeCluster"
            self.problems.add("bootstrap.looks_up_cluster", self.script, message)
        elif not {"--dns-cluster-ip", "--service-ipv4-cidr", "--service-ipv6-cidr"} & self._values.keys():
            message = "guesses the address of the cluster's DNS from the address of the instance"
            self.problems.add("bootstrap.guesses_dns", self.script, message)

    def _kubelet_words(self) -> list[str] | None:
        """The arguments that kubelet gets of the call. None if they are unknown, or reported as lost."""
        extra = self._values.get(EXTRA_ARGS)
        if extra is None:
            return []
        value, family = extra.value, self._subject.family
        if family == "ubuntu" or value is None:
            if any(_CHANGED.search(piece or "") for piece in extra.pieces):
                # What the script of Ubuntu makes of quotes is not known.
                return None
            if value is None:
                return [f"--{flag.name}={value}" for flag in self._found.flags if (value := _known_value(flag)) is not None]
        # A line that ends with a backslash continues, for systemd, too.
        words = split_variable(value.replace("\\\n", " "))
        if is_unexpanded(value):
            return words
        if (message := _lost_in_image(value) or _merged(value, words)) is not None:
            fix = "put all flags into one pair of quotes, without other quotes inside"
            problem = Problem("bootstrap.broken_quoting", self._at(extra), message, fix=fix)
            self.problems.extend([problem if family == "al2" else _possible(problem, "on AL2")])
            return None
        if _has_loose_word(words):
            message = "has a word that belongs to no flag, and kubelet exits"
            fix = "separate the values of a flag with commas, without spaces"
            self.problems.add("bootstrap.broken_quoting", self._at(extra), message, fix=fix)
        return words

    def _check_flags(self, passed: list[tuple[str, str]], use_max_pods: str | None) -> None:
        problems, subject = self.problems, self._subject
        flags = [Flag(name, value, self._at_flag(name), True) for name, value in passed]
        names = {flag.name for flag in flags}
        extra = self._values.get(EXTRA_ARGS)
        is_whole = self._found.is_whole and (extra is None or extra.value is not None)
        for flag in flags:
            if f"--{flag.name}" in OPTIONS:
                fix = f"pass it to the script, before {EXTRA_ARGS}"
                problems.add("kubelet.unknown_flag", flag.path, "is an option of the script, not a flag of kubelet", fix=fix)
        flags = [flag for flag in flags if f"--{flag.name}" not in OPTIONS]
        if use_max_pods == "false" and "max-pods" not in names:
            message = (
                "is false, and kubelet-extra-args has no --max-pods, so kubelet runs up to 110 pods, whatever the instance can address"
            )
            plain = instance.addresses(subject.instance, subject.family) if subject.instance else None
            is_enough = plain is not None and plain >= KUBELET_MAX_PODS
            if not {"config", "config-dir"} & names and is_whole and not is_enough:
                problems.add("bootstrap.max_pods_not_set", self._at_option("--use-max-pods"), message)
        elif subject.family != "ubuntu" and is_whole and not _RESERVES & names:
            for flag in flags:
                if flag.name == "max-pods" and not is_unexpanded(flag.value) and flag.value not in self._own_numbers():
                    message = "is set, but the script reserves memory for the number of pods of the instance type"
                    fix = "pass --kube-reserved for this number, too"
                    problems.add("reserved.sized_for_other_max_pods", flag.path, message, fix=fix)
        check_flags(flags, subject, problems)
        check_configuration({}, {}, flags, subject, problems)
        instance.check(instance.of_kubelet({}, {}, flags), subject, problems)

    def _own_numbers(self) -> Collection[str]:
        """The number of pods that the script itself sets, or all numbers that it can set."""
        shape = self._subject.instance
        return _numbers_of_types() if shape is None else (str(instance.addresses(shape, self._subject.family)),)


@cache
def _numbers_of_types() -> Collection[str]:
    """The numbers of pods that the script itself sets on some instance type."""
    return frozenset(str(max_pods_of_type(name)) for name in instance_types())


def _allowed(name: str, value: str) -> str | None:
    """What is allowed for an option, if the value is not."""
    if name in _SWITCHES and value not in ("true", "false"):
        return "true or false"
    if name == "--apiserver-endpoint" and endpoint_host(value) is None:
        return "an https URL"
    if name == "--ip-family" and value not in _FAMILIES_OF_IP:
        return "ipv4 or ipv6"
    if name in ("--service-ipv4-cidr", "--service-ipv6-cidr") and cidr_problem(value):
        return "a CIDR such as 10.100.0.0/16"
    if name == "--dns-cluster-ip" and any(map(ip_problem, value.split(","))):
        return "an IP address"
    return None


def _lost_in_image(value: str) -> str | None:
    """Why the image of AL2 loses the flags: it writes the value between single quotes into a setting of systemd."""
    if "'" in value:
        return "has a single quote inside, which ends the setting of systemd, and all flags are lost"
    if _LINE_BREAK.search(value):
        return "has a line break inside, which ends the setting of systemd, and all flags are lost"
    return None


def _merged(value: str, words: list[str]) -> str | None:
    """Why several flags arrive as one, in which kubelet does not see labels or taints."""
    if re.sub(r"\\.", "", value).count('"') % 2:
        return "has a double quote without its pair, so that the flags behind it become part of one value"
    if any(_SEVERAL_FLAGS.search(word) for word in words):
        return "has several flags in one pair of inner quotes, so that kubelet takes them for one"
    return None


def _flags(words: list[str]) -> list[tuple[str, str]]:
    """The flags with their values, which can be the next word."""
    found = []
    for word, following in zip(words, [*words[1:], "-"], strict=False):
        name, equals, value = word.partition("=")
        if name.startswith("--"):
            found.append((flag_name(name), value if equals else "true" if following.startswith("-") else following))
    return found


def _known_value(flag: Argument) -> str | None:
    """The value of a flag. Of labels and taints, only the known ones, if others are unknown."""
    if flag.value is not None or flag.name not in (NODE_LABELS, TAINTS):
        return flag.value
    # NUL stands for text that only the node knows.
    items = "".join("\0" if piece is None else piece for piece in flag.pieces).split(",")
    known = [item for item in items if "\0" not in item]
    return ",".join(known) or None


def _has_loose_word(words: list[str]) -> bool:
    """Whether a word is neither a flag nor the value of the flag in front of it."""
    return any(
        not word.startswith("-") and (not before.startswith("-") or "=" in before)
        for before, word in zip(["", *words], words, strict=False)
    )

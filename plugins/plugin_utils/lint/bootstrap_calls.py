# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of calls of C(/etc/eks/bootstrap.sh): whether the image has it, and what it does with the options."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..bootstrap_calls import EXTRA_ARGS, OPTIONS, SCRIPT, Call, read_calls
from ..model.values import certificate_authority
from ..network import cidr_problem, endpoint_host, ip_problem
from .kubelet_settings import Flag, check_configuration, check_dns, check_flags, is_unexpanded
from .report import Report
from .shell_texts import ShellText
from .subject import Subject

_FAMILIES = ("al2", "ubuntu")
_LOOKED_UP = ("--apiserver-endpoint", "--b64-cluster-ca")
_SWITCHES = ("--use-max-pods", "--enable-docker-bridge", "--mount-bpf-fs", "--enable-local-outpost")
_OF_DOCKER = ("--enable-docker-bridge", "--docker-config-json")
_FAMILIES_OF_IP = ("ipv4", "ipv6")
_RESERVES = {"config", "config-dir", "kube-reserved"}
"""Flags of kubelet that can reserve memory."""
_DASHED = re.compile(r"--?[A-Za-z]")


def check(texts: Iterable[ShellText], subject: Subject, report: Report) -> None:
    """Report every call. Raises C(PackageMissing)."""
    first: ShellText | None = None
    for text in texts:
        if SCRIPT not in text.text:
            continue
        for call in read_calls(text.text).calls:
            path = report.locate(f"{text.path} call {call.line}", text.place(call.line, SCRIPT), SCRIPT)
            if first is not None:
                report.problems.add("user_data.bootstraps_twice", path, "is called a second time", fix="remove one of the calls")
            first = text
            if subject.family == "al2023":
                message = "ends with an error on AL2023, where nodeadm reads a NodeConfig instead"
                report.problems.add("bootstrap.removed_from_image", path, message)
                continue
            _check_call(call, _Places(text, call, report), subject, report)


class _Places:
    """The places of the words of a call."""

    def __init__(self, text: ShellText, call: Call, report: Report) -> None:
        self._text = text
        self._call = call
        self._report = report

    def at(self, name: str, word: str | None = None) -> str:
        """The path of an option or a flag. word: as it is in the text."""
        place = self._text.place(self._call.line, name if word is None else word)
        return self._report.locate(f"{self._text.path} call {self._call.line} {name}", place, name)


def _check_call(call: Call, places: _Places, subject: Subject, report: Report) -> None:
    problems, options = report.problems, call.options
    if call.cluster_name is None:
        problems.add("bootstrap.missing_cluster_name", places.at(SCRIPT), "has no name of a cluster, and ends with an error")
    for word in (call.cluster_name, *call.others):
        if word is not None and _DASHED.match(word):
            message = "is not an option of the script, which takes it for the name of the cluster or ignores it"
            problems.add("bootstrap.unknown_option", places.at(word), message)
    _check_values(call, places, report)
    _check_lookups(options, places, report)
    if options.get("--container-runtime") == "dockerd" and (subject.version is None or subject.version >= (1, 24)):
        problems.add("bootstrap.removed_runtime", places.at("--container-runtime"), "is dockerd, and the script ends with an error")
    for name in _OF_DOCKER:
        if name in options:
            problems.add("bootstrap.ignored_option", places.at(name), "configures Docker, which the image does not have")
    flags = [Flag(name, value, places.at(f"--{name}"), True) for name, values in call.flags.items() for value in values]
    for flag in flags:
        if f"--{flag.name}" in OPTIONS:
            fix = f"pass it to the script, before {EXTRA_ARGS}"
            problems.add("kubelet.unknown_flag", flag.path, "is an option of the script, not a flag of kubelet", fix=fix)
    flags = [flag for flag in flags if f"--{flag.name}" not in OPTIONS]
    if options.get("--use-max-pods") == "false" and "max-pods" not in call.flags:
        message = "is false, and kubelet-extra-args has no --max-pods, so kubelet runs up to 110 pods, whatever the instance can address"
        problems.add("bootstrap.max_pods_not_set", places.at("--use-max-pods"), message)
    elif subject.family != "ubuntu" and "max-pods" in call.flags and not _RESERVES & call.flags.keys():
        message = "is set, but the script reserves memory for the number of pods of the instance type"
        problems.add("reserved.sized_for_other_max_pods", places.at("--max-pods"), message, fix="pass --kube-reserved for this number, too")
    check_flags(flags, subject, problems)
    check_configuration({}, "", flags, subject, problems)


def _check_values(call: Call, places: _Places, report: Report) -> None:
    problems = report.problems
    for name, value in call.options.items():
        allowed = None
        if is_unexpanded(value):
            continue
        if name in _SWITCHES and value not in ("true", "false"):
            allowed = "true or false"
        elif name == "--apiserver-endpoint" and endpoint_host(value) is None:
            allowed = "an https URL"
        elif name == "--ip-family" and value not in _FAMILIES_OF_IP:
            allowed = "ipv4 or ipv6"
        elif name in ("--service-ipv4-cidr", "--service-ipv6-cidr") and cidr_problem(value):
            allowed = "a CIDR such as 10.100.0.0/16"
        elif name == "--dns-cluster-ip" and any(map(ip_problem, value.split(","))):
            allowed = "an IP address"
        if allowed is not None:
            problems.add("bootstrap.invalid_value", places.at(name), "is not a valid value", allowed=allowed)
        elif name == "--b64-cluster-ca":
            certificate_authority(value, places.at(name), problems)
    cidr = call.options.get("--service-ipv4-cidr", call.options.get("--service-ipv6-cidr"))
    addresses = call.options.get("--dns-cluster-ip", "").split(",")
    check_dns([(places.at("--dns-cluster-ip"), address) for address in addresses], cidr, problems)


def _check_lookups(options: Iterable[str], places: _Places, report: Report) -> None:
    missing = [name for name in _LOOKED_UP if name not in options]
    if missing:
        message = f"asks the EKS API for {' and '.join(missing)}, which needs the network and the permission eks:DescribeCluster"
        report.problems.add("bootstrap.looks_up_cluster", places.at(SCRIPT), message)
    elif not {"--dns-cluster-ip", "--service-ipv4-cidr", "--service-ipv6-cidr"} & set(options):
        message = "guesses the address of the cluster's DNS from the address of the instance"
        report.problems.add("bootstrap.guesses_dns", places.at(SCRIPT), message)

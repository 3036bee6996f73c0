# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of the document as a whole: encoding, size, kinds of its parts, secrets, and whether the family exists for the version."""

from __future__ import annotations

import re
from dataclasses import replace

from ..bootstrap_calls import SCRIPT
from ..errors import Problem, Problems
from ..formats.compression import LIMIT
from ..formats.secrets import RULES, find_secrets
from ..formats.user_data_kind import KIND_NAMES, Kind
from ..readers.model import Place, UserData
from ..versions import family_version_problem, known_minors
from .report import Report
from .subject import Subject

_OF_CLOUD_INIT: frozenset[Kind] = frozenset({"shell", "cloud-config", "boothook", "include", "jinja", "archive"})
_READ_BY: dict[str, tuple[str, frozenset[Kind]]] = {
    "al2": ("Amazon Linux 2", _OF_CLOUD_INIT),
    "al2023": ("Amazon Linux 2023", _OF_CLOUD_INIT | {"nodeconfig"}),
    "bottlerocket": ("Bottlerocket", frozenset({"toml"})),
    "ubuntu": ("Ubuntu", _OF_CLOUD_INIT),
    "windows": ("Windows", frozenset({"powershell", "ec2launch"})),
}
"""What the image of a family reads; its name in messages."""
_WITHOUT_NODEADM = ("al2", "ubuntu")
_ONLY_NODEADM = (
    "mime.invalid_boundary",
    "mime.invalid_content_type",
    "mime.invalid_header",
    "mime.missing_end",
    "mime.nested_document",
    "mime.repeated_header",
)
"""Rules about MIME that cloud-init reads."""
_TAKEN_FOR_HEADER = re.compile(r"None|[!-9;-~]*:|[ \t]|From ")
"""The beginning of a line that cloud-init takes for a header, so it is not run."""


def check(subject: Subject, report: Report) -> None:
    """Report the problems that the reader found, and everything about the document as a whole."""
    problems = report.problems
    problems.extend(_with_line(_without_nodeadm(problem, subject), subject, report) for problem in subject.user_data.problems)
    _check_size(subject, problems)
    _check_encoding(subject, report)
    _check_kinds(subject, problems)
    _check_version(subject, problems)
    _check_secrets(subject, report)


def _without_nodeadm(problem: Problem, subject: Subject) -> Problem:
    """A problem that only nodeadm has, on a family without it, is not an error."""
    is_harmless = problem.rule in _ONLY_NODEADM and not (
        problem.rule == "mime.invalid_header" and _TAKEN_FOR_HEADER.match(str(problem.value))
    )
    if not is_harmless or not _is_read_without_nodeadm(subject):
        return problem
    return replace(problem, rule="mime.refused_by_nodeadm", message=f"{problem.message}; cloud-init accepts this")


def _with_line(problem: Problem, subject: Subject, report: Report) -> Problem:
    """A problem of the whole document with the place of the value that causes it, if a line contains it."""
    value = problem.value
    if problem.path or not isinstance(value, str) or not value:
        return problem
    for number, line in enumerate(subject.user_data.document.split("\n"), 1):
        if (column := line.find(value) + 1) > 0:
            return replace(problem, path=report.locate(f"line {number}", Place(None, number, column, len(value)), "user data"))
    return problem


def _is_read_without_nodeadm(subject: Subject) -> bool:
    """Whether the nodes have cloud-init alone, and it reads the whole document."""
    data = subject.user_data
    calls = any(SCRIPT in part.text for part in data.parts) and not subject.parts("nodeconfig")
    has_nodeadm = subject.family not in _WITHOUT_NODEADM and not (subject.family is None and calls)
    return not has_nodeadm and bool(data.parts) and all(item.place.part is not None for item in data.not_understood)


def _check_size(subject: Subject, problems: Problems) -> None:
    if subject.stored > LIMIT:
        message = f"has {subject.stored:,} bytes, but EC2 stores at most {LIMIT:,}"
        fix = "compress it with gzip, or move long commands into the image or an object that the node downloads"
        problems.add("user_data.too_large", "", message, fix=fix)


def _check_encoding(subject: Subject, report: Report) -> None:
    data, problems = subject.user_data, report.problems
    if "gzip" in data.layers and subject.family == "windows":
        fix = "do not compress it; move long scripts into the image or an object that the node downloads"
        problems.add("user_data.wrong_kind", "", "is compressed, and EC2Launch runs nothing of it", fix=fix)
    elif "gzip" in data.layers:
        problems.add("user_data.compressed", "", "is compressed: EKS and Karpenter cannot add their part, and Windows cannot read it")
    elif "base64" in data.layers:
        problems.add("user_data.encoded", "", "is base64: a node decodes it once, so do not encode it again")
    if (end := _first_crlf(data)) is not None:
        line, start = data.document.count("\n", 0, end) + 1, data.document.rfind("\n", 0, end) + 1
        path = report.locate(f"line {line}", Place(None, line, 1, max(1, end - start)), "user data")
        problems.add("user_data.crlf", path, "has lines that end with CRLF")


def _first_crlf(data: UserData) -> int | None:
    """The offset of the first CRLF that a program on the node gets. In headers and delimiters of MIME, it is the usual line end."""
    for part in data.parts:
        content = data.document[part.offset :].encode("utf-8", "surrogatepass")[: part.size].decode("utf-8", "surrogatepass")
        if (found := content.find("\r\n")) >= 0:
            return part.offset + found
    return None


def _check_kinds(subject: Subject, problems: Problems) -> None:
    """Report parts that no program on the node reads."""
    parts = subject.user_data.parts
    name, readable = _READ_BY.get(subject.family or "", ("", frozenset()))
    is_mime = any(part.media_type for part in parts)
    if is_mime and subject.family in ("bottlerocket", "windows"):
        problems.add("user_data.wrong_kind", "", f"is a MIME document, which {name} cannot read", fix="use the text itself, without MIME")
        return
    for part in parts:
        if part.kind == "unknown" and not part.media_type and not len(subject.user_data.problems):
            fix = "begin with #!, #cloud-config, a NodeConfig, [settings] or <powershell>, in the first column of the first line"
            problems.add("user_data.wrong_kind", part.path, f"is {KIND_NAMES['unknown']}", fix=fix)
        elif readable and part.kind not in readable | {"unknown", "empty"}:
            problems.add("user_data.wrong_kind", part.path, f"is {KIND_NAMES[part.kind]}, which {name} cannot read", fix="remove it")


def _check_version(subject: Subject, problems: Problems) -> None:
    version, (oldest, newest) = subject.version, known_minors()
    if version is None:
        return
    shown = f"{version[0]}.{version[1]}"
    if version < (1, oldest):
        message = f"is for Kubernetes {shown}, which EKS does not run any more"
        problems.add("cluster.version_too_old", "", message, fix="upgrade the cluster, or correct the version")
    elif version > (1, newest):
        message = f"is for Kubernetes {shown}, but was checked against 1.{newest}, the newest version that the collection knows"
        problems.add("cluster.version_not_known", "", message, fix="update the collection, or correct the version")
    elif subject.family and (found := family_version_problem(subject.family, None, version)):
        problems.add("family.not_in_version", "", found[0], fix=found[1])


def _check_secrets(subject: Subject, report: Report) -> None:
    for part in subject.user_data.parts:
        lines = part.text.split("\n")
        for what, number in find_secrets(part.text):
            place = Place(part.index, number, 1, max(1, len(lines[number - 1])))
            path = report.locate(f"{part.path} line {number}", place, part.path or "user data")
            message = f"seems to contain {what}, and every process on the node can read user data"
            report.problems.add(RULES[what], path, message, fix="let the node fetch it (SSM parameter, Secrets Manager)")

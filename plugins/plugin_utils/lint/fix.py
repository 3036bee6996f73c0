# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Corrects findings that have exactly one right answer. Everything else in the text stays as it is, byte for byte.

A correction is kept only if the finding is gone afterwards, and if it causes no other finding. Structural corrections can reveal findings
in text that no program could read before.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..formats.user_data_kind import Kind, classify
from ..kubelet_fields import Version
from ..readers.model import ReadPart, UserData
from .finding import Finding
from .lint import Linted, lint

_MOST = 200
"""Corrections of one text. More need more than one run."""

_RENAME = "rename it to "
_BOUNDARY = re.compile(r"(\bboundary=)([^\s\";]+)[ \t]*$", re.IGNORECASE | re.MULTILINE)
_QUOTED_BOUNDARY = re.compile(r"\bboundary=(?:\"([^\"\n]+)\"|([^\s\";]+))", re.IGNORECASE)
_CONTENT_TYPE = re.compile(r"(^content-type:[ \t]*)([^\s;]+)", re.IGNORECASE | re.MULTILINE)
_MIME_VERSION = re.compile(r"^mime-version:", re.IGNORECASE | re.MULTILINE)
_MEDIA_TYPES: Mapping[Kind, str] = {
    "shell": "text/x-shellscript",
    "cloud-config": "text/cloud-config",
    "nodeconfig": "application/node.eks.aws",
}
_FIRST_WORDS = re.compile(
    r"(?:set[ ]-[a-z]|export[ ]\w+=|echo[ ]|yum[ ]|dnf[ ]|apt-get[ ]|systemctl[ ]|mkdir[ ]|sudo[ ]|sysctl[ ]|/etc/eks/bootstrap\.sh[ ])"
)
"""The beginning of a line that only a shell understands."""


@dataclass(frozen=True)
class Fixed:
    """A text after all corrections. linted: with the findings that are left. corrected: the findings that are gone."""

    content: bytes
    linted: Linted
    corrected: tuple[Finding, ...]


def fix(content: bytes, family: str | None = None, version: Version = None) -> Fixed:
    """Correct what can be corrected. Encoded text stays as it is, because a diff cannot show what changes in it. It raises nothing."""
    linted = lint(content, family, version)
    corrected: list[Finding] = []
    rejected: set[tuple[str, str, int]] = set()
    while len(corrected) < _MOST:
        found = next((one for one in linted.findings if one.rule.id in CORRECTIONS and _key(one) not in rejected), None)
        if found is None:
            break
        text = None if linted.user_data.layers else CORRECTIONS[found.rule.id](linted.user_data, found)
        after = None if text is None else lint(text.encode("utf-8", "surrogatepass"), family, version)
        if text is None or after is None or not _is_better(linted, after, found):
            rejected.add(_key(found))
            continue
        content, linted = text.encode("utf-8", "surrogatepass"), after
        corrected.append(found)
        # What could not be corrected before may be possible now, for example in lines that ended with CRLF.
        rejected.clear()
    return Fixed(content, linted, tuple(corrected))


def _key(finding: Finding) -> tuple[str, str, int]:
    return finding.rule.id, finding.message, finding.where.line


def _is_better(before: Linted, after: Linted, finding: Finding) -> bool:
    """Whether there is one finding less of this rule, and no other one, unless text can be read now that could not be read before."""
    old, new = (Counter((one.rule.id, one.message) for one in linted.findings) for linted in (before, after))
    rule = finding.rule.id
    is_gone = sum(count for key, count in new.items() if key[0] == rule) < sum(count for key, count in old.items() if key[0] == rule)
    return is_gone and (rule in _STRUCTURAL or not new - old)


def _part(data: UserData, finding: Finding) -> ReadPart | None:
    """The part of a finding, if the document contains its text without an encoding. Problems of MIME are in lines of the document."""
    where = finding.where
    if where.part is not None:
        part = data.parts[where.part]
    else:
        found = [one for one in data.parts if one.line <= where.line]
        if not found:
            return None
        part = found[-1]
    is_there = not part.encoding and data.document.startswith(part.text, part.offset)
    return part if is_there else None


def _replaced(data: UserData, finding: Finding, old: str, new: str) -> str | None:
    """The document with C(new) instead of C(old) at the place of a finding in a part."""
    where, part = finding.where, _part(data, finding)
    if part is None or where.part is None:
        return None
    lines = part.text.split("\n")
    begin = part.offset + sum(len(line) + 1 for line in lines[: where.line - 1]) + where.column - 1
    if not data.document.startswith(old, begin):
        return None
    return data.document[:begin] + new + data.document[begin + len(old) :]


def _word(data: UserData, finding: Finding) -> str:
    """The text at the place of a finding."""
    where = finding.where
    if where.part is None:
        return ""
    line = data.parts[where.part].text.split("\n")[where.line - 1]
    return line[where.column - 1 : where.column - 1 + where.length]


def _line_ends(data: UserData, _finding: Finding) -> str:
    return data.document.replace("\r\n", "\n")


def _without_blanks_behind(data: UserData, finding: Finding) -> str | None:
    word = _word(data, finding)
    return _replaced(data, finding, word, word.rstrip(" \t")) if word else None


def _without_leading_blank(data: UserData, _finding: Finding) -> str | None:
    stripped = data.document.lstrip(" \t\r\n")
    is_known = stripped.startswith("#!") or classify(stripped) == "mime"
    return stripped if is_known and stripped != data.document else None


def _headers(data: UserData) -> str:
    """The headers of the document."""
    return data.document.partition("\n\n")[0]


def _with_version(data: UserData, _finding: Finding) -> str | None:
    return None if _MIME_VERSION.search(_headers(data)) else f"MIME-Version: 1.0\n{data.document}"


def _with_end(data: UserData, _finding: Finding) -> str | None:
    if not (found := _QUOTED_BOUNDARY.search(_headers(data))):
        return None
    newline = "" if data.document.endswith("\n") else "\n"
    return f"{data.document}{newline}--{found[1] or found[2]}--\n"


def _with_quotes(data: UserData, _finding: Finding) -> str | None:
    headers = _headers(data)
    if len(_BOUNDARY.findall(headers)) != 1:
        return None
    return _BOUNDARY.sub(r'\1"\2"', headers) + data.document[len(headers) :]


def _with_interpreter(data: UserData, finding: Finding) -> str | None:
    """A script that only a shell understands gets its first line. White space before an existing first line is removed."""
    part = _part(data, finding)
    if part is None or part.media_type != "text/x-shellscript":
        return None
    document, stripped = data.document, part.text.lstrip(" \t\n")
    if stripped.startswith("#!"):
        return document[: part.offset] + stripped + document[part.offset + len(part.text) :]
    lines = (line for line in stripped.split("\n") if line and not line.startswith("#"))
    if not _FIRST_WORDS.match(next(lines, "")):
        return None
    return f"{document[: part.offset]}#!/bin/bash\n{document[part.offset :]}"


def _with_media_type(data: UserData, finding: Finding) -> str | None:
    """The text of a part shows which type it has."""
    part = _part(data, finding)
    if part is None or (wanted := _MEDIA_TYPES.get(classify(part.text))) is None:
        return None
    begin = data.document.rfind("\n--", 0, part.offset) + 1
    headers = data.document[begin : part.offset]
    found = _CONTENT_TYPE.findall(headers)
    if len(found) != 1:
        return None
    return data.document[:begin] + _CONTENT_TYPE.sub(rf"\g<1>{wanted}", headers) + data.document[part.offset :]


def _quoted_mode(data: UserData, finding: Finding) -> str | None:
    mode = _word(data, finding)
    return _replaced(data, finding, mode, f"'0{mode}'")


def _with_yes(data: UserData, finding: Finding) -> str | None:
    # The message begins with the command, for example "yum install".
    command = finding.message.partition(":")[0]
    return _replaced(data, finding, command, f"{command} -y")


def _renamed(data: UserData, finding: Finding) -> str | None:
    """A name that differs from the right one only in case, or in dashes and underscores."""
    name, fix_text = _word(data, finding), finding.fix or ""
    wanted = fix_text.removeprefix(_RENAME)
    if not fix_text.startswith(_RENAME) or _letters(name) != _letters(wanted):
        return None
    return _replaced(data, finding, name, wanted)


def _letters(name: str) -> str:
    return name.replace("-", "").replace("_", "").casefold()


CORRECTIONS: Mapping[str, Callable[[UserData, Finding], str | None]] = {
    "bottlerocket.unknown_setting": _renamed,
    "cloud_config.decimal_mode": _quoted_mode,
    "kubelet.unknown_field": _renamed,
    "mime.invalid_content_type": _with_quotes,
    "mime.leading_blank": _without_leading_blank,
    "mime.missing_end": _with_end,
    "mime.missing_version": _with_version,
    "mime.no_interpreter": _with_interpreter,
    "mime.unknown_type": _with_media_type,
    "nodeconfig.unknown_field": _renamed,
    "nodeconfig.wrong_document": _with_media_type,
    "powershell.broken_continuation": _without_blanks_behind,
    "shell.asks_question": _with_yes,
    "user_data.crlf": _line_ends,
    "user_data.wrong_kind": _without_leading_blank,
}
"""The rules with a correction. It returns the corrected document, or None if there is more than one right answer."""

_STRUCTURAL = {rule for rule in CORRECTIONS if rule.startswith(("mime.", "user_data.")) or rule == "nodeconfig.wrong_document"}
"""Corrections after which programs read text that they did not read before."""

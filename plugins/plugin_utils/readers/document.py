# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes user data apart: base64 and gzip around it, MIME, transfer encodings, and files inside cloud-config.

Every step sees what the programs on a node see: cloud-init, nodeadm, Bottlerocket, EC2Launch. What they ignore is not lost: it is
listed as not understood.
"""

from __future__ import annotations

from ..errors import Problems
from ..formats.compression import MAX_UNPACKED, Layer, unwrap
from ..formats.user_data_kind import KIND_NAMES, Kind, classify
from .model import EmbeddedFile, NotUnderstood, Place, ReadPart, UserData

_TYPES: dict[str, Kind] = {
    "text/cloud-config": "cloud-config",
    "text/cloud-boothook": "boothook",
    "text/cloud-config-archive": "archive",
    "text/jinja2": "jinja",
    "text/x-include-url": "include",
    "text/x-include-once-url": "include",
}
"""The types that cloud-init believes, whatever the text is."""

RUN_BY_CLOUD_INIT: frozenset[Kind] = frozenset({"shell", "cloud-config", "boothook", "include", "jinja", "archive", "empty"})
"""The kinds that cloud-init recognizes in a part by its begin."""

_LARGEST = 2 * MAX_UNPACKED
"""Characters or bytes of input that are read: base64 of C(MAX_UNPACKED) fits."""


def structure(data: str | bytes) -> UserData:
    """The parts of user data, without their meaning. It accepts everything."""
    problems = Problems()
    if len(data) > _LARGEST:
        problems.add("user_data.unreadable", "", f"has more than {_LARGEST:,} bytes", fix="pass user data, which has at most 16,384 bytes")
        return UserData((), "", (), (), tuple(problems), (_whole("", "is too large"),))
    found = unwrap(data, "", problems)
    if len(problems):
        text = data if isinstance(data, str) else data.decode("utf-8", "replace")
        return UserData(found.layers, "", (), (), tuple(problems), (_whole(text, next(iter(problems)).message),))
    text = found.text
    if classify(text) == "mime":
        return _of_mime(found.layers, text)
    return _of_one(found.layers, text, classify(text), Problems())


def _whole(text: str, reason: str) -> NotUnderstood:
    return NotUnderstood(Place(None, 1, 1, len(text.partition("\n")[0])), text, reason)


def _of_one(layers: tuple[Layer, ...], text: str, kind: Kind, problems: Problems) -> UserData:
    """A document that no program takes for MIME."""
    part = ReadPart(0, kind, None, _with_lf(text), 1, 0, len(text.encode("utf-8", "surrogatepass")), "", "")
    files = files_of(part, problems)
    return UserData(layers, text, (part,), files, tuple(problems), _not_run(part))


def _of_mime(layers: tuple[Layer, ...], text: str) -> UserData:
    from ..formats import mime, mime_reader

    examined = mime_reader.examine(text, "")
    problems = Problems()
    problems.extend(examined.problems)
    if not examined.is_mime:
        return _of_one(layers, text, "unknown", problems)
    parts: list[ReadPart] = []
    lost = [NotUnderstood(_place(None, item.line, item.text), item.text, item.reason, "ignored") for item in examined.ignored]
    for index, found in enumerate(examined.parts):
        undecoded = Problems()
        content, encodings = mime.unwrapped(found.part, found.path, undecoded)
        media_type = found.part.media_type
        kind: Kind = "unknown" if len(undecoded) else kind_of(media_type, content)
        part = ReadPart(
            index=index,
            kind=kind,
            media_type=media_type,
            text=_with_lf(content),
            line=found.line,
            offset=found.offset,
            size=found.size,
            encoding=", ".join(encodings),
            path=found.path,
            content_type=found.part.content_type,
            headers=found.part.headers,
        )
        parts.append(part)
        for problem in undecoded:
            lost.append(NotUnderstood(_place(None, found.line, found.part.body), found.part.body, problem.message, "ignored"))
        lost.extend(_not_run(part))
    files = tuple(file for part in parts for file in files_of(part, problems))
    return UserData(layers, text, tuple(parts), files, tuple(problems), tuple(lost))


def _place(part: int | None, line: int, text: str) -> Place:
    return Place(part, line, 1, len(text.partition("\n")[0]))


def _with_lf(text: str) -> str:
    """C(text) with LF line ends. cloud-init replaces CRLF before it runs a script, and YAML, TOML and PowerShell do not care."""
    return text.replace("\r\n", "\n")


def kind_of(media_type: str, text: str) -> Kind:
    """What the programs on a node take a part for."""
    kind = classify(text)
    if media_type == "application/node.eks.aws":
        return kind if kind == "nodeconfig" else "unknown"
    if media_type in _TYPES:
        return _TYPES[media_type]
    return kind if kind in RUN_BY_CLOUD_INIT else "unknown"


def _not_run(part: ReadPart) -> tuple[NotUnderstood, ...]:
    if part.kind != "unknown" or not part.text:
        return ()
    return (NotUnderstood(_place(part.index, 1, part.text), part.text, f"is {KIND_NAMES['unknown']}", "ignored"),)


def files_of(part: ReadPart, problems: Problems) -> tuple[EmbeddedFile, ...]:
    """The files that a cloud-config writes."""
    if part.kind != "cloud-config":
        return ()
    from ..formats import cloud_config

    document = cloud_config.load(part.text, part.path, problems)
    return tuple(
        EmbeddedFile(part.index, f"write_files[{file.index}].content", file.path, file.content, classify(file.content or ""))
        for file in cloud_config.written_files(document)
    )

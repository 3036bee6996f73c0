# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""User data for images that run cloud-init: a shell script, or a MIME document when there is more than one part."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from ..errors import Problems
from ..formats import mime, shell
from ..formats.user_data_kind import KIND_NAMES, classify
from ..model.spec import NodeSpec
from .model import Fragment, UserData

SHELL = "text/x-shellscript"
CLOUD_CONFIG = "text/cloud-config"
BOOTHOOK = "text/cloud-boothook"
INCLUDE = "text/x-include-url"
JINJA = "text/jinja2"
NODE_CONFIG = "application/node.eks.aws"

_CONTENT_TYPES = {
    "shell": SHELL,
    "cloud-config": CLOUD_CONFIG,
    "boothook": BOOTHOOK,
    "include": INCLUDE,
    "jinja": JINJA,
    "nodeconfig": NODE_CONFIG,
}
"""What cloud-init (22.4 and later) and nodeadm make of a document that stands alone, by its kind."""

_FILE_NAME = re.compile(r'name="?([^";]+)', re.IGNORECASE)
"""Of a part: C(filename) of Content-Disposition, or C(name) of Content-Type, which Python's email takes in its place."""

MERGE_HEADERS = ("merge-type", "x-merge-type")
"""Headers by which a part tells cloud-init how to merge it."""

PRE_FAILED = "/run/nodebootstrap/pre-failed"
"""Exists when a command of C(commands.pre) failed: the node must not join then."""


def existing_parts(spec: NodeSpec, problems: Problems) -> tuple[mime.Part, ...]:
    """The parts of the user's own user data, in order and as they stand."""
    return tuple(part for _place, part in placed_parts(spec, problems))


def placed_parts(spec: NodeSpec, problems: Problems) -> tuple[tuple[str, mime.Part], ...]:
    """The parts of the user's own user data, in order and as they stand, each with its place in the user's input."""
    parts: list[tuple[str, mime.Part]] = []
    for path, text in zip(spec.user_data_paths, spec.user_data, strict=True):
        kind = classify(text)
        if kind == "mime" or kind in _CONTENT_TYPES:
            found = _mime_parts(text, path, problems) if kind == "mime" else (mime.Part(_CONTENT_TYPES[kind], text),)
            if spec.family != "al2023" and any(part.media_type == NODE_CONFIG for part in found):
                message = f"contains a NodeConfig, which no program on {spec.family} reads"
                problems.add("user_data.wrong_kind", path, message, fix="set family: al2023, or remove it")
            parts.extend((f"{path}.parts[{index}]" if kind == "mime" else path, part) for index, part in enumerate(found))
        else:
            problems.add(
                "user_data.wrong_kind",
                path,
                f"is {KIND_NAMES[kind]}" if kind != "unknown" else "is not something that cloud-init runs",
                allowed="a script that begins with #!, #cloud-config, a NodeConfig, or a MIME document of them",
                fix="begin a script with #!/bin/bash" if kind == "unknown" else f"remove it: {spec.family} cannot read it",
            )
    _check_cloud_configs(parts, problems)
    return tuple(parts)


def _mime_parts(text: str, path: str, problems: Problems) -> tuple[mime.Part, ...]:
    from ..formats import mime_reader

    return mime_reader.read(text, path, problems)


def _check_cloud_configs(parts: Sequence[tuple[str, mime.Part]], problems: Problems) -> None:
    """Report cloud-config parts of which a later one silently replaces what an earlier one says."""
    if not any(part.media_type == CLOUD_CONFIG for _place, part in parts):
        return
    from ..formats import cloud_config

    documents = []
    for place, part in parts:
        if part.media_type == CLOUD_CONFIG and not any(name.lower() in MERGE_HEADERS for name, _unused in part.headers):
            documents.append((place, cloud_config.load(mime.decoded(part, place, problems), place, problems)))
    if len(documents) > 1:
        cloud_config.conflicts(documents, problems)


def pre_parts(commands: Iterable[str], cure: str | None, before: str = "") -> Iterator[mime.Part]:
    """The commands that run before the node joins, as shell parts.

    cure: a shell command for the case that one of them fails, so that a node that was not prepared does not join. All of
    them are then in one part and share a shell: cd, export and functions carry over, and the first that fails ends it.
    A command with an interpreter line of its own is a script that the part writes and runs. Without a cure there is
    nothing to guard, and such a script is a part of its own.
    before: shell lines that run first. What they export reaches every command, so all commands are then in one part, too.
    """
    listed = [with_newline(command) for command in commands]
    if before or (cure and listed):
        yield mime.Part(SHELL, pre_script(listed, cure, before))
        return
    for own_interpreter, run in groupby(listed, key=lambda command: command.startswith("#!")):
        if own_interpreter:
            yield from (mime.Part(SHELL, command) for command in run)
        else:
            yield mime.Part(SHELL, "#!/bin/bash\nset -e\n" + "".join(run))


def pre_script(commands: Iterable[str], cure: str | None = None, before: str = "") -> str:
    """The commands as one script: the first that fails ends it. cure: a shell command for that case. before: lines that run first."""
    listed = [with_newline(command) for command in commands]
    lines = [script_line(f"pre-{number}", command) if command.startswith("#!") else command for number, command in enumerate(listed, 1)]
    return "#!/bin/bash\nset -e\n" + (on_failure(cure) if cure else "") + before + "".join(lines)


def proxy_exports(spec: NodeSpec) -> str:
    """Shell lines that give the proxy to the user's own commands. Empty without a proxy or commands."""
    variables = spec.proxy.variables_for_commands() if spec.proxy and spec.commands_pre else {}
    return "".join(f"export {name}={shell.quote(value)}\n" for name, value in variables.items())


def script_line(name: str, script: str) -> str:
    """Shell lines that write a script with an interpreter line of its own, and run it. C(name): of its file."""
    # Where cloud-init runs its own scripts from: other folders may be mounted noexec on hardened images.
    path = f"/var/lib/cloud/scripts/nodebootstrap/{name}"
    return f"{shell.write_file(path, script, '0700')}{path}\n"


def on_failure(command: str) -> str:
    """A bash line: run C(command) when the script ends with an error. C(command) must hold no single quote."""
    return f"trap '[ $? -eq 0 ] || {command}' EXIT\n"


def with_newline(text: str) -> str:
    """C(text) with a line end, so that whatever follows begins on a line of its own."""
    return text if text.endswith("\n") else f"{text}\n"


def document(parts: Iterable[tuple[str, mime.Part]], *, always_mime: bool) -> UserData:
    """Named parts as one document. One shell script needs no MIME around it unless C(always_mime) asks for it."""
    named = tuple(parts)
    fragments = tuple(Fragment(name, part.body) for name, part in named)
    if not named:
        return UserData("")
    if len(named) == 1 and not always_mime and named[0][1].content_type == SHELL and not named[0][1].headers:
        return UserData(named[0][1].body, fragments)
    return UserData(mime.write([part for _unused, part in named]), fragments)


def name_parts(prefix: str, parts: Iterable[mime.Part]) -> list[tuple[str, mime.Part]]:
    """C(parts) with the names C(prefix 1), C(prefix 2)…; a single one is just C(prefix)."""
    listed = list(parts)
    return [(prefix if len(listed) == 1 else f"{prefix} {number}", part) for number, part in enumerate(listed, 1)]


def run_after(existing: Sequence[mime.Part], own: list[tuple[str, mime.Part]]) -> list[tuple[str, mime.Part]]:
    """C(own), with file names that come after those of the user's parts where that is needed.

    cloud-init runs scripts in the order of their file names: C(part-001) for a part without one, C(runcmd) for the runcmd
    of a cloud-config. So the user's would run after ours if ours had no names.
    """
    texts = [text for part in existing for text in (part.content_type, *(value for _unused, value in part.headers))]
    names = [match[1].strip() for text in texts if (match := _FILE_NAME.search(text))]
    if not all(_only_a_script(part) for part in existing):
        names.append("runcmd")
    last = max(names, default="")
    if last < "part":
        return own
    prefix = "z" * (len(last) - len(last.lstrip("z")) + 1)
    return [(name, _named(part, f"{prefix}-nodebootstrap-{number:03d}")) for number, (name, part) in enumerate(own, 1)]


def script_name(part: mime.Part, number: int) -> str:
    """The file name of a part, by which cloud-init sorts the scripts it runs. number: which part it is, from 1."""
    texts = (part.content_type, *(value for _unused, value in part.headers))
    return next((match[1].strip() for text in texts if (match := _FILE_NAME.search(text))), f"part-{number:03d}")


def _only_a_script(part: mime.Part) -> bool:
    """Whether cloud-init makes at most one script of the part, and nothing that runs after the scripts without a name."""
    if part.media_type == SHELL:
        # Whatever the header says, cloud-init believes the text when it begins like a cloud-config.
        return part.body.startswith("#!") and not part.transfer_encoding
    return part.media_type in (NODE_CONFIG, BOOTHOOK)


def _named(part: mime.Part, name: str) -> mime.Part:
    if part.media_type != SHELL:
        return part
    return mime.Part(part.content_type, part.body, (*part.headers, ("Content-Disposition", f'attachment; filename="{name}"')))

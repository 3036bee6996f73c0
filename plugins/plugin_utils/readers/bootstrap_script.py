# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads scripts that call C(/etc/eks/bootstrap.sh) of Amazon Linux 2 and Ubuntu: the call, and what runs before and after it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..artifacts import cloud_init
from ..artifacts.bootstrap_script import CONFIG_DIR
from ..bootstrap_calls import KUBELET_MAX_PODS, SCRIPT, Call, is_shell, read_calls
from .meaning import Meaning, proxy_of
from .model import NotUnderstood, ReadPart
from .own_script import HEAD, own_script
from .places import place_of

_OF_AL2 = frozenset(
    {"--containerd-config-file", "--docker-config-json", "--enable-docker-bridge", "--enable-local-outpost", "--local-disks"}
)
_SIGNS = {
    "ubuntu": re.compile(r"\b(?:snap (?:set|start|stop|get|restart|install)|kubelet-eks|apt-get|apt install|apt update)\b"),
    "al2": re.compile(r"\b(?:yum|amazon-linux-extras|rpm -)\b"),
}
_REGION = re.compile(r"https://.*\.([a-z]{2}(?:-[a-z]+)+-\d)\.eks\.amazonaws\.com/?")
_PRE = cloud_init.pre_script((), f"install -D /dev/null {cloud_init.PRE_FAILED}")
_WITHOUT_EFFECT = ("systemctl daemon-reload\n", "systemctl try-restart containerd\n")
"""Lines of rendered scripts that only make rendered files effective."""
_SETS_OPTIONS = re.compile(r"\s*(?:#.*|set [-+].*)?")
_STOPS = re.compile(r"#!\s*\S+\s+-[a-z]*e")
"""A first line with which the shell ends at the first error."""
_CHANGES_SHELL = re.compile(r"\s*(?:export|declare|typeset|cd|pushd|source|\.|umask|ulimit|exec|trap|shopt)\b|\s*\. ")


def calls(part: ReadPart) -> bool:
    """Does the script mention the image's script?"""
    return part.kind == "shell" and SCRIPT in part.text and is_shell(part.text)


def read(parts: Sequence[ReadPart], family: str | None) -> Meaning:
    """The meaning of the parts. One of them is a script with a call. family: None if it is to be told by the text."""
    callers = [part for part in parts if calls(part)]
    found = Meaning(family or _family(parts))
    if len(callers) > 1:
        for part in callers:
            found.lose(part, part.text, "is not the only script that mentions /etc/eks/bootstrap.sh")
        found.keep(part for part in parts if part not in callers)
        return found
    [caller] = callers
    before = [part for part in parts if part.index < caller.index]
    _read_pre(before, found)
    _read_caller(caller, found)
    for part in parts[caller.index + 1 :]:
        if part.kind == "shell":
            found.node_group.setdefault("commands", {}).setdefault("post", []).append(part.text)
        elif part.kind not in ("empty", "unknown"):
            found.lose(part, part.text, "is a part after the script that starts kubelet, and a rendered part would be before it")
    return found


def _family(parts: Sequence[ReadPart]) -> str | None:
    text = "\n".join(part.text for part in parts)
    if any(option in text for option in _OF_AL2):
        return "al2"
    signs = [name for name, sign in _SIGNS.items() if sign.search(text)]
    return signs[0] if len(signs) == 1 else None


def _read_pre(parts: Sequence[ReadPart], found: Meaning) -> None:
    kept = []
    for part in parts:
        if part.kind == "shell" and part.text.startswith(_PRE):
            found.put("commands.pre", [part.text.removeprefix(_PRE)])
        else:
            kept.append(part)
            if part.kind == "cloud-config" and re.search(r"^runcmd:", part.text, re.MULTILINE):
                found.lose(
                    part, part.text, "has runcmd, which runs after the script that starts kubelet, and before it when it is rendered"
                )
    found.keep(kept)


def _read_caller(part: ReadPart, found: Meaning) -> None:
    from ..formats.shell_reader import PackageMissing

    own = own_script(part.text)
    text = part.text if own is None else f"{HEAD}{own.rest}"
    config: dict[str, Any] = {}
    post: list[dict[str, Any]] = []
    proxy: dict[str, str] = {}
    if own is not None:
        config, post, proxy = own.take_config(), own.take_post(), own.take_proxy()
        found.put("trust", own.take_trust())
        rest = "".join(line for line in own.rest.splitlines(keepends=True) if line not in _WITHOUT_EFFECT)
        text = f"{HEAD}{own.remaining()}{rest}"
    try:
        reading = read_calls(text)
        span = _span(text)
    except PackageMissing as error:
        found.lose(part, part.text, f"cannot be read: {error}; run pip install tree-sitter tree-sitter-bash")
        return
    except RecursionError:
        found.lose(part, part.text, "is nested too deeply")
        return
    if len(reading.calls) != 1 or reading.calls[0].cluster_name is None:
        found.lose(part, part.text, "does not contain exactly one call of /etc/eks/bootstrap.sh that always runs with known arguments")
        return
    _read_call(reading.calls[0], config, part, found)
    if proxy and (fields := proxy_of({"default": proxy}, found.cluster)) is not None:
        found.put("proxy", fields)
    elif proxy:
        found.lose(part, ", ".join(proxy.values()), "is a proxy without the entries that every node needs in NO_PROXY")
    if span is None:
        found.lose(part, part.text, "contains the call in a line with other commands, which are not read")
    else:
        lines = text.split("\n")
        variables, is_literal, _rest = lines[span[0]].partition(SCRIPT)
        if is_literal and "=" in variables:
            found.lose(part, lines[span[0]], "sets variables for the call, which have no field")
        before = lines[1 : span[0]] if lines[0].startswith("#!") else lines[: span[0]]
        _read_before(part, "".join(f"{line}\n" for line in before), found)
        _read_after("\n".join(lines[span[1] :]), found)
    if post:
        found.put("commands.post", post)


def _span(text: str) -> tuple[int, int] | None:
    """The lines of the call (from 0, the last excluded). None if other commands are on these lines."""
    from ..formats import shell_reader

    commands = [command for command in shell_reader.read(text).commands if SCRIPT in command.values]
    if len(commands) != 1:
        return None
    lines = text.split("\n")
    start = commands[0].line - 1
    for end in range(start + 1, len(lines) + 1):
        if lines[end - 1].endswith("\\"):
            continue
        alone = shell_reader.read("\n".join(lines[start:end]))
        if alone.is_readable and len(alone.commands) == 1 and len(alone.commands[0].values) == len(commands[0].values):
            # The call can also be in braces that begin before it.
            around = ("\n".join(lines[:start]), "\n".join(lines[end:]))
            return (start, end) if all(shell_reader.read(text).is_readable for text in around) else None
        if end - start > _LONGEST_CALL:
            return None
    return None


_LONGEST_CALL = 200
"""Lines of a call."""


def _read_before(part: ReadPart, text: str, found: Meaning) -> None:
    """Lines before the call are commands.pre. Options of the shell are not commands."""
    lines = text.split("\n")
    if all(_SETS_OPTIONS.fullmatch(line) for line in lines):
        return
    if any(_CHANGES_SHELL.match(line) for line in lines):
        changing = next(line for line in lines if _CHANGES_SHELL.match(line))
        number = part.text.split("\n").index(changing) + 1
        found.lose(part, changing, "changes the shell in which the call runs; as commands.pre, it runs in a shell of its own", number)
    stops = any(re.match(r"\s*set -[a-z]*e", line) for line in lines) or bool(_STOPS.match(part.text))
    body = "\n".join(lines)
    command = body if stops else f"set +e\n{body}:\n"
    found.node_group.setdefault("commands", {}).setdefault("pre", []).append(command)


def _read_after(text: str, found: Meaning) -> None:
    if not all(_SETS_OPTIONS.fullmatch(line) for line in text.split("\n")):
        found.put("commands.post", [text])


def _flags(call: Call, part: ReadPart, found: Meaning) -> dict[str, list[str]]:
    """kubelet's flags. The image of Amazon Linux 2 writes them into a unit, where systemd replaces C(%%) and its specifiers."""
    flags = {}
    for name, values in call.flags.items():
        plain = values if found.family == "ubuntu" else [value.replace("%%", "") for value in values]
        if found.family != "ubuntu" and (any("%" in value for value in plain) or (found.family is None and plain != values)):
            reason = "contains a percent sign, which systemd replaces on Amazon Linux 2"
            found.not_understood.append(NotUnderstood(place_of(part, f"--{name}"), f"--{name}={','.join(values)}", reason))
        else:
            flags[name] = [value if found.family == "ubuntu" else value.replace("%%", "%") for value in values]
    return flags


def _read_call(call: Call, config: Mapping[str, Any], part: ReadPart, found: Meaning) -> None:
    options = dict(call.options)
    flags = _flags(call, part, found)
    found.state("name", call.cluster_name)
    found.state("endpoint", options.pop("--apiserver-endpoint", None))
    found.state("certificate_authority", options.pop("--b64-cluster-ca", None))
    for option in ("--service-ipv4-cidr", "--service-ipv6-cidr"):
        found.state("service_cidr", options.pop(option, None))
    if options.get("--ip-family") == ("ipv6" if ":" in found.cluster.get("service_cidr", "") else "ipv4"):
        options.pop("--ip-family")
    if "--dns-cluster-ip" in options:
        found.read_dns(options.pop("--dns-cluster-ip").split(","))
    if options.get("--enable-local-outpost") == "true":
        found.state("outpost", options.pop("--enable-local-outpost") == "true")
        found.state("id", options.pop("--cluster-id", None))
    if options.get("--use-max-pods") in ("true", "false") and (options.pop("--use-max-pods") == "false" and "max-pods" not in flags):
        flags["max-pods"] = [str(KUBELET_MAX_PODS)]
    if options.get("--container-runtime") == "containerd":
        # The only runtime since Kubernetes 1.24.
        del options["--container-runtime"]
    region = _REGION.fullmatch(found.cluster.get("endpoint", ""))
    if region and {"--pause-container-account", "--pause-container-version"} <= options.keys():
        account, version = options.pop("--pause-container-account"), options.pop("--pause-container-version")
        found.put("containerd.pause_image", f"{account}.dkr.ecr.{region[1]}.amazonaws.com/eks/pause:{version}")
        found.state("region", region[1])
    if options.get("--local-disks") in ("raid0", "raid10", "mount"):
        found.put("local_storage", {"strategy": options.pop("--local-disks")})
    if config and flags.get("config-dir") == [CONFIG_DIR]:
        del flags["config-dir"]
    found.read_kubelet(config, flags)
    for name, value in options.items():
        place = place_of(part, name)
        found.not_understood.append(NotUnderstood(place, f"{name} {value}", "is an option of /etc/eks/bootstrap.sh without a field"))

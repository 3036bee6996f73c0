# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Windows Server 2019, 2022 and 2025, Core and Full: one C(<powershell>) block that calls Start-EKSBootstrap.ps1 once.

Nothing here has been executed on Windows: the output is proven with a PowerShell grammar and a lexer of PowerShell's quoting.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, NoReturn

from ..artifacts import comparison, windows_bootstrap, windows_proxy
from ..artifacts.model import File, Fragment, Notes, UserData
from ..artifacts.refusals import (
    given_at,
    refuse,
    refuse_apply,
    refuse_boot_labels,
    refuse_dns_of_managed,
    refuse_foreign_fields,
    refuse_managed,
    refuse_outpost,
    refuse_unless_managed_can,
)
from ..errors import Problems, SpecError, joined
from ..formats import pem, powershell
from ..formats.user_data_kind import KIND_NAMES, classify
from ..kubelet_flags import flags_of_field
from ..model.spec import NodeSpec
from ..network import ip_family

_REFUSED = {
    "strategy": ("exists only on al2 and ubuntu; Windows always boots through Start-EKSBootstrap.ps1", "remove it"),
    "containerd": ("cannot be set: the image's Start-EKSBootstrap.ps1 writes containerd's configuration", "bake it into the AMI"),
    "local_storage": ("is not supported on Windows: the image does not prepare instance store disks", "use commands.pre"),
}

_MANAGED_CAN = ("trust", "commands.pre", "user_data", "windows.version", "windows.edition")

_GZIP_REFUSED = "EC2Launch on Windows cannot read compressed user data"

_STOP = "$ErrorActionPreference = 'Stop'"
_CONTINUE = "$ErrorActionPreference = 'Continue'"
_CALL = re.compile(
    r"^[^#\n]*(?:&|-File\b)\s*(?:\$EKSBootstrapScriptFile\b|[\"']?[^\"'\n|;]*Start-EKSBootstrap\.ps1)",
    re.IGNORECASE | re.MULTILINE,
)

_FOLDER = r"C:\ProgramData\nodebootstrap"


def check(spec: NodeSpec, problems: Problems) -> None:
    """Report what Windows cannot express, and what would not reach PowerShell or kubelet as it was written."""
    refuse(spec, _REFUSED, problems)
    refuse_foreign_fields(spec, problems)
    refuse_outpost(spec, problems)
    refuse_boot_labels(spec, problems)
    refuse_unless_managed_can(spec, _MANAGED_CAN, problems)
    _check_network(spec, problems)
    _check_kubelet(spec, problems)
    _check_words(spec, problems)
    windows_proxy.check(spec, problems)
    _check_lines(spec, problems)
    _check_post(spec, problems)
    _existing(spec, problems)


def notes(spec: NodeSpec) -> Notes:
    """What C(override) changes, and PowerShell of the user that is not compared with the fields."""
    if not comparison.may_change_settings(spec):
        return Notes()
    from ..artifacts import windows_places

    return windows_places.notes(spec)


def kubelet_input(spec: NodeSpec, problems: Problems) -> None:
    """Windows writes a configuration that we do not know as a whole."""


def user_data(spec: NodeSpec) -> UserData:
    """Existing lines, pre commands, the call (or the override with its variables), post commands, in one block."""
    problems = Problems()
    existing, persist = _existing(spec, problems)
    if len(problems):
        raise SpecError(problems)
    named = list(_pieces(spec, existing, (windows_bootstrap.call(spec),) if not spec.managed and spec.override is None else ()))
    if not named:
        return UserData("", gzip_refused=_GZIP_REFUSED)
    lines = [line for _unused, piece in named for line in piece]
    fragments = tuple(Fragment(name, "\n".join(piece)) for name, piece in named)
    return UserData(powershell.wrap(lines, persist), fragments, _GZIP_REFUSED)


def files(spec: NodeSpec) -> tuple[File, ...]:
    """The script without EC2Launch's tags, and the parameters of its one call as a PowerShell data file beside it."""
    problems = Problems()
    existing, _unused = _existing(spec, problems)
    if len(problems):
        raise SpecError(problems)
    calls = not spec.managed and spec.override is None
    lines = [line for _unused, piece in _pieces(spec, existing, (windows_bootstrap.call_with_data(),) if calls else ()) for line in piece]
    found = [_file("bootstrap.ps1", "\n".join([*lines, ""]))] if lines else []
    if calls:
        found.append(_file(windows_bootstrap.DATA_FILE, windows_bootstrap.data(spec)))
    return tuple(found)


def plan(spec: NodeSpec) -> NoReturn:
    """Raise C(SpecError): the role of this family works through PowerShell."""
    refuse_apply(spec, "is not supported by apply, which works on Linux nodes")


def live_plan(spec: NodeSpec) -> dict[str, Any]:
    """What the role C(eks_node_windows) brings to a live node, as plain data. Raises C(SpecError) for what only a boot can do."""
    # Only live nodes need them, and the first call of a filter pays for every module that is loaded.
    from ..artifacts import windows_live

    refuse_managed(spec)
    problems = Problems()
    existing, persist = _existing(spec, problems)
    if persist:
        message = "makes user data run at every boot, but a live node is set up when the play runs"
        problems.add(
            "windows.persist_on_live_node",
            "node_group.windows.persist",
            message,
            fix="remove it here, and keep it for the user data of a launch template",
        )
    problems.raise_any()
    parts = dict(_pieces(spec, existing, (windows_bootstrap.call_with_data(),) if spec.override is None else (), is_live=True))
    post = parts.pop("commands.post", None)
    after = None if post is None else windows_live.script("commands.post", "post.ps1", [windows_bootstrap.SCRIPT, *post])
    if spec.override is not None:
        # What an override needs may have been set by the lines before it, so they stay one script.
        every = [line for piece in parts.values() for line in piece]
        return windows_live.plan(spec, pre=None, bootstrap=windows_live.script("override", "bootstrap.ps1", every), post=after)
    call = [*parts["script"], *parts.pop("Start-EKSBootstrap")]
    ours = windows_live.script("Start-EKSBootstrap", "bootstrap.ps1", call, windows_live.key(spec))
    lines = [line for piece in parts.values() for line in piece]
    pre = windows_live.script("commands.pre", "pre.ps1", lines) if len(parts) > 1 else None
    return windows_live.plan(spec, pre=pre, bootstrap=ours, post=after)


def _file(name: str, content: str) -> File:
    """Windows has no mode: 0600 stands for "its owner and administrators only"."""
    return File(f"{_FOLDER}\\{name}", content, mode="0600", owner="SYSTEM", group="Administrators")


def _pieces(spec: NodeSpec, existing: tuple[str, ...], call: tuple[str, ...], *, is_live: bool = False) -> Iterator[tuple[str, list[str]]]:
    """The script in named pieces. call: the line that bootstraps, none when an override or EKS does it.

    is_live: whether the node runs already, and the role sets the variables of its services.
    """
    if existing:
        yield "user_data", list(existing)
    pre = [line for command in spec.commands_pre for line in _lines(command)]
    if spec.trust:
        yield "trust", [_STOP, *_trust(spec), _CONTINUE]
    if spec.managed:
        if pre:
            yield "commands.pre", pre
        return
    if spec.proxy and (pre or not is_live):
        yield "proxy", [_STOP, *windows_proxy.variables(spec), *(() if is_live else windows_proxy.services(spec)), _CONTINUE]
    yield "script", [windows_bootstrap.SCRIPT]
    if pre:
        # The first command that fails ends the script: a node that was not prepared does not join.
        yield "commands.pre", [_STOP, *pre, _CONTINUE]
    if spec.override is not None:
        yield "override", [*windows_bootstrap.variables(spec), *_lines(spec.override)]
    if call:
        yield "Start-EKSBootstrap", list(call)
    if spec.proxy and not is_live:
        yield "proxy of kubelet", [_STOP, *windows_proxy.services(spec), _CONTINUE]
    if spec.commands_post:
        yield "commands.post", [_STOP, *_post(spec)]


def _post(spec: NodeSpec) -> Iterator[str]:
    """The lines of C(commands.post). Commands that follow each other and have the same timeout wait once."""
    for timeout, commands in groupby(spec.commands_post, key=lambda command: command.timeout):
        # It fails, and ends the script, if the bootstrap has not started the service, or the service does not run in time.
        yield f"(Get-Service kubelet).WaitForStatus('Running', [TimeSpan]::FromSeconds({timeout}))"
        yield from (line for command in commands for line in _lines(command.run))


def _trust(spec: NodeSpec) -> Iterator[str]:
    """Lines that add certificates to the machine's store, which Go programs ask each time they check a server."""
    types = "System.Security.Cryptography.X509Certificates"
    yield f"$Store = New-Object {types}.X509Store('Root', 'LocalMachine')"
    yield "$Store.Open('ReadWrite')"
    for certificate in spec.trust:
        content = base64.b64encode(pem.der(certificate)).decode("ascii")
        yield f"$Store.Add([{types}.X509Certificate2]::new([Convert]::FromBase64String('{content}')))"
    yield "$Store.Close()"


def _lines(text: str) -> list[str]:
    """The lines of a command. CR LF and CR are line ends to PowerShell as LF is; LF is what is written."""
    return text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n").split("\n")


def _existing(spec: NodeSpec, problems: Problems) -> tuple[tuple[str, ...], bool]:
    """The lines of the user's own user data without their tags, and whether all of it is to run at every boot."""
    lines: list[str] = []
    own = given_at(spec, "windows.persist") is not None
    persists: dict[bool, str] = {spec.windows.persist: "node_group.windows.persist"} if own else {}
    for path, text in zip(spec.user_data_paths, spec.user_data, strict=True):
        kind = classify(text)
        if kind not in ("powershell", "unknown"):
            allowed = "PowerShell, in <powershell> tags or without"
            problems.add("user_data.wrong_kind", path, f"is {KIND_NAMES[kind]}, which Windows cannot run", allowed=allowed, fix="remove it")
            continue
        before = len(problems)
        found = powershell.unwrap(text, path, problems)
        _check_once("\n".join(found.lines), path, problems)
        if len(problems) > before:
            continue
        lines.extend(line for one in found.lines for line in _lines(one))
        if found.persist is not None:
            persists.setdefault(found.persist, path)
    if len(persists) > 1:
        problems.add(
            "input.conflict",
            persists[False],
            f"sets <persist> to false, but {persists[True]} sets it to true",
            fix="set it in one place only",
        )
    if spec.managed and True in persists and not own:
        message = "sets <persist>, so EKS's own part of the user data would also run at every boot"
        problems.add("windows.persist_in_managed_group", persists[True], message, fix="remove the tag")
    return tuple(lines), True in persists


def _check_network(spec: NodeSpec, problems: Problems) -> None:
    if spec.managed:
        refuse_dns_of_managed(spec, problems)
        return
    if spec.cluster.service_cidr and ip_family(spec.cluster.service_cidr) == "ipv6":
        fix = "use another family in this cluster"
        problems.add(
            "windows.ipv6",
            "cluster.service_cidr",
            "is IPv6, which EKS does not support on Windows",
            value=spec.cluster.service_cidr,
            fix=fix,
        )
    given = given_at(spec, "kubelet.config.clusterDNS") is not None
    path = "node_group.kubelet.config.clusterDNS" if given else "cluster.dns_ips"
    if len(spec.dns_ips) > 1:
        problems.add(
            "cluster.too_many_dns_ips",
            path,
            "has several addresses, but Start-EKSBootstrap.ps1 accepts only one",
            value=list(spec.dns_ips),
            fix="keep one",
        )
    if (given or spec.cluster.dns_ips) and any(":" in address for address in spec.dns_ips):
        problems.add(
            "windows.ipv6", path, "is IPv6, which EKS does not support on Windows", value=list(spec.dns_ips), fix="use an IPv4 address"
        )


def _check_kubelet(spec: NodeSpec, problems: Problems) -> None:
    """The script writes kubelet's configuration and merges nothing into it; only flags go through."""
    for field, value in spec.kubelet_config.items():
        path = joined("node_group.kubelet.config", field)
        if value is None or problems.touches(path):
            continue
        names = flags_of_field(field, value, spec.cluster.kubernetes_version)
        flags = " and ".join(f"node_group.kubelet.flags.{flag}" for flag in names)
        problems.add(
            "windows.kubelet_config",
            path,
            "cannot be set on Windows: Start-EKSBootstrap.ps1 writes kubelet's configuration file and does not merge other configuration",
            fix=f"write it as {flags}" if flags else "remove it, or change the script in your own AMI",
        )


def _check_words(spec: NodeSpec, problems: Problems) -> None:
    for name, values in spec.kubelet_flags.items():
        for value in values:
            reason = powershell.kubelet_args_problem(f"--{name}={value}")
            if reason:
                problems.add(
                    "kubelet.unsafe_flag_value",
                    joined("node_group.kubelet.flags", name),
                    reason,
                    value=value,
                    fix="use a value without it",
                )
    for index, word in enumerate(spec.windows.kube_proxy_extra_args):
        path = f"node_group.windows.kube_proxy_extra_args[{index}]"
        if not re.fullmatch(r"--?[A-Za-z0-9][A-Za-z0-9-]*(=.*)?", word) or re.search(r"\s--?[A-Za-z0-9]", word):
            problems.add(
                "windows.invalid_kube_proxy_argument",
                path,
                "is not one argument of kube-proxy",
                value=word,
                allowed="--name=value",
                fix="write one list item for each",
            )
        elif reason := powershell.kubelet_args_problem(word):
            problems.add("windows.unsafe_word", path, reason, value=word, fix="use a value without it")
    if spec.windows.eks_endpoint and (reason := powershell.powershell_problem(spec.windows.eks_endpoint)):
        problems.add("windows.unsafe_word", "node_group.windows.eks_endpoint", reason, value=spec.windows.eks_endpoint)


def _check_post(spec: NodeSpec, problems: Problems) -> None:
    for index, command in enumerate(spec.commands_post):
        path = f"node_group.commands.post[{index}].when"
        if command.when == "ready" and not problems.touches("node_group.commands.post"):
            message = "cannot be ready on Windows, where no program of the image can ask the API server"
            fix = "set it to healthy, or run a DaemonSet, which starts after the node is Ready"
            problems.add("family.unsupported_field", path, message, value=command.when, fix=fix)


def _check_lines(spec: NodeSpec, problems: Problems) -> None:
    """Commands are the user's own code; refused is only what EC2Launch would cut, and a second bootstrap."""
    for path, text in _commands(spec):
        for number, line in enumerate(_lines(text), 1):
            try:
                powershell.wrap([line])
            except SpecError as error:
                for problem in error.problems:
                    problems.add(problem.rule, path, f"{problem.message} (line {number})", fix="remove it")
        if path != "node_group.override":
            _check_once(text, path, problems)


def _commands(spec: NodeSpec) -> Iterable[tuple[str, str]]:
    for name, commands in (("pre", spec.commands_pre), ("post", [command.run for command in spec.commands_post])):
        for index, command in enumerate(commands):
            yield f"node_group.commands.{name}[{index}]", command
    if spec.override is not None:
        yield "node_group.override", spec.override


def _check_once(text: str, path: str, problems: Problems) -> None:
    if _CALL.search(text):
        fix = "remove the call and write its parameters as fields, or write the call as override"
        problems.add("user_data.bootstraps_twice", path, "calls Start-EKSBootstrap.ps1, but a node can be bootstrapped only once", fix=fix)

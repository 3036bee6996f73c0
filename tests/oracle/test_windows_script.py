# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The PowerShell that runs on live Windows nodes, read by a grammar: no PowerShell engine can be had here.

What a wrong word would only show on Windows is looked for: functions and parameters that do not exist, variables that are not set,
fields of the plan that the library does not write, and syntax that Windows PowerShell 5.1 does not know.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tree_sitter
import tree_sitter_pwsh

from ansible_collections.nodebootstrap.eks.plugins.action import apply_windows
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.artifacts import windows_live
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.families import windows as family
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.families.registry import resolve
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.live import windows
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE

FOLDER = Path(apply_windows.FOLDER)
WHOLE = "\n".join((FOLDER / name).read_text("utf-8") for name in windows.SCRIPT)
SOURCES = {"whole": WHOLE, "instance_type": (FOLDER / windows.ASKS).read_text("utf-8")}

# Commands of Windows PowerShell 5.1 (Microsoft's reference of version 5.1), with the parameters that we use.
CMDLETS = {
    "ConvertFrom-Json": {"InputObject"},
    "ConvertTo-Json": {"InputObject", "Depth"},
    "Disable-ScheduledTask": {"InputObject"},
    "ForEach-Object": {"Process"},
    "Get-Acl": {"LiteralPath"},
    "Get-ChildItem": {"Path", "LiteralPath", "File", "Include", "ErrorAction"},
    "Get-CimInstance": {"ClassName", "Filter"},
    "Get-Command": {"Name", "CommandType"},
    "Get-ItemProperty": {"LiteralPath", "ErrorAction"},
    "Get-ScheduledTask": {"TaskName", "ErrorAction"},
    "Invoke-CimMethod": {"InputObject", "MethodName", "Arguments"},
    "Invoke-RestMethod": {"Uri", "Method", "Headers", "TimeoutSec"},
    "Invoke-WebRequest": {"Uri", "UseBasicParsing", "TimeoutSec"},
    "New-ItemProperty": {"LiteralPath", "Name", "PropertyType", "Value", "Force"},
    "Out-File": {"FilePath", "Append"},
    "Out-Null": set(),
    "Out-String": set(),
    "Remove-ItemProperty": {"LiteralPath", "Name", "ErrorAction"},
    "Sort-Object": {"Unique", "CaseSensitive"},
    "Start-Service": {"Name"},
    "Start-Sleep": {"Seconds", "Milliseconds"},
    "Stop-ScheduledTask": {"InputObject"},
    "Stop-Service": {"Name", "Force", "NoWait"},
    "Where-Object": {"FilterScript"},
}
AUTOMATIC = {"_", "?", "true", "false", "null", "matches", "lastexitcode", "psversiontable", "ansible", "erroractionpreference"}
NEWER = ("ternary", "null_coalesc", "null_conditional", "pipeline_chain_tail")
NEWER_WORDS = {"&&", "||", "??", "??=", "?.", "?["}


def nodes(root: Any) -> Iterator[Any]:
    yield root
    for child in root.children:
        yield from nodes(child)


def parsed(source: str) -> Any:
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_pwsh.language())).parse(source.encode()).root_node


def text(node: Any) -> str:
    return str(node.text.decode())


def of(root: Any, *kinds: str) -> list[Any]:
    return [node for node in nodes(root) if node.type in kinds]


def name_of(variable: Any) -> str:
    """A variable's name in lower case, without its dollar sign and braces; script: stays."""
    return text(variable).lstrip("$@").strip("{}").lower()


def functions(root: Any) -> dict[str, set[str]]:
    """Functions with the parameters that they declare."""
    found = {}
    for function in of(root, "function_statement"):
        (name,) = [text(child) for child in function.children if child.type == "function_name"]
        found[name] = {text(parameter).lstrip("$") for parameter in declared(function)}
    return found


def declared(scope: Any) -> list[Any]:
    """The variables of the parameters of a function, or of a script."""
    return [next(child for child in one.children if child.type == "variable") for one in of(scope, "script_parameter")]


def calls(root: Any) -> Iterator[tuple[str, list[str]]]:
    for command in of(root, "command"):
        names = [text(child) for child in command.children if child.type == "command_name"]
        parameters = [
            text(child).lstrip("-").rstrip(":")
            for elements in command.children
            if elements.type == "command_elements"
            for child in elements.children
            if child.type == "command_parameter"
        ]
        for name in names:
            yield name, parameters


def problems(source: str) -> list[str]:
    """All that is wrong with a script."""
    root = parsed(source)
    found = ["the tree holds an error"] if root.has_error else []
    found += [
        f"not Windows PowerShell 5.1: {text(node)[:40]}" for node in nodes(root) if node.type in NEWER_WORDS or node.type.startswith(NEWER)
    ]
    ours = functions(root)
    for name, parameters in calls(root):
        known = ours.get(name, CMDLETS.get(name))
        if known is None:
            found.append(f"no such command: {name}")
        else:
            found += [f"{name} has no parameter {one}" for one in parameters if one not in known]
    found += [f"{name} is not called" for name in ours if not re.search(rf"(?<!function )\b{name}\b", source)]
    return found + unset(root)


def unset(root: Any) -> list[str]:
    """Variables that are read where nothing has set them: in their function, or at the top of the script."""
    everywhere = {name for name in assigned(root) if name.startswith("script:")}
    top = {name_of(variable) for variable in declared(root) if not inside_function(variable)}
    top |= assigned(root, top_only=True)
    found = []
    for scope in [root, *of(root, "function_statement")]:
        known = assigned(scope, top_only=scope is root) | {name_of(variable) for variable in declared(scope)}
        known |= {name_of(child) for loop in of(scope, "foreach_statement") for child in loop.children if child.type == "variable"}
        for variable in of(scope, "variable"):
            name = name_of(variable)
            if scope is root and inside_function(variable):
                continue
            if name.partition(".")[0] not in known | everywhere | top | AUTOMATIC and not name.startswith("env:"):
                found.append(f"${name} is not set")
    return sorted(set(found))


def assigned(scope: Any, top_only: bool = False) -> set[str]:
    left = [variable for one in of(scope, "left_assignment_expression") for variable in of(one, "variable")]
    return {name_of(variable) for variable in left if not (top_only and inside_function(variable))}


def inside_function(node: Any) -> bool:
    while node is not None:
        if node.type == "function_statement":
            return True
        node = node.parent
    return False


@pytest.mark.parametrize("name", SOURCES)
def test_the_script_is_sound(name: str) -> None:
    assert problems(SOURCES[name]) == []


@pytest.mark.parametrize("name", [*windows.SCRIPT, windows.ASKS])
def test_each_file_is_powershell_and_small(name: str) -> None:
    source = (FOLDER / name).read_text("utf-8")
    assert not parsed(source).has_error
    assert source.isascii()
    lines = source.splitlines()
    assert len(lines) <= 400
    assert [line for line in lines if len(line) > 140 or line != line.rstrip()] == []


def test_no_file_is_forgotten() -> None:
    assert sorted(path.name for path in FOLDER.iterdir()) == sorted([*windows.SCRIPT, windows.ASKS])


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("$a = 1\n$a", None),
        ("$a = 1 ? 2 : 3", "Windows PowerShell 5.1"),
        ("Get-Acl -LiteralPath 'a' && Get-Acl -LiteralPath 'b'", "Windows PowerShell 5.1"),
        ("$a = $null ?? 1", "Windows PowerShell 5.1"),
        ("if (1 {", "error"),
        ("Get-Nothing", "no such command: Get-Nothing"),
        ("Get-Acl -Paht 'a'", "Get-Acl has no parameter Paht"),
        ("function Get-X { param ([string] $Name) $Name }\nGet-X -Nmae 'a'", "Get-X has no parameter Nmae"),
        ("function Get-X { $there }\nGet-X", "$there is not set"),
        ("function Get-X { $here = 1 }\nGet-X\n$here", "$here is not set"),
        ("function Get-X { 1 }", "Get-X is not called"),
        ('"text $nothing"', "$nothing is not set"),
    ],
)
def test_what_is_wrong_is_seen(source: str, problem: str | None) -> None:
    found = problems(source)
    assert (found == []) if problem is None else any(problem in one for one in found)


# --- the plan and the script --------------------------------------------------------------------------------------------

GROUP: dict[str, Any] = {
    "family": "windows",
    "labels": {"a": "b"},
    "taints": [{"key": "k", "effect": "NoSchedule"}],
    "commands": {"pre": "a", "post": "b"},
    "windows": {"version": "2022", "edition": "core", "excluded_snat_cidrs": ["10.0.0.0/8"], "kube_proxy_extra_args": ["--v=4"]},
}


def plan(**fields: Any) -> dict[str, Any]:
    spec, _unused = resolve(COMPLETE, GROUP | fields)
    packed = windows_live.encoded(family.live_plan(spec))
    return dict(json.loads(zlib.decompress(base64.b64decode(packed))))


def fields(value: Any, path: str = "") -> Iterator[str]:
    """Every path of names in plain data; items of lists under the path of their list."""
    for name, child in value.items() if isinstance(value, dict) else []:
        yield f"{path}{name}"
        yield from fields(child, f"{path}{name}.")


def used(source: str) -> set[str]:
    """Paths that the script reads of the plan, by the variables that stand for it or for a part of it."""
    short = {"expected": "expected.", "wanted": ""}
    found = {match.rstrip(".") for match in re.findall(r"\$script:Wanted\.([a-z_.]+)", source)}
    for variable, prefix in short.items():
        found |= {f"{prefix}{match}".rstrip(".") for match in re.findall(rf"\$\(?{variable}\.([a-z_]+)", source)}
    return found


def test_the_script_reads_what_the_library_writes() -> None:
    written = set(fields(plan()))
    assert {"bootstrap.key", "expected.dns", "registration.labels", "windows.build"} <= written
    # $wanted stands for the plan, or for one of its parts.
    ends = {path.rpartition(".")[2] for path in written}
    assert sorted(path for path in used(WHOLE) if path not in written and path.rpartition(".")[2] not in ends) == []
    # Read by name in a loop over names, or through the script that it belongs to.
    by_name = {"pre", "post", "labels", "taints", "file", "name", "key", "kubelet_arguments", "kube_proxy_arguments"}
    read = {path.rpartition(".")[2] for path in used(WHOLE)} | {part for path in used(WHOLE) for part in path.split(".")} | by_name
    assert sorted(end for end in ends if end not in read) == []


def test_the_library_and_the_script_agree_on_the_format() -> None:
    assert plan()["format"] == windows_live.FORMAT == 1
    assert f"$script:Wanted.format -ne {windows_live.FORMAT}" in WHOLE


def test_parameters_of_the_call_are_those_of_the_script() -> None:
    root = parsed(WHOLE)
    names = {text(variable).lstrip("$") for variable in declared(root) if not inside_function(variable)}
    assert names == {"Steps", "Plan", "TakeOver", "Reconcile", "Restart", "Wait"}


def test_check_mode_reaches_the_script() -> None:
    """win_powershell runs a script in check mode only when it says that it supports it."""
    for source in SOURCES.values():
        code = "\n".join(line for line in source.splitlines() if not line.startswith("#"))
        assert code.lstrip().startswith("[CmdletBinding(SupportsShouldProcess)]\nparam (")


WRITES = (
    r"\[IO\.(?:File|Directory)\]::(?:Write\w+|Replace|Move|Copy|Delete|CreateDirectory|SetAccessControl)"
    r"|Start-Service|Stop-Service|Invoke-CimMethod|& \$path"
)


def test_nothing_is_written_before_check_mode_ends() -> None:
    """In each step the return for check mode stands before the first call of anything that changes the node."""
    root = parsed(WHOLE)
    bodies = {next(text(c) for c in node.children if c.type == "function_name"): text(node) for node in of(root, "function_statement")}
    changing = {name for name, body in bodies.items() if re.search(WRITES, body)}
    while True:
        more = {name for name, body in bodies.items() if any(re.search(rf"(?<!function )\b{one}\b", body) for one in changing)}
        if more <= changing:
            break
        changing |= more
    assert {"Write-State", "Restore-Node", "Invoke-Change", "Invoke-Start", "Set-OurFile"} <= changing
    assert not changing & {
        "Get-Problem",
        "Get-NodeProblem",
        "Get-ScriptProblem",
        "Get-Work",
        "Invoke-Verify",
        "Get-Registration",
        "Read-State",
    }
    steps = changing - {name for name in changing if any(re.search(rf"(?<!function )\b{name}\b", bodies[o]) for o in changing - {name})}
    assert steps == {"Invoke-Configure", "Invoke-Remove", "Invoke-Start"}
    for name in sorted(steps):
        before, guard, _after = bodies[name].partition("$Ansible.CheckMode")
        assert guard, name
        assert not any(re.search(rf"(?<!function )\b{one}\b", before) for one in changing - {name}), name
        assert not re.search(WRITES, before), name


# --- patterns, which mean the same to .NET and to Python -------------------------------------------------------------------

KUBECONFIG = """apiVersion: v1
kind: Config
clusters:
- cluster:
    certificate-authority: "C:\\ProgramData\\Amazon\\EKS\\cluster_ca.crt"
    server: "https://abc.gr7.eu-west-1.eks.amazonaws.com"
  name: kubernetes
users:
- name: kubelet
  user:
    exec:
      command: C:\\Program Files\\Amazon\\EKS\\aws-iam-authenticator.exe
      args:
        - "token"
        - "-i"
        - "demo"
        - "--region"
        - "eu-west-1"
"""


@pytest.mark.parametrize(
    "text", [KUBECONFIG, KUBECONFIG.replace('"', ""), KUBECONFIG.replace("\n", "\r\n")], ids=["quoted", "bare", "CR LF"]
)
def test_whose_node_it_is(text: str) -> None:
    endpoint, name = re.findall(r"-match '([^']+)'", WHOLE)
    assert re.search(endpoint, text)[1] == "https://abc.gr7.eu-west-1.eks.amazonaws.com"
    assert re.search(name, text)[1] == "demo"
    assert not re.search(name, text.replace("-i", "-x"))


COMMAND_LINE = (
    '"C:\\Program Files\\Amazon\\EKS\\EKS-WindowsServiceHost.exe" kubelet "C:\\Program Files\\kubernetes\\kubelet.exe" '
    "--hostname-override=ip-10-0-0-5.ec2.internal --v=1 --node-labels={labels} --max-pods=20"
)


@pytest.mark.parametrize(("labels", "items"), [("a=b", ["a=b"]), ('"b=2,a=1"', ["b=2", "a=1"]), ('""', [])])
def test_what_a_node_has_registered_with(labels: str, items: list[str]) -> None:
    (pattern,) = re.findall(r'Matches\(\$CommandLine, "(.+)"\)\)', WHOLE)
    line = COMMAND_LINE.format(labels=labels)

    def found(flag: str) -> list[str]:
        matches = re.finditer(pattern.replace("`", "").replace("$Flag", flag), line)
        return [item for match in matches for item in ((match[1] or "") + (match[2] or "")).split(",") if item]

    assert found("--node-labels") == items
    assert found("--register-with-taints") == []
    assert found("--hostname-override") == ["ip-10-0-0-5.ec2.internal"]


def test_what_user_data_has_registered_is_taken_off_a_command_line() -> None:
    (pattern,) = re.findall(r"\[regex\]::Replace\(\$current, '([^']+)', ''\)", WHOLE)
    line = COMMAND_LINE.format(labels='"a=b,c=d"') + " --register-with-taints=k=v:NoSchedule"
    assert re.sub(pattern, "", line) == COMMAND_LINE.replace(" --node-labels={labels}", "")

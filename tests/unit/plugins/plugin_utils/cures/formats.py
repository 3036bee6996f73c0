# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cures for existing user data, documents in it, and text that a file or a command line cannot contain."""

from __future__ import annotations

import base64
from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import (
    cloud_config,
    mime,
    mime_reader,
    powershell,
    shell,
    systemd,
    toml,
)
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats.compression import gzip_bytes
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.cures.fields import AL2, AL2023, BOTTLEROCKET, WINDOWS
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.cures.kubelet import nested
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.cures.row import REMOVED, Cure, call, group, reports
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.error_rows.outputs import LONG, NOISE
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.error_rows.user_data import MIRRORS, PROXY, PROXY_DROP_IN

SHELL = "#!/bin/bash\necho hi\n"
MIME = 'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="B"\n'
SHELL_PART = f"--B\nContent-Type: text/x-shellscript\n\n{SHELL}"
DOCUMENT = f"{MIME}\n{SHELL_PART}--B--\n"
NODE_CONFIG = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {kubelet: {config: {maxPods: 5}}}\n"
POWERSHELL = "<powershell>\nls\n</powershell>\n"
TEXT = "node_group.user_data"
CONTAINERD = {"containerd": {"registry_mirrors": {"docker.io": ["https://m.example"]}}}
SECOND_CALL = "& $EKSBootstrapScriptFile -EKSClusterName x"


def _mime(rule: str, before: str, after: str = DOCUMENT) -> Cure:
    return group(rule, AL2023 | {"user_data": before}, {TEXT: after})


def _part(content_type: str, body: str, *headers: str) -> str:
    lines = "".join(f"{header}\n" for header in headers)
    return f"{MIME}\n--B\nContent-Type: {content_type}\n{lines}\n{body}\n--B--\n"


def _windows(rule: str, before: str, after: str, **fields: Any) -> Cure:
    return group(rule, WINDOWS | {"user_data": before} | fields, {TEXT: after})


ROWS = (
    # Existing user data.
    group("user_data.wrong_kind", AL2023 | {"user_data": POWERSHELL}, {TEXT: REMOVED}),
    group("user_data.wrong_kind", AL2 | {"user_data": NODE_CONFIG}, {"node_group.family": "al2023"}),
    group("user_data.wrong_kind", AL2 | {"user_data": "echo hi\n"}, {TEXT: "#!/bin/bash\necho hi\n"}),
    group("user_data.wrong_kind", BOTTLEROCKET | {"user_data": SHELL}, {TEXT: REMOVED}),
    group("user_data.wrong_kind", WINDOWS | {"user_data": SHELL}, {TEXT: REMOVED}),
    group("user_data.unreadable", AL2023 | {"user_data": "A" * 41}, {TEXT: base64.b64encode(SHELL.encode()).decode()}),
    group(
        "user_data.unreadable",
        AL2023 | {"user_data": base64.b64encode(gzip_bytes(SHELL.encode())[:-6]).decode()},
        {TEXT: base64.b64encode(gzip_bytes(SHELL.encode())).decode()},
    ),
    group("user_data.conflict", AL2023 | {"user_data": NODE_CONFIG, "max_pods": 20}, {"node_group.user_data_precedence": "ours"}),
    group("user_data.conflict", AL2023 | {"user_data": NODE_CONFIG, "max_pods": 20}, {"node_group.user_data_precedence": "theirs"}),
    group("user_data.conflict", AL2 | PROXY | {"user_data": PROXY_DROP_IN}, {"node_group.user_data_precedence": "theirs"}),
    group(
        "user_data.conflict",
        AL2 | PROXY | {"user_data": PROXY_DROP_IN, "user_data_precedence": "ours"},
        {"node_group.user_data_precedence": "theirs"},
    ),
    group("user_data.conflict", AL2 | PROXY | {"user_data": PROXY_DROP_IN, "user_data_precedence": "ours"}, {TEXT: REMOVED}),
    group("user_data.conflict", AL2023 | CONTAINERD | {"user_data": MIRRORS}, {"node_group.user_data_precedence": "ours"}),
    group("user_data.conflict", AL2023 | CONTAINERD | {"user_data": MIRRORS}, {TEXT: REMOVED}),
    group(
        "user_data.replaced_by_override",
        AL2023 | {"override": NODE_CONFIG, "instance": {"type": "m5.large"}, "max_pods": 20},
        {"node_group.max_pods": REMOVED},
    ),
    group(
        "user_data.unread_shell",
        AL2 | {"user_data": "#!/bin/bash\nsnap set kubelet-eks max-pods=20\n"},
        {TEXT: REMOVED},
    ),
    group("nodeconfig.several_documents", AL2023 | {"user_data": f"{NODE_CONFIG}---\n{NODE_CONFIG}"}, {TEXT: NODE_CONFIG}),
    group("user_data.bootstraps_twice", WINDOWS | {"commands": {"pre": [SECOND_CALL]}}, {"node_group.commands": REMOVED}),
    group(
        "user_data.bootstraps_twice",
        WINDOWS | {"commands": {"pre": [SECOND_CALL]}},
        {"node_group.commands": REMOVED, "node_group.override": SECOND_CALL},
    ),
    group("user_data.too_large", AL2023 | {"commands": {"pre": LONG}}, {"encoding": "gzip_base64"}),
    group("user_data.too_large", AL2023 | {"commands": {"pre": NOISE}}, {"node_group.commands.pre": "aws s3 cp s3://x/y . && sh y"}),
    # cloud-config.
    reports(
        "cloud_config.replaced_key",
        cloud_config.conflicts,
        ([("a", {"runcmd": ["x"]}), ("b", {"runcmd": ["y"]})],),
        ([("a", {"runcmd": ["x"]}), ("b", {"runcmd": ["y"], "merge_how": "list(append)+dict(recurse_array)"})],),
    ),
    reports(
        "cloud_config.unreadable",
        cloud_config.load,
        ("#cloud-config\na: [\n", "user_data"),
        ("#cloud-config\na: []\n", "user_data"),
    ),
    # MIME.
    _mime("mime.leading_blank", f"\n{DOCUMENT}"),
    _mime("mime.missing_version", DOCUMENT.split("\n", 1)[1]),
    _mime("mime.invalid_boundary", DOCUMENT.replace('; boundary="B"', "")),
    _mime("mime.missing_end", DOCUMENT.removesuffix("--B--\n")),
    _mime("mime.no_part", f"{MIME}\n--B--\n"),
    _mime("mime.too_complex", f"{MIME}\n{SHELL_PART * 1001}--B--\n"),
    _mime("mime.invalid_header", MIME + SHELL_PART + "--B--\n"),
    _mime("mime.text_after_end", DOCUMENT + SHELL_PART + "--B--\n", MIME + "\n" + SHELL_PART + SHELL_PART + "--B--\n"),
    _mime("mime.text_before_parts", f"{MIME}\n{SHELL}{SHELL_PART}--B--\n", f"{MIME}\n{SHELL_PART}{SHELL_PART}--B--\n"),
    _mime("mime.nested_document", _part("multipart/mixed; boundary=C", f"--C\nContent-Type: text/x-shellscript\n\n{SHELL}--C--")),
    _mime("mime.no_interpreter", _part("text/x-shellscript", "echo hi"), _part("text/x-shellscript", SHELL)),
    _mime("mime.unknown_type", _part("text/html", SHELL), _part("text/x-shellscript", SHELL)),
    _mime("mime.repeated_header", _part("text/x-shellscript", SHELL, "Content-Type: text/cloud-config")),
    _mime(
        "mime.unreadable_part",
        _part("text/x-shellscript", "***", "Content-Transfer-Encoding: base64"),
        _part("text/x-shellscript", base64.b64encode(SHELL.encode()).decode(), "Content-Transfer-Encoding: base64"),
    ),
    _mime(
        "mime.missing_encoding",
        _part("text/x-shellscript", "#!/bin/bash\necho ü"),
        _part("text/x-shellscript", base64.b64encode("#!/bin/bash\necho ü".encode()).decode(), "Content-Transfer-Encoding: base64"),
    ),
    _mime("mime.missing_encoding", _part("text/x-shellscript", "#!/bin/bash\necho ü"), "#!/bin/bash\necho ü"),
    _mime("mime.not_multipart", "MIME-Version: 1.0\nContent-Type: text/plain\n\n" + SHELL, SHELL),
    reports(
        "mime.encoded_document",
        mime_reader.read,
        (f"{MIME}Content-Transfer-Encoding: base64\n\n{SHELL_PART}--B--\n", "user_data"),
        (
            _part("text/x-shellscript", base64.b64encode(SHELL.encode()).decode(), "Content-Transfer-Encoding: base64"),
            "user_data",
        ),
    ),
    reports(
        "mime.invalid_content_type",
        mime_reader.read,
        ("MIME-Version: 1.0\nContent-Type: multipart/\n\nx\n", "user_data"),
        (DOCUMENT, "user_data"),
    ),
    call("mime.unwritable_part", mime.write, [mime.Part("text/x-shellscript", "\ud800")], [mime.Part("text/x-shellscript", SHELL)]),
    # PowerShell.
    _windows("powershell.script_block", "<script>dir</script>", "<powershell>\ndir\n</powershell>\n"),
    _windows("powershell.unbalanced_tag", "<powershell>\nls\n", POWERSHELL),
    _windows("powershell.text_outside", POWERSHELL + "ls\n", "<powershell>\nls\nls\n</powershell>\n"),
    _windows(
        "powershell.invalid_persist", POWERSHELL + "<persist>true</persist><persist>false</persist>", POWERSHELL + "<persist>true</persist>"
    ),
    _windows("powershell.unknown_tag", POWERSHELL + "<powershellArguments>x</powershellArguments>\n", POWERSHELL),
    group("powershell.unsafe_text", WINDOWS | {"commands": {"pre": ["echo </powershell>"]}}, {"node_group.commands.pre[0]": "echo"}),
    call("powershell.empty_list", lambda values: powershell.call("$script", values), [("Names", [])], []),
    call("powershell.empty_list", lambda values: powershell.call("$script", values), [("Names", [])], [("Names", ["x"])]),
    call("powershell.invalid_name", lambda name: powershell.call("$script", [(name, "x")]), "A-B", "AB"),
    # Text for shells and units.
    call("shell.invalid_mode", lambda mode: shell.write_file("/etc/x", "y", mode), "rw", "0644"),
    call("shell.invalid_path", lambda path: shell.write_file(path, "y"), "etc/x", "/etc/x"),
    call("shell.unsafe_text", shell.quote, "a\0", "a"),
    call("systemd.invalid_name", lambda name: systemd.environment_assignment(name, "x"), "a b", "a_b"),
    call("systemd.unsafe_text", systemd.exec_word, "a\0b", "ab"),
    # TOML.
    call("toml.integer_too_large", toml.dump, {"a": 2**64}, {"a": str(2**64)}),
    call("toml.key_not_text", toml.dump, {1: "x"}, {"1": "x"}),
    call("toml.null", toml.dump, {"a": None}, {}),
    call("toml.surrogate", toml.dump, {"a": "\ud800"}, {"a": ""}),
    call("toml.too_deep", toml.dump, nested(80), nested(3)),
    call("toml.unwritable", toml.dump, {"a": {1, 2}}, {"a": [1, 2]}),
    reports("toml.date", toml.load, ("a = 2026-01-01\n", "user_data"), ('a = "2026-01-01"\n', "user_data")),
    reports("toml.unsafe_for_eks", toml.eks_merge_problem, ({'say "x"': 1}, "settings"), ({"say": 1}, "settings")),
    group("toml.unreadable", BOTTLEROCKET | {"user_data": "[settings\n"}, {TEXT: "[settings]\n"}),
    # Bottlerocket's settings in TOML.
    group("bottlerocket.no_settings", BOTTLEROCKET | {"user_data": "settings = 1\n"}, {TEXT: '[settings]\nmotd = "x"\n'}),
    group(
        "bottlerocket.outside_settings",
        BOTTLEROCKET | {"user_data": "[kubernetes]\nmax-pods = 3\n"},
        {TEXT: "[settings.kubernetes]\nmax-pods = 3\n"},
    ),
)

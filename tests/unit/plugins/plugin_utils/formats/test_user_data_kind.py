# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which syntax user data is written in."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats.user_data_kind import Kind, classify

NODE_CONFIG = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {}\n"

CASES = [
    ("", "empty"),
    (" \n\t\r\n", "empty"),
    ('MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="B"\n\n--B--\n', "mime"),
    ("content-type: multipart/mixed; boundary=B\n\n", "mime"),
    ("From: a@b\nMime-Version: 1.0\n\n", "mime"),
    ("\nMIME-Version: 1.0\n", "mime"),
    ("  MIME-Version: 1.0\n  Content-Type: x\n", "mime"),
    ("#!/bin/bash\necho hi\n", "shell"),
    ("#!/usr/bin/env python3\n", "shell"),
    (f"#!/bin/bash\ncat <<E >/etc/x\n{NODE_CONFIG}E\n", "shell"),
    ("#!/bin/bash\necho '<powershell>'\n", "shell"),
    ("#!/bin/bash\n# MIME-Version: 1.0\n", "shell"),
    ("\n#!/bin/bash\n", "unknown"),
    ("  #!/bin/bash\n", "unknown"),
    ("echo hi\n", "unknown"),
    ("#cloud-config\nruncmd: []\n", "cloud-config"),
    ("\n#cloud-config\n", "cloud-config"),
    ("#Cloud-Config\n", "cloud-config"),
    ("#cloud-config-archive\n- a\n", "archive"),
    (f"#cloud-config\nwrite_files:\n- content: |\n    {NODE_CONFIG}", "cloud-config"),
    (f"#cloud-config\n{NODE_CONFIG}", "cloud-config"),
    ("## template: jinja\n#cloud-config\n", "jinja"),
    ("##template:jinja\n", "jinja"),
    ("#include\nhttps://x\n", "include"),
    ("#include-once\nhttps://x\n", "include"),
    ("#cloud-boothook\n#!/bin/sh\n", "boothook"),
    (NODE_CONFIG, "nodeconfig"),
    (f"# comment\n\n---\n{NODE_CONFIG}", "nodeconfig"),
    ("kind: NodeConfig\nspec: {}\napiVersion: 'node.eks.aws/v1alpha1'\n", "nodeconfig"),
    ('"kind": "NodeConfig"\n"apiVersion": "node.eks.aws/v1alpha1"\n', "nodeconfig"),
    ('{"apiVersion":"node.eks.aws/v1alpha1","kind":"NodeConfig"}', "nodeconfig"),
    ("{kind: NodeConfig, apiVersion: node.eks.aws/v1alpha1}", "nodeconfig"),
    ("--- # c\napiVersion: node.eks.aws/v1alpha1\r\nkind: NodeConfig\r\n", "nodeconfig"),
    # cloud-config without its header, a script of comments, half a NodeConfig: YAML, but not of a known program.
    ("runcmd:\n- echo hi\n", "unknown"),
    ("# only\n# comments\n", "unknown"),
    ("# kind: NodeConfig\n# apiVersion: node.eks.aws/v1alpha1\n", "unknown"),
    ("kind: NodeConfig\n", "unknown"),
    ("apiVersion: node.eks.aws/v1alpha1\n", "unknown"),
    ("apiVersion: v1\nkind: ConfigMap\n", "unknown"),
    ("data:\n  apiVersion: node.eks.aws/v1alpha1\n  kind: NodeConfig\n", "unknown"),
    ("[settings.kubernetes]\nmax-pods = 1\n", "toml"),
    ("# comment\n[settings]\nmotd = 'x'\n", "toml"),
    ("[[settings.container-registry.mirrors]]\n", "toml"),
    ("settings.motd = 'x'\n", "toml"),
    ('  ["settings".kubernetes]\n', "toml"),
    ("settings = { motd = 'x' }\n", "toml"),
    ("[plugins]\n", "unknown"),
    ("<powershell>\nWrite-Host\n</powershell>\n", "powershell"),
    ("<script>dir</script>", "powershell"),
    ("# c\r\n<PowerShell>\r\n", "powershell"),
    ("<persist>true</persist>\n<powershell></powershell>", "powershell"),
]


@pytest.mark.parametrize(("text", "kind"), CASES)
def test_the_kind(text, kind):
    assert classify(text) == kind


@given(st.one_of(st.text(st.characters()), st.lists(st.sampled_from([text for text, _unused in CASES])).map("".join)))
def test_any_text_has_a_kind(text):
    assert classify(text) in get_args(Kind)

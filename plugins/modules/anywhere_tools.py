#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Installs the tools of an admin machine."""

from __future__ import annotations

DOCUMENTATION = r"""
module: anywhere_tools
short_description: Install the tools of an admin machine of EKS Anywhere
version_added: 0.1.0
description:
  - Installs C(kind), C(clusterctl), C(kubectl), C(helm), C(eksctl) and C(eksctl-anywhere) from URLs, or from files on the controller, into
    a folder.
  - Every file must have its SHA-256 checksum, and every program must print its version, before any of the tools is replaced. Each one is
    replaced at once, so that a program that starts meanwhile is the old or the new one. If one tool has a problem, none is replaced, and
    the problems of all tools are reported.
  - A tool whose file has the checksum already is not fetched again. For a tool from an archive, a file beside it names the archive.
  - Files of the controller are copied only if the machine does not have them. URLs are read with the proxies of the machine's environment.
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
options:
  tools:
    description: The tools.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: The name of the tool.
        type: str
        choices: [kind, clusterctl, kubectl, helm, eksctl, eksctl-anywhere]
        required: true
      version:
        description: The version that the tool must print, such as V(0.33.0).
        type: str
        required: true
      sha256:
        description: The SHA-256 checksum of the file. For an archive, that of the archive.
        type: str
        required: true
      url:
        description: The URL of the program, or of an archive (C(.tar.gz), C(.tgz), C(.tar.xz), C(.tar)).
        type: str
      path:
        description: The path of this file on the controller, instead of O(tools[].url).
        type: str
      member:
        description:
          - The path of the program in the archive. By default, the archive must have one file with the name of the tool.
        type: str
  folder:
    description: The folder on the machine, an absolute path.
    type: path
    default: /usr/local/bin
  timeout:
    description: Seconds without data until a transfer is given up, and seconds for a tool to print its version.
    type: float
    default: 60.0
  staged:
    description: Used by the action. Where the files of the controller are on the machine, by the names of the tools.
    type: dict
    default: {}
attributes:
  action:
    description: The files are copied from the controller.
    support: full
  check_mode:
    description: Reports the tools that would be installed. Checks the files of the controller, and reads no URL.
    support: full
  diff_mode:
    description: Shows the checksums of the programs. In check mode, that of a program in an archive is not known.
    support: full
  idempotent:
    description: A second run with the same options changes nothing, and uses no network.
    support: full
  platform:
    description: Where the module runs.
    support: full
    platforms: posix
requirements:
  - Python 3.7 or newer on the machine
  - A user who may write to O(folder)
seealso:
  - module: nodebootstrap.eks.anywhere_preflight
  - plugin: nodebootstrap.eks.anywhere_admin_plan
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Install kind
  nodebootstrap.eks.anywhere_tools:
    tools:
      - name: kind
        version: 0.33.0
        url: https://example.com/kind-linux-amd64
        sha256: 0f5ab4b1b1a6e3b3b7e8a2d1f4c5968778695a4b3c2d1e0f0f1e2d3c4b5a6978
  become: true
"""

RETURN = r"""
tools:
  description: Every tool with its C(name), C(path), C(version), the C(sha256) of the program, and whether it was C(installed) in this run.
  returned: success
  type: list
  elements: dict
  sample:
    - name: kind
      path: /usr/local/bin/kind
      version: 0.33.0
      sha256: 0f5ab4b1b1a6e3b3b7e8a2d1f4c5968778695a4b3c2d1e0f0f1e2d3c4b5a6978
      installed: true
"""

import os

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.urls import open_url

from ..module_utils._node.zip_imports import compile_once

compile_once()

from ..module_utils._anywhere_admin import tool_files
from ..module_utils._node.errors import ApplyRefused

NAMES = ("kind", "clusterctl", "kubectl", "helm", "eksctl", "eksctl-anywhere")
OPTIONS = {
    "tools": {
        "type": "list",
        "elements": "dict",
        "required": True,
        "options": {
            "name": {"type": "str", "choices": list(NAMES), "required": True},
            "version": {"type": "str", "required": True},
            "sha256": {"type": "str", "required": True},
            "url": {"type": "str"},
            "path": {"type": "str"},
            "member": {"type": "str"},
        },
        "mutually_exclusive": [("url", "path")],
        "required_one_of": [("url", "path")],
    },
    "folder": {"type": "path", "default": "/usr/local/bin"},
    "timeout": {"type": "float", "default": 60.0},
    "staged": {"type": "dict", "default": {}},
}


def main():
    """Install what is missing."""
    module = AnsibleModule(argument_spec=OPTIONS, supports_check_mode=True)
    given = module.params
    tools = tool_files.tool_files(given["tools"], given["staged"])
    if not os.path.isabs(given["folder"]):
        module.fail_json(msg=f"folder {given['folder']} is not an absolute path")

    def read(url):
        return open_url(url, timeout=given["timeout"], http_agent="ansible-nodebootstrap", follow_redirects="safe")

    try:
        before = {tool.name: tool_files.look(given["folder"], tool) for tool in tools}
        wanted = [tool for tool in tools if not before[tool.name].is_right]
        absent = [tool.name for tool in wanted if tool.url is None and tool.staged is None]
        if absent:
            # Nothing is changed yet: the action copies these files, and calls this module again.
            module.exit_json(changed=True, absent=absent)
        for tool in tools:
            if before[tool.name].is_right:
                tool_files.check_version(given["folder"], tool, given["timeout"])
        after = {} if module.check_mode or not wanted else tool_files.install(given["folder"], wanted, read, given["timeout"])
    except ApplyRefused as error:
        module.fail_json(msg=str(error))
    if module.check_mode:
        after = {tool.name: None if tool.is_archive else tool.sha256 for tool in wanted}
    names = {tool.name for tool in wanted}
    rows = [
        {
            "name": tool.name,
            "path": os.path.join(given["folder"], tool.name),
            "version": tool.version,
            "sha256": after.get(tool.name) if tool.name in names else before[tool.name].sha256,
            "installed": tool.name in names and not module.check_mode,
        }
        for tool in tools
    ]
    diff = {
        "before": "".join(f"{tool.name} {before[tool.name].sha256 or 'is not installed'}\n" for tool in wanted),
        "after": "".join(f"{tool.name} {after.get(tool.name) or 'from an archive'}\n" for tool in wanted),
        "before_header": given["folder"],
        "after_header": given["folder"],
    }
    module.exit_json(changed=bool(wanted), tools=rows, diff=diff)


if __name__ == "__main__":
    main()

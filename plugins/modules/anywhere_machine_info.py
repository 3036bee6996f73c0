#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Observes an admin machine before a cluster is created."""

from __future__ import annotations

DOCUMENTATION = r"""
module: anywhere_machine_info
short_description: Observe an admin machine of EKS Anywhere
version_added: 0.1.0
description:
  - Reads what decides whether a cluster can be created from this machine. These are disk, memory, limits of inotify, cgroups, clock, Docker
    and its containers, tools and their versions, ports, free addresses and registries.
  - Only reads. Connects to O(registries) at C(/v2/) without credentials, and to the ports 6443, 443 and 22 of O(addresses).
  - M(nodebootstrap.eks.anywhere_preflight) decides from the result what is wrong.
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
options:
  tools:
    description: The tools whose paths and versions are read.
    type: list
    elements: str
    choices: [docker, kind, clusterctl, kubectl, helm, eksctl, eksctl-anywhere]
    default: [docker, kind, clusterctl, kubectl, helm]
  work_dir:
    description: The folder in which the files of clusters are written. It does not have to exist.
    type: path
    default: "."
  files:
    description: The files whose sizes are read. Relative paths start at O(work_dir).
    type: list
    elements: str
    default: []
  addresses:
    description: The addresses that no machine should have yet.
    type: list
    elements: str
    default: []
  registries:
    description: The registries to connect to.
    type: list
    elements: dict
    default: []
    suboptions:
      host:
        description: The host, which may have a port.
        type: str
        required: true
      proxy:
        description: The URL of a proxy. By default that of the environment of the user.
        type: str
      no_proxy:
        description: The hosts without the proxy, separated by commas.
        type: str
      ca_cert:
        description: The certificate of the authority that the registry's certificate must have, in PEM. By default those of the machine.
        type: str
      verify:
        description: Whether to verify the certificate of the registry.
        type: bool
        default: true
  timeout:
    description: Seconds until one tool or one registry times out, more than 0 and at most 60.
    type: float
    default: 10.0
attributes:
  check_mode:
    description: Returns the same result.
    support: full
  diff_mode:
    description: Changes nothing, so there is no difference to show.
    support: none
  idempotent:
    description: Changes nothing.
    support: full
  platform:
    description: Where the module runs.
    support: full
    platforms: posix
requirements:
  - Python 3.7 or newer on the machine
seealso:
  - module: nodebootstrap.eks.anywhere_preflight
"""

EXAMPLES = r"""
- name: Observe the admin machine
  nodebootstrap.eks.anywhere_machine_info:
    tools: [docker, kind]
  register: observed

- name: Show the version of kind
  ansible.builtin.debug:
    msg: "{{ observed.machine.tools.kind.version }}"
"""

RETURN = r"""
machine:
  description: What was observed.
  returned: success
  type: dict
  contains:
    addresses:
      description: O(addresses) with the port that answers, or null if nothing answers.
      type: dict
      returned: always
      sample: {"10.0.0.10": null}
    cgroup_version:
      description: The version of cgroups of the machine.
      type: int
      returned: always
      sample: 2
    clock_synchronized:
      description: Whether the clock follows a time source. Null if it is unknown.
      type: bool
      returned: always
      sample: true
    containers:
      description: The containers of Docker with C(name), C(state), C(image), and the C(cluster) and C(role) if they belong to a cluster.
      type: list
      elements: dict
      returned: always
      sample: [{name: dev-control-plane, state: running, image: "kindest/node:v1.36.0", cluster: dev, role: control-plane}]
    disks:
      description: The free bytes and inodes for O(work_dir) (C(work_dir)) and for the data of Docker (C(docker)).
      type: dict
      returned: always
      sample: {"work_dir": {"path": "/home/me", "free_bytes": 85899345920, "free_inodes": 5000000, "inodes": 6000000}}
    docker:
      description: The C(version), C(memory) in bytes, C(cpus), C(root) and C(cgroup_version) of the daemon, and the C(problem) if it
        does not answer.
      type: dict
      returned: always
      sample: {"version": "28.0.1", "memory": 33331486720, "cpus": 8, "root": "/var/lib/docker", "cgroup_version": 2, "problem": ""}
    files:
      description: O(files) with their sizes, or null for files that do not exist.
      type: dict
      returned: always
      sample: {"dev/dev-eks-a-cluster.kubeconfig": null}
    inotify:
      description: The limits C(max_user_watches) and C(max_user_instances).
      type: dict
      returned: always
      sample: {"max_user_watches": 524288, "max_user_instances": 512}
    listening_ports:
      description: The TCP ports in use.
      type: list
      elements: int
      returned: always
      sample: [22]
    memory:
      description: The C(total) memory, the C(available) memory and the C(swap) space in bytes.
      type: dict
      returned: always
      sample: {"total": 33331486720, "available": 21474836480, "swap": 0}
    problems:
      description: What could not be read, with the reasons.
      type: list
      elements: str
      returned: always
      sample: []
    registries:
      description: O(registries) with the C(host), the HTTP C(status), and the C(problem) with its C(kind) if it does not answer.
      type: list
      elements: dict
      returned: always
      sample: [{host: registry.k8s.io, status: 200, problem: "", kind: ""}]
    system:
      description: C(id) and C(version_id) of C(/etc/os-release), and the C(architecture).
      type: dict
      returned: always
      sample: {"id": "ubuntu", "version_id": "24.04", "architecture": "x86_64"}
    tools:
      description: The C(path) and the C(version) of each tool, null if it is missing, and the C(problem).
      type: dict
      returned: always
      sample: {"kind": {"path": "/usr/local/bin/kind", "version": "0.33.0", "problem": ""}}
    user:
      description: The C(name) of the user, whether it is C(root), and whether it is C(in_docker_group).
      type: dict
      returned: always
      sample: {"name": "me", "root": false, "in_docker_group": true}
"""

import os

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._node.zip_imports import compile_once

compile_once()

from ..module_utils._anywhere_admin.machine import Request, collect
from ..module_utils._anywhere_admin.tools import NAMES, Tools
from ..module_utils._node.host import Host

REGISTRY = {
    "host": {"type": "str", "required": True},
    "proxy": {"type": "str"},
    "no_proxy": {"type": "str"},
    "ca_cert": {"type": "str"},
    "verify": {"type": "bool", "default": True},
}
OPTIONS = {
    "tools": {"type": "list", "elements": "str", "choices": list(NAMES), "default": ["docker", "kind", "clusterctl", "kubectl", "helm"]},
    "work_dir": {"type": "path", "default": "."},
    "files": {"type": "list", "elements": "str", "default": []},
    "addresses": {"type": "list", "elements": "str", "default": []},
    "registries": {"type": "list", "elements": "dict", "options": REGISTRY, "default": []},
    "timeout": {"type": "float", "default": 10.0},
}


def main():
    """Return what was observed."""
    module = AnsibleModule(argument_spec=OPTIONS, supports_check_mode=True)
    given = module.params
    if not 0 < given["timeout"] <= 60:
        module.fail_json(msg=f"timeout {given['timeout']} is out of range: more than 0 and at most 60 seconds")
    rows = (tuple(given[name]) for name in ("tools", "files", "addresses", "registries"))
    tools, files, addresses, registries = rows
    request = Request(tools, os.path.abspath(given["work_dir"]), files, addresses, registries)
    module.exit_json(changed=False, machine=collect(Host(given["timeout"]), Tools(given["timeout"]), request))


if __name__ == "__main__":
    main()

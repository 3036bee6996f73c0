#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The half of the action plugin anywhere_diagnostics that runs on the admin machine: makes the archive."""

from __future__ import annotations

DOCUMENTATION = r"""
module: anywhere_diagnostics
short_description: Collect why an EKS Anywhere cluster does not become available
version_added: 0.1.0
description:
  - Collects objects of Cluster API, events, and logs of the controllers, from the bootstrap cluster and from the cluster itself. Also
    collects logs of their containers and the files of the cluster on the admin machine.
  - Prints one page with the first failing object of each cluster, its condition, its last events, and a known cause with its cure.
    Writes it to C(NAME-diagnostics.txt) in O(folder) on the controller.
  - Writes one archive, C(NAME-diagnostics.tar.gz), beside it. Only the owner can read both files.
  - Removes secrets on the admin machine. The values of all Secrets of both clusters, of the kubeconfigs and of environment variables are
    removed from every file, in each of their encodings. Kubeconfigs, Secrets, ConfigMaps and backups are not collected.
  - Only reads. A cluster that does not answer is one line of the summary, and not a failure.
  - A file has at most 1 MiB, and all files together have at most 24 MiB before they are compressed. Of longer files, the end is kept. After
    four minutes, no more programs are started.
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
options:
  name:
    description: The name of the cluster. Its bootstrap cluster is found by this name, with C(kind get kubeconfig).
    type: str
    required: true
  work_dir:
    description:
      - The folder of the files of clusters on the admin machine. The kubeconfig is C(NAME/NAME-eks-a-cluster.kubeconfig) in it.
    type: str
    required: true
  kubeconfigs:
    description: More clusters, or other paths, as a mapping from the name of a cluster to the path of its kubeconfig on the admin machine.
    type: dict
    default: {}
  folder:
    description: The folder on the controller. The module creates it if it does not exist.
    type: path
    required: true
  secrets:
    description: More values that are removed from everything, such as the password of a registry.
    type: list
    elements: str
    default: []
  timeout:
    description: Seconds until one program times out, more than 0 and at most 60.
    type: float
    default: 30.0
attributes:
  action:
    description: Runs on the controller and on the admin machine.
    support: full
  check_mode:
    description: Returns the paths. Collects nothing and writes nothing.
    support: full
  diff_mode:
    description: The archive is binary, so there is no difference to show.
    support: none
  platform:
    description: Where the module runs.
    support: full
    platforms: posix
requirements:
  - Python 3.7 or newer and kubectl on the admin machine
notes:
  - Logs can contain secrets that are unknown to both clusters and have no known form.
seealso:
  - module: nodebootstrap.eks.anywhere_preflight
"""

EXAMPLES = r"""
- name: Collect diagnostics of the cluster
  nodebootstrap.eks.anywhere_diagnostics:
    name: dev
    work_dir: eks-anywhere
    folder: diagnostics
"""

RETURN = r"""
archive:
  description: The absolute path of the archive on the controller.
  returned: success
  type: str
  sample: /home/me/diagnostics/dev-diagnostics.tar.gz
bytes:
  description: The size of the archive.
  returned: success, and not in check mode
  type: int
  sample: 412345
causes:
  description: The first failing object of each cluster that answers, or null if none fails.
  returned: success, and not in check mode
  type: dict
  sample:
    dev-eks-a-cluster:
      kind: DockerMachine
      namespace: eksa-system
      name: dev-abcde
      condition: ContainerProvisioned
      reason: ContainerProvisioningFailed
      message: exit status 125
      events: []
      known_cause: {id: privileged, title: Docker cannot start privileged containers here, cure: use another machine}
      others: 4
entries:
  description: The number of files in the archive.
  returned: success, and not in check mode
  type: int
  sample: 58
summary:
  description: The absolute path of the summary on the controller.
  returned: success
  type: str
  sample: /home/me/diagnostics/dev-diagnostics.txt
"""

import base64
import os

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._node.zip_imports import compile_once

compile_once()

from ..module_utils._anywhere_admin.diagnostics import Collector, request_of
from ..module_utils._anywhere_admin.tools import Tools

OPTIONS = {
    "name": {"type": "str", "required": True},
    "work_dir": {"type": "str", "required": True},
    "kubeconfigs": {"type": "dict", "default": {}},
    "folder": {"type": "path", "required": True},
    "secrets": {"type": "list", "elements": "str", "default": [], "no_log": True},
    "timeout": {"type": "float", "default": 30.0},
}


def main():
    """Return the archive as base64. The action writes it."""
    module = AnsibleModule(argument_spec=OPTIONS, supports_check_mode=True)
    given = module.params
    if not 0 < given["timeout"] <= 60:
        module.fail_json(msg=f"timeout {given['timeout']} is out of range: more than 0 and at most 60 seconds")
    request = request_of(given["name"], os.path.abspath(os.path.expanduser(given["work_dir"])), given["kubeconfigs"])
    found = Collector(Tools(given["timeout"]), os.environ, secrets=given["secrets"]).collect(request)
    result = {"objects": found.objects, "logs": found.logs, "unreachable": found.unreachable, "entries": found.entries}
    module.exit_json(changed=False, archive_base64=base64.b64encode(found.archive).decode("ascii"), **result)


if __name__ == "__main__":
    main()

#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tells what is on the disk of a node and what runs on it."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_info
short_description: Tell what is on the disk of a node and what runs on it
version_added: 0.1.0
description:
  - Runs on a node of any Linux family and tells versions, units, the kubelet that runs with its flags and its merged configuration,
    the cluster it belongs to, and which files of this collection are still as they were written.
  - Only reads. It starts C(systemctl show), C(snap get) and, where no file says it, C(kubelet --version) and C(containerd --version).
  - Never fails over what cannot be found out. Such a value is null or empty, and RV(node.problems) says why.
  - Returns no secrets. Passwords in URLs, keys, tokens, long base64 and whatever stands under the name of a secret are replaced by
    asterisks. Of kubelet's environment it returns the names. It rather withholds too much.
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
extends_documentation_fragment:
  - nodebootstrap.eks.reading
options:
  timeout:
    description: Seconds that one program or one request to kubelet may take, more than 0 and at most 60.
    type: float
    default: 5.0
  configz:
    description:
      - Whether kubelet is asked for its configuration at C(https://127.0.0.1:10250/configz).
      - First without credentials, then with the client certificate of kubelet's kubeconfig where it has one. No token is sent, and no
        program that the kubeconfig names is run.
      - On nodes of EKS kubelet usually refuses, as the cluster must allow the asking identity C(get) on C(nodes/configz) or
        C(nodes/proxy). C(problem) of RV(node.kubelet.configz) says so.
    type: bool
    default: true
requirements:
  - Python 3.7 or newer on the node
notes:
  - Run it as root. Others may not read most of what it looks at.
  - Files of kubelet in YAML are read where the node has PyYAML. The images for EKS write JSON.
seealso:
  - module: nodebootstrap.eks.imds_info
  - module: nodebootstrap.eks.apply
"""

EXAMPLES = r"""
- name: Look at the node
  nodebootstrap.eks.node_info:
  register: looked
  become: true

- name: Show what kubelet runs with
  ansible.builtin.debug:
    msg: "{{ looked.node.versions.kubelet.version }}: {{ looked.node.kubelet.flags }}"
  when: looked.node.versions.kubelet is not none

- name: Show which of our files somebody has changed
  ansible.builtin.debug:
    msg: "{{ looked.node.ours.files | dict2items | rejectattr('value', 'equalto', 'unchanged') | map(attribute='key') | list }}"
  when: looked.node.ours is not none

- name: Look without a request to kubelet's own port
  nodebootstrap.eks.node_info:
    configz: false
    timeout: 2
  become: true
"""

RETURN = r"""
node:
  description: What was found.
  returned: success
  type: dict
  contains:
    architecture:
      description: The processor's architecture.
      type: str
      returned: always
      sample: x86_64
    cluster:
      description: The cluster that kubelet's kubeconfig names.
      type: dict
      returned: always
      contains:
        certificate_authority:
          description:
            - C(path) of the certificates that kubelet trusts, null when they stand in the kubeconfig.
            - C(sha256) of each, of its DER form.
          type: dict
          returned: always
          sample: {"path": "/etc/kubernetes/pki/ca.crt", "sha256": ["4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865"]}
        kubeconfig:
          description: The file; null when it does not exist.
          type: str
          returned: always
          sample: /var/lib/kubelet/kubeconfig
        name:
          description: Name of the cluster, as the program that gets tokens is told; null when it is not.
          type: str
          returned: always
          sample: my-cluster
        server:
          description: Address of the API server; null when there is none.
          type: str
          returned: always
          sample: https://ABCDEF0123456789.gr7.eu-central-1.eks.amazonaws.com
    hostname:
      description: Host name of the machine.
      type: str
      returned: always
      sample: ip-10-0-0-5.eu-central-1.compute.internal
    kernel:
      description: Release of the kernel.
      type: str
      returned: always
      sample: 6.12.40-64.114.amzn2023.x86_64
    kubelet:
      description: The kubelet.
      type: dict
      returned: always
      contains:
        argv:
          description: The command line of the process that runs; null when none runs.
          type: list
          elements: str
          returned: always
          sample: ["/usr/bin/kubelet", "--config=/etc/kubernetes/kubelet/config.json", "--v=2"]
        config:
          description: Its configuration, from files.
          type: dict
          returned: always
          contains:
            effective:
              description:
                - The file of C(--config), and on top of it every C(*.conf) of C(--config-dir) in lexical order. Mappings are merged,
                  lists replaced, null takes a field away.
                - What flags set is not in it, see RV(node.kubelet.config.set_by_flags), and neither are kubelet's defaults.
                - Null when there is no file, or when one of them could not be read.
              type: dict
              returned: always
              sample: {"maxPods": 29}
            files:
              description:
                - The files in the order in which they are merged, each with C(path) and C(format) (V(json) or V(yaml)).
                - C(changed_since_start) says whether the file is newer than the process, which then runs with what it was before.
                - C(problem) says why a file could not be read here, and C(text) is its text in that case.
              type: list
              elements: dict
              returned: always
              sample:
                - path: /etc/kubernetes/kubelet/config.json
                  format: json
                  changed_since_start: false
                  text: null
                  problem: null
            folder:
              description: The folder of C(--config-dir); null without this flag.
              type: str
              returned: always
              sample: /etc/kubernetes/kubelet/config.json.d
            path:
              description: The file of C(--config). When no kubelet runs, the file that the images usually give to it.
              type: str
              returned: always
              sample: /etc/kubernetes/kubelet/config.json
            set_by_flags:
              description:
                - Fields that flags set, each with C(flag), its C(value) and what the files say (C(in_files), null when nothing).
                - kubelet prefers flags to files. Only feature gates are united, by name.
              type: dict
              returned: always
              sample: {"maxPods": {"flag": "max-pods", "value": "110", "in_files": 29}}
        configz:
          description: The configuration that the process itself serves (C(config)), or why it does not (C(problem)).
          type: dict
          returned: always
          sample: {"config": null, "problem": "kubelet does not accept requests without credentials (401)"}
        environment:
          description: Names of the variables in the environment of the process.
          type: list
          elements: str
          returned: always
          sample: [HTTPS_PROXY, PATH]
        flags:
          description: Its flags without dashes. Of a repeated flag the last one counts; flags that add up are lists.
          type: dict
          returned: always
          sample: {"node-labels": ["team=a", "zone=b"], "v": "2"}
        healthz:
          description: Its own health check, asked at C(url). C(ok) is null when it is switched off, C(problem) says what is wrong.
          type: dict
          returned: always
          sample: {"url": "http://127.0.0.1:10248/healthz", "ok": true, "status": 200, "problem": null}
        pid:
          description: The process; null when none runs.
          type: int
          returned: always
          sample: 1234
        started:
          description: When the process was started, in UTC.
          type: str
          returned: always
          sample: "2026-01-01T00:00:00Z"
        unit:
          description: The systemd unit that runs it; null when there is none.
          type: str
          returned: always
          sample: kubelet.service
    node_name:
      description: The name under which the kubelet that runs registers; null when none runs, or when it asks the cloud for it.
      type: str
      returned: always
      sample: ip-10-0-0-5.eu-central-1.compute.internal
    nodeadm:
      description: Documents of C(/etc/eks/nodeadm.d) with C(path) and C(text), secrets withheld; null without this folder.
      type: list
      elements: dict
      returned: always
      sample: []
    os:
      description: C(id), C(version_id) and C(name) of the operating system.
      type: dict
      returned: always
      sample: {"id": "amzn", "version_id": "2023", "name": "Amazon Linux 2023"}
    ours:
      description: What this collection wrote on the node; null when it wrote nothing.
      type: dict
      returned: always
      contains:
        files:
          description: Path of each file, and whether it is V(unchanged), V(changed), V(missing) or V(unreadable).
          type: dict
          returned: always
          sample: {"/etc/kubernetes/kubelet/kubelet-config.json": "unchanged"}
        interrupted:
          description: Whether a run was cut off and is to be finished or undone.
          type: bool
          returned: always
          sample: false
        manifest:
          description: The file that says what is ours.
          type: str
          returned: always
          sample: /var/lib/nodebootstrap/manifest.json
        pending:
          description: What is still to be done, after runs that were not to restart anything.
          type: list
          elements: raw
          returned: always
          sample: []
    problems:
      description: What could not be found out, and why.
      type: list
      elements: str
      returned: always
      sample: []
    proxies:
      description: Variables for proxies in the environments of C(kubelet) and C(containerd), without passwords.
      type: dict
      returned: always
      sample: {"kubelet": {"HTTPS_PROXY": "http://********@proxy.example.com:3128"}, "containerd": {}}
    registration:
      description: C(labels) and C(taints) with which the kubelet that runs registers its node.
      type: dict
      returned: always
      sample: {"labels": {"team": "a"}, "taints": ["dedicated=gpu:NoSchedule"]}
    snap:
      description: Settings of the kubelet snap; null where it is not installed.
      type: dict
      returned: always
      sample: null
    units:
      description:
        - Those of the units a node needs that systemd knows. C(since) is when the unit was started, or stopped, in UTC.
        - C(restarts) is null on Amazon Linux 2, whose systemd does not count them.
      type: dict
      returned: always
      sample:
        kubelet.service:
          state: active
          sub_state: running
          enabled: enabled
          result: success
          since: "2026-01-01T00:00:00Z"
          restarts: 0
          pid: 1234
    versions:
      description: C(version) of C(kubelet) and C(containerd), and its C(source); null when it is unknown.
      type: dict
      returned: always
      sample:
        kubelet: {"version": "1.33.4-eks-99d6cc0", "source": "/etc/eks/kubelet-version.txt"}
        containerd: null
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._inspect.facts import facts
from ..module_utils._node.host import Host


def main():
    """Look, and answer with what was found."""
    options = {"timeout": {"type": "float", "default": 5.0}, "configz": {"type": "bool", "default": True}}
    module = AnsibleModule(argument_spec=options, supports_check_mode=True)
    timeout = module.params["timeout"]
    if not 0 < timeout <= 60:
        module.fail_json(msg=f"timeout {timeout} is out of range: more than 0 and at most 60 seconds")
    module.exit_json(changed=False, node=facts(Host(timeout), configz=module.params["configz"]))


if __name__ == "__main__":
    main()

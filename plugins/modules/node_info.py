#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tells what is on the disk of a node and what runs on it."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_info
short_description: Get the configuration and the services of a node
version_added: 0.1.0
description:
  - Runs on a node of any Linux family. It returns versions, units, the flags and the merged configuration of the running kubelet, the
    cluster of the node, and the files of this collection that changed since they were written.
  - Only reads. It runs C(systemctl show), C(snap get), C(kubelet --version) and C(containerd --version).
  - Does not fail if a value cannot be determined. The value is then null or empty, and RV(node.problems) contains the reason.
  - Returns no secrets. It replaces passwords in URLs, keys, tokens, long base64, and values whose name suggests a secret by asterisks. Some
    of these values may not be secret. Of the environment of kubelet, it returns only the names of the variables.
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
extends_documentation_fragment:
  - nodebootstrap.eks.reading
options:
  timeout:
    description: Seconds until one program or one request to kubelet times out, more than 0 and at most 60.
    type: float
    default: 5.0
  configz:
    description:
      - Whether to request the configuration of kubelet from C(https://127.0.0.1:10250/configz).
      - The first request has no credentials. If the kubeconfig of kubelet contains a client certificate, the module then uses it. It does
        not send a token, and does not run the credential program of the kubeconfig.
      - On EKS nodes, kubelet usually rejects the request. The cluster must grant C(get) on C(nodes/configz) or C(nodes/proxy). The reason
        is in C(problem) of RV(node.kubelet.configz).
    type: bool
    default: true
requirements:
  - Python 3.7 or newer on the node
notes:
  - Run the module as root. Other users cannot read most of the files.
  - To read kubelet configuration files in YAML with anchors or block scalars, the node needs PyYAML. The images for EKS use JSON.
seealso:
  - module: nodebootstrap.eks.imds_info
  - module: nodebootstrap.eks.apply
"""

EXAMPLES = r"""
- name: Get the configuration of the node
  nodebootstrap.eks.node_info:
  register: info
  become: true

- name: Show the version and the flags of kubelet
  ansible.builtin.debug:
    msg: "{{ info.node.versions.kubelet.version }}: {{ info.node.kubelet.flags }}"
  when: info.node.versions.kubelet is not none

- name: Show the files of this collection that were changed
  ansible.builtin.debug:
    msg: "{{ info.node.ours.files | dict2items | rejectattr('value', 'equalto', 'unchanged') | map(attribute='key') | list }}"
  when: info.node.ours is not none

- name: Get the configuration without a request to the port of kubelet
  nodebootstrap.eks.node_info:
    configz: false
    timeout: 2
  become: true
"""

RETURN = r"""
node:
  description: The configuration and the services of the node.
  returned: success
  type: dict
  contains:
    architecture:
      description: The architecture of the processor.
      type: str
      returned: always
      sample: x86_64
    cluster:
      description: The cluster in the kubeconfig of kubelet.
      type: dict
      returned: always
      contains:
        certificate_authority:
          description:
            - C(path) is the file with the certificates that kubelet trusts. Null if the kubeconfig contains the certificates.
            - C(sha256) contains the digest of each certificate in DER format.
          type: dict
          returned: always
          sample: {"path": "/etc/kubernetes/pki/ca.crt", "sha256": ["4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865"]}
        kubeconfig:
          description: The path of the kubeconfig. Null if the file does not exist.
          type: str
          returned: always
          sample: /var/lib/kubelet/kubeconfig
        name:
          description: The name of the cluster, from the arguments of the credential program. Null if they do not contain it.
          type: str
          returned: always
          sample: my-cluster
        server:
          description: The URL of the API server. Null if the kubeconfig does not contain it.
          type: str
          returned: always
          sample: https://ABCDEF0123456789.gr7.eu-central-1.eks.amazonaws.com
    hostname:
      description: The host name.
      type: str
      returned: always
      sample: ip-10-0-0-5.eu-central-1.compute.internal
    kernel:
      description: The release of the kernel.
      type: str
      returned: always
      sample: 6.12.40-64.114.amzn2023.x86_64
    kubelet:
      description: kubelet, its process and its configuration.
      type: dict
      returned: always
      contains:
        argv:
          description: The command line of the running process. Null if kubelet does not run.
          type: list
          elements: str
          returned: always
          sample: ["/usr/bin/kubelet", "--config=/etc/kubernetes/kubelet/config.json", "--v=2"]
        config:
          description: The configuration of kubelet, from files.
          type: dict
          returned: always
          contains:
            effective:
              description:
                - The file of C(--config), merged with every C(*.conf) file of C(--config-dir) in lexical order. Mappings are merged, lists
                  are replaced, and null removes a field.
                - Does not contain fields that flags set, see RV(node.kubelet.config.set_by_flags), or the defaults of kubelet.
                - Null if there is no file, or if a file could not be read.
              type: dict
              returned: always
              sample: {"maxPods": 29}
            files:
              description:
                - The files in the order in which they are merged, each with C(path) and C(format) (V(json) or V(yaml)).
                - C(changed_since_start) is true if the file is newer than the process. The process then still uses the previous content.
                - C(problem) is the reason why a file could not be parsed. C(text) is the text of the file in this case.
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
              description: The directory of C(--config-dir). Null without this flag.
              type: str
              returned: always
              sample: /etc/kubernetes/kubelet/config.json.d
            path:
              description: The file of C(--config). If kubelet does not run, the default file of the images.
              type: str
              returned: always
              sample: /etc/kubernetes/kubelet/config.json
            set_by_flags:
              description:
                - The fields that flags set, each with C(flag), the C(value) of the flag, and the value in the files, C(in_files).
                  C(in_files) is null if the files do not contain the field.
                - Flags override files. Only feature gates are merged, by name.
              type: dict
              returned: always
              sample: {"maxPods": {"flag": "max-pods", "value": "110", "in_files": 29}}
        configz:
          description: C(config) is the configuration that the process serves. C(problem) is the reason if it was not available.
          type: dict
          returned: always
          sample: {"config": null, "problem": "kubelet does not accept requests without credentials (401)"}
        environment:
          description: The names of the environment variables of the process.
          type: list
          elements: str
          returned: always
          sample: [HTTPS_PROXY, PATH]
        flags:
          description: The flags, without dashes. The last value of a repeated flag wins. Flags whose values add up are lists.
          type: dict
          returned: always
          sample: {"node-labels": ["team=a", "zone=b"], "v": "2"}
        healthz:
          description: The health endpoint of kubelet. C(ok) is null if it is disabled. C(problem) is the reason if kubelet is not healthy.
          type: dict
          returned: always
          sample: {"url": "http://127.0.0.1:10248/healthz", "ok": true, "status": 200, "problem": null}
        pid:
          description: The ID of the process. Null if kubelet does not run.
          type: int
          returned: always
          sample: 1234
        started:
          description: The time when the process was started, in UTC.
          type: str
          returned: always
          sample: "2026-01-01T00:00:00Z"
        unit:
          description: The systemd unit of kubelet. Null if there is none.
          type: str
          returned: always
          sample: kubelet.service
    node_name:
      description:
        - The name with which kubelet registers. Null if kubelet does not run, or gets the name from EC2 and its log does not show it.
      type: str
      returned: always
      sample: ip-10-0-0-5.eu-central-1.compute.internal
    nodeadm:
      description: The documents in C(/etc/eks/nodeadm.d), without secrets, each with C(path) and C(text). Null without this directory.
      type: list
      elements: dict
      returned: always
      sample: []
    os:
      description: The C(id), the C(version_id) and the C(name) of the operating system.
      type: dict
      returned: always
      sample: {"id": "amzn", "version_id": "2023", "name": "Amazon Linux 2023"}
    ours:
      description: The files that this collection wrote to the node. Null if there are none.
      type: dict
      returned: always
      contains:
        files:
          description: The path of each file, and its state, V(unchanged), V(changed), V(missing) or V(unreadable).
          type: dict
          returned: always
          sample: {"/etc/kubernetes/kubelet/kubelet-config.json": "unchanged"}
        interrupted:
          description: Whether a run was interrupted and must be finished or rolled back.
          type: bool
          returned: always
          sample: false
        manifest:
          description: The path of the manifest, which lists the files of this collection.
          type: str
          returned: always
          sample: /var/lib/nodebootstrap/manifest.json
        pending:
          description: The pending restarts of runs that did not allow restarts.
          type: list
          elements: raw
          returned: always
          sample: []
    problems:
      description: The values that could not be determined, with the reasons.
      type: list
      elements: str
      returned: always
      sample: []
    proxies:
      description: The proxy variables in the environments of C(kubelet) and C(containerd), without passwords.
      type: dict
      returned: always
      sample: {"kubelet": {"HTTPS_PROXY": "http://********@proxy.example.com:3128"}, "containerd": {}}
    registration:
      description: The C(labels) and C(taints) with which the running kubelet registers its node.
      type: dict
      returned: always
      sample: {"labels": {"team": "a"}, "taints": ["dedicated=gpu:NoSchedule"]}
    snap:
      description: The settings of the kubelet snap. Null if the snap is not installed.
      type: dict
      returned: always
      sample: null
    units:
      description:
        - The units of a node that systemd knows. C(since) is the time when the unit was started or stopped, in UTC.
        - C(restarts) is null on Amazon Linux 2, because its systemd does not count restarts.
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
      description: The C(version) of C(kubelet) and C(containerd), and its C(source). That is the program, or a file of the image if the
        program does not answer. Null if it is unknown.
      type: dict
      returned: always
      sample:
        kubelet: {"version": "1.33.4-eks-99d6cc0", "source": "/usr/bin/kubelet --version"}
        containerd: null
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._node.zip_imports import compile_once

compile_once()

from ..module_utils._inspect.facts import facts
from ..module_utils._node.host import Host


def main():
    """Return the facts about the node."""
    options = {"timeout": {"type": "float", "default": 5.0}, "configz": {"type": "bool", "default": True}}
    module = AnsibleModule(argument_spec=options, supports_check_mode=True)
    timeout = module.params["timeout"]
    if not 0 < timeout <= 60:
        module.fail_json(msg=f"timeout {timeout} is out of range: more than 0 and at most 60 seconds")
    module.exit_json(changed=False, node=facts(Host(timeout), configz=module.params["configz"]))


if __name__ == "__main__":
    main()

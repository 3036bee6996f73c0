#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin anywhere_validate."""

from __future__ import annotations

DOCUMENTATION = r"""
module: anywhere_validate
short_description: Validate the file of an EKS Anywhere cluster
version_added: 0.1.0
description:
  - Checks the YAML file of an EKS Anywhere cluster before anything is created, and reports all problems at once. Each problem has its path
    in the file, its line, what is allowed, and what to do. C(docs/rules.md) lists the rules in the area C(anywhere).
  - Reads every kind and every provider, Docker, vSphere, Bare Metal (Tinkerbell), Nutanix, CloudStack and Snow.
  - Refuses everything that the validation of EKS Anywhere v0.26.1 refuses in a record of 330 files. It also refuses files that fail later,
    for example networks that overlap, and a version without quotes.
  - Works offline. Nothing is asked of a provider, a registry or a name server, so it does not replace the preflight checks of a creation.
  - Fails if there is a problem of severity C(error).
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
options:
  cluster_file:
    description: Path of the YAML file of the cluster on the controller.
    type: path
    required: true
  hardware_csv:
    description:
      - Path of the CSV file with the machines of a Bare Metal cluster. Its addresses, labels and columns are checked, and whether every
        group of the cluster finds enough machines.
    type: path
  scope:
    description:
      - V(file) checks all documents and the references between them.
      - V(cluster) checks only the first document of kind C(Cluster), like the first check of EKS Anywhere. Use it if the other documents
        exist in the management cluster already.
    type: str
    choices: [file, cluster]
    default: file
  api_server_extra_args:
    description:
      - Whether C(API_SERVER_EXTRA_ARGS_ENABLED) is V(true) in the environment of EKS Anywhere. Otherwise it refuses C(apiServerExtraArgs).
    type: bool
    default: false
attributes:
  action:
    description: Runs on the controller.
    support: full
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
seealso:
  - module: nodebootstrap.eks.lint
"""

EXAMPLES = r"""
- name: Write the file of a cluster
  ansible.builtin.copy:
    dest: dev.yaml
    content: |
      apiVersion: anywhere.eks.amazonaws.com/v1alpha1
      kind: Cluster
      metadata:
        name: dev
      spec:
        kubernetesVersion: "1.34"
        clusterNetwork:
          cniConfig:
            cilium: {}
          pods:
            cidrBlocks: [192.168.0.0/16]
          services:
            cidrBlocks: [10.96.0.0/12]
        controlPlaneConfiguration:
          count: 1
        workerNodeGroupConfigurations:
          - name: md-0
            count: 1
        datacenterRef:
          kind: DockerDatacenterConfig
          name: dev
      ---
      apiVersion: anywhere.eks.amazonaws.com/v1alpha1
      kind: DockerDatacenterConfig
      metadata:
        name: dev
      spec: {}
    mode: "0644"

- name: Validate the file
  nodebootstrap.eks.anywhere_validate:
    cluster_file: dev.yaml
  register: dev

- name: Show the number of workers
  ansible.builtin.debug:
    msg: "{{ dev.cluster.worker_groups | sum(attribute='count') }}"
"""

RETURN = r"""
problems:
  description: All problems, in the order of the file.
  returned: always
  type: list
  elements: dict
  contains:
    file:
      description: V(cluster) or V(hardware), the option that names the file.
      type: str
      returned: always
      sample: cluster
    line:
      description: The line of the file, from 1, or null for the whole file.
      type: int
      returned: always
      sample: 6
    severity:
      description: V(error) or V(warning).
      type: str
      returned: always
      sample: error
    rule:
      description: The ID of the rule.
      type: str
      returned: always
      sample: anywhere.version_not_text
    path:
      description: The place in the file, which begins with the kind and the name of the document.
      type: str
      returned: always
      sample: Cluster/dev.spec.kubernetesVersion
    message:
      description: What is wrong.
      type: str
      returned: always
      sample: "is a number without quotes: readers of YAML take 1.30 for 1.3"
    allowed:
      description: What would be correct.
      type: str
      returned: if there are few possibilities
      sample: a version in quotes, such as "1.34"
    nearest:
      description: The allowed word that is most similar to the value.
      type: str
      returned: if a word is similar
      sample: ubuntu
    fix:
      description: What to do.
      type: str
      returned: if the message does not say it
      sample: quote the version, such as "1.30"
counts:
  description: The number of problems of each severity.
  returned: always
  type: dict
  sample: {error: 1, warning: 0}
cluster:
  description: The cluster as the file describes it, or null if the file has no valid one.
  returned: always
  type: dict
  contains:
    name:
      description: The name.
      type: str
      returned: always
      sample: dev
    namespace:
      description: The namespace of its documents.
      type: str
      returned: always
      sample: default
    provider:
      description: The kind of its datacenter.
      type: str
      returned: always
      sample: DockerDatacenterConfig
    kubernetes_version:
      description: The version of the control plane.
      type: str
      returned: always
      sample: "1.34"
    management_cluster:
      description: The name of the cluster that manages it. A cluster that manages itself has its own name.
      type: str
      returned: always
      sample: dev
    control_plane_count:
      description: The number of nodes of the control plane.
      type: int
      returned: always
      sample: 1
    external_etcd_count:
      description: The number of members of an external etcd, or null if etcd runs on the control plane.
      type: int
      returned: always
      sample: 3
    worker_groups:
      description: The groups of workers with C(name), C(count) and C(kubernetes_version).
      type: list
      elements: dict
      returned: always
      sample: [{name: md-0, count: 1, kubernetes_version: "1.34"}]
"""

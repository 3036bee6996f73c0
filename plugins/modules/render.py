#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin render."""

from __future__ import annotations

DOCUMENTATION = r"""
module: render
short_description: Write the user data of node groups to files on the controller
version_added: 0.1.0
description:
  - Renders the user data of every node group and writes it to the file C(CLUSTER/GROUP.userdata) in O(output_dir). The name depends only
    on the names of the cluster and the group.
  - Writes C(manifest.json) to O(output_dir), with one entry for each group. C(groups) is a list of mappings with C(cluster), C(group),
    C(file), C(sha256) and C(bytes) of the file, C(encoding), C(mode), C(family) and C(warnings). Groups of earlier runs stay in the
    manifest as long as their files exist, until O(prune) removes them.
  - Writes no file for a managed node group if the user data of EKS needs no additions. In the manifest, C(file) is then null.
  - The same input always renders the same bytes, so a second run changes nothing.
  - If the input has problems, the module reports the problems of all groups at once and writes nothing.
  - Prints a table of the rendered groups. Below the table it prints warnings, skipped checks, values that EKS sets, and fields of
    O(eksctl_config) that are not part of node bootstrap.
  - Does not contact a node or AWS.
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
extends_documentation_fragment:
  - nodebootstrap.eks.fields
  - nodebootstrap.eks.fields.node_groups
options:
  cluster:
    description:
      - The cluster, a mapping with fields such as C(name), C(endpoint), C(certificate_authority) and C(service_cidr).
      - With O(eksctl_config), set the fields of the cluster that the file does not contain. If the file and O(cluster) have different
        values, the module fails.
    type: raw
  node_groups:
    description: The node groups to render, a list of mappings. The field C(name) is required.
    type: raw
  eksctl_config:
    description: The path of an eksctl C(ClusterConfig) file. The module renders its node groups instead of O(node_groups).
    type: path
  sources:
    description: Several clusters, each with its own node groups. The module prints one table for all of them.
    type: list
    elements: dict
    suboptions:
      cluster:
        description: The same as O(cluster), for this source.
        type: raw
      node_groups:
        description: The same as O(node_groups), for this source.
        type: raw
      eksctl_config:
        description: The same as O(eksctl_config), for this source.
        type: path
  inventory:
    description:
      - Whether to render the node groups of the inventory. The module reads the variables C(eks_node_cluster) and C(eks_node_group) of
        every host, or of every host that C(--limit) selects. It renders each group once, and does not connect to the hosts.
      - Hosts without C(eks_node_group) are skipped. Hosts of one group that have different values are an error.
    type: bool
  encoding:
    description:
      - The encoding of the user data.
      - V(gzip) writes compressed bytes.
      - V(gzip) and V(gzip_base64) are refused on Windows and with C(mode=managed), because the user data cannot be decompressed there.
    type: str
    default: plain
    choices: [plain, base64, gzip_base64, gzip]
  files_dir:
    description: The directory where relative paths in the field C(user_data_files) of a node group start.
    type: path
    default: .
  output_dir:
    description: The directory for the files. The module creates it if it does not exist.
    type: path
    default: out
  prune:
    description:
      - Whether to remove files of groups that this task no longer renders. The module removes a file only if the manifest lists it, and if
        the file has not changed after it had been rendered.
      - If several tasks write to one directory, do not prune it, because each task would remove the files of the others. Use O(sources)
        instead.
      - Refused together with C(--limit).
    type: bool
    default: false
  fail_on_change:
    description:
      - Whether to write nothing, and to fail if a file would be created, changed or removed. Use it to check in CI that the committed
        files match the input.
    type: bool
    default: false
attributes:
  action:
    description: Runs on the controller.
    support: full
  check_mode:
    description: Reports the changes without writing files.
    support: full
  diff_mode:
    description:
      - Shows the decoded text of each part. The certificate of the cluster is shortened.
      - Then shows what the changes of each existing file mean for a node, as P(nodebootstrap.eks.diff_user_data#filter) does.
    support: full
  idempotent:
    description: A second run with the same input changes nothing.
    support: full
  platform:
    description: Where the module runs.
    support: full
    platforms: posix
seealso:
  - plugin: nodebootstrap.eks.user_data
    plugin_type: filter
  - plugin: nodebootstrap.eks.from_eksctl
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Write the user data of one node group
  nodebootstrap.eks.render:
    cluster:
      name: demo
      endpoint: https://ABC.gr7.eu-west-1.eks.amazonaws.com
      certificate_authority: "{{ lookup('ansible.builtin.file', 'ca.pem') | b64encode }}"
      service_cidr: 10.100.0.0/16
    node_groups:
      - name: workers
        family: al2023
        labels:
          role: worker
    output_dir: out

- name: Check that the directory contains this node group and no other one
  nodebootstrap.eks.render:
    cluster:
      name: demo
      endpoint: https://ABC.gr7.eu-west-1.eks.amazonaws.com
      certificate_authority: "{{ lookup('ansible.builtin.file', 'ca.pem') | b64encode }}"
      service_cidr: 10.100.0.0/16
    node_groups:
      - name: workers
        family: al2023
        labels:
          role: worker
    output_dir: out
    prune: true
    fail_on_change: true
"""

RETURN = r"""
table:
  description: The lines of the printed table.
  returned: success
  type: list
  elements: str
  sample: ["group    family  mode          bytes  of 16,384  sha256        file"]
groups:
  description: The rendered groups, in the order of the input.
  returned: success
  type: list
  elements: dict
  contains:
    cluster:
      description: The name of the cluster. Empty if the group is managed and the input does not name it.
      type: str
      returned: always
      sample: demo
    group:
      description: The name of the group.
      type: str
      returned: always
      sample: workers
    family:
      description: The family of the group.
      type: str
      returned: always
      sample: al2023
    mode:
      description: The mode of the group.
      type: str
      returned: always
      sample: self_managed
    bytes:
      description: The size before encoding.
      type: int
      returned: always
      sample: 763
    percent:
      description: The stored size in percent of the EC2 limit of 16384 bytes.
      type: float
      returned: always
      sample: 4.7
    sha256:
      description: The SHA-256 digest of the file. Empty if there is no file.
      type: str
      returned: always
      sample: ""
    file:
      description: The path of the file below O(output_dir). Empty if there is no file.
      type: str
      returned: always
      sample: demo/workers.userdata
    note:
      description: The reason why there is no file.
      type: str
      returned: always
      sample: ""
    left_to_eks:
      description: The labels and taints that EKS sets on a managed node group.
      type: dict
      returned: always
      sample: {}
    left_to_karpenter:
      description:
        - With C(mode=karpenter), what belongs in the resources of Karpenter, see P(nodebootstrap.eks.karpenter_manifests#filter).
      type: dict
      returned: always
      sample: {}
    warnings:
      description: Input that is valid but probably not intended. Each item has C(rule), C(path), C(message) and C(fix).
      type: list
      elements: dict
      returned: always
      sample: []
removed:
  description: The files that O(prune) removes, and files of groups that need no user data any more, as paths below O(output_dir).
  returned: success
  type: list
  elements: str
  sample: [demo/batch.userdata]
kept:
  description: The files that O(prune) does not remove, because they changed after they had been rendered.
  returned: success
  type: list
  elements: str
  sample: []
differences:
  description:
    - What the changes of existing files mean for a node. The manifest and files that are created or removed are not listed.
  returned: with C(--diff)
  type: list
  elements: dict
  contains:
    file:
      description: The path of the file below O(output_dir).
      type: str
      returned: always
      sample: demo/workers.userdata
    differences:
      description:
        - The differences, each with C(path), C(before) and C(after), as P(nodebootstrap.eks.diff_user_data#filter) returns them. Empty if
          both versions mean the same.
        - If C(allow_secrets_in_user_data) is set, or the file contains a secret, the values are not shown.
      type: list
      elements: dict
      returned: always
      sample: [{path: node_group.max_pods, before: 29, after: 58}]
unchecked:
  description: Checks of the input that were skipped, each with C(rule), C(path), C(message) and C(fix), which names the missing field.
  returned: success
  type: list
  elements: dict
  sample: []
problems:
  description:
    - Every problem of the input, sorted by path. The message of the task has the same problems as text; with C(-v) it also shows the rules.
    - Each has C(rule), an ID of the L(catalogue,https://github.com/nodebootstrap/eks/blob/main/docs/rules.md), C(path), C(message), and
      if known C(allowed), C(nearest), C(fix) and C(group), the name of the node group. Values are left out, because they may be secret.
  returned: if the input has problems
  type: list
  elements: dict
  sample:
    - rule: kubelet.unknown_flag
      path: node_group.kubelet.flags.node-labls
      message: kubelet does not have this flag
      nearest: node-labels
      fix: rename it to node-labels
not_ours:
  description: The fields of O(eksctl_config) that are not part of node bootstrap, each with C(path) and C(reason).
  returned: success
  type: list
  elements: dict
  sample: []
"""

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
  - Renders the user data of every given node group and writes one file for each, named C(CLUSTER-GROUP) with the
    extension C(mime), C(sh), C(toml) or C(ps1).
  - A group to which nothing has to be added, because EKS supplies its user data, gets no file.
  - The same input always gives the same bytes, so a second run changes nothing.
  - Every problem of every group is reported at once, and then nothing is written.
  - Prints a table of what was rendered, and below it warnings, checks that could not be made, and what is left to EKS or has no
    place in node bootstrap. Nothing is sent to any host, and no AWS API is called.
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
extends_documentation_fragment:
  - nodebootstrap.eks.fields
  - nodebootstrap.eks.fields.node_groups
options:
  cluster:
    description:
      - The facts of the cluster that a node needs, for example C(name), C(endpoint), C(certificate_authority) and C(service_cidr).
      - With O(eksctl_config) it completes what the file lacks; a contradiction is an error.
    type: raw
  node_groups:
    description: The node groups to render, a list of mappings that each have a C(name).
    type: raw
  eksctl_config:
    description: Path of an eksctl C(ClusterConfig) file whose node groups are rendered instead of O(node_groups).
    type: path
  sources:
    description: Several clusters at once, each with its own node groups; one table shows all of them.
    type: list
    elements: dict
    suboptions:
      cluster:
        description: As O(cluster), for this source.
        type: raw
      node_groups:
        description: As O(node_groups), for this source.
        type: raw
      eksctl_config:
        description: As O(eksctl_config), for this source.
        type: path
  encoding:
    description:
      - How the user data is encoded.
      - V(gzip) writes compressed bytes to a file that ends in C(.gz).
      - Both compressed forms are refused where their reader cannot undo them, on Windows and on managed node groups.
    type: str
    default: plain
    choices: [plain, base64, gzip_base64, gzip]
  output_dir:
    description: Folder for the files; it is made when it does not exist.
    type: path
    default: out
attributes:
  action:
    description: Runs on the controller.
    support: full
  check_mode:
    description: Reports what would change and writes nothing.
    support: full
  diff_mode:
    description: Shows the decoded text by part, with the cluster's certificate shortened.
    support: full
  idempotent:
    description: The same input writes nothing a second time.
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
- name: Write the user data of one group
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
"""

RETURN = r"""
table:
  description: The table as it is printed, one line an item.
  returned: success
  type: list
  elements: str
  sample: ["group    family  mode          bytes  of 16,384  sha256        file"]
groups:
  description: One item for each group, in the order of the input.
  returned: success
  type: list
  elements: dict
  contains:
    group:
      description: Name of the group.
      type: str
      returned: always
      sample: workers
    family:
      description: Its family.
      type: str
      returned: always
      sample: al2023
    mode:
      description: Its mode.
      type: str
      returned: always
      sample: self_managed
    bytes:
      description: Size before encoding.
      type: int
      returned: always
      sample: 763
    percent:
      description: Share of EC2's limit of 16384 bytes that the stored form takes.
      type: float
      returned: always
      sample: 4.7
    sha256:
      description: Digest of the file; empty when there is none.
      type: str
      returned: always
      sample: ""
    file:
      description: Name of the file in the output folder; empty when there is none.
      type: str
      returned: always
      sample: demo-workers.mime
    note:
      description: Why there is no file.
      type: str
      returned: always
      sample: ""
    left_to_eks:
      description: Labels and taints that EKS sets itself on a managed group.
      type: dict
      returned: always
      sample: {}
    warnings:
      description: Input that works, but probably not as intended. Each has C(rule), C(path), C(message) and C(fix).
      type: list
      elements: dict
      returned: always
      sample: []
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
      message: kubelet has no such flag
      nearest: node-labels
      fix: rename it to node-labels
not_ours:
  description: What of O(eksctl_config) has no place in node bootstrap, each with C(path) and C(reason).
  returned: success
  type: list
  elements: dict
  sample: []
"""

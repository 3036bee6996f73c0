#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin migrate."""

from __future__ import annotations

DOCUMENTATION = r"""
module: migrate
short_description: Move user data of Amazon Linux 2 to Amazon Linux 2023
version_added: 0.1.0
description:
  - Reads user data of Amazon Linux 2 or Ubuntu that calls C(/etc/eks/bootstrap.sh), and writes user data with the same meaning for Amazon
    Linux 2023 or Bottlerocket. For each user data, it also writes a report for a change request, as
    Markdown and as a page for a browser.
  - The report lists every argument of the call and every flag of kubelet with what became of it, the scripts that are kept, the lines
    that use what Amazon Linux 2023 does not have, and the next steps. For a launch template, it also lists the other fields that must
    change, such as the image and the volumes. For a launch template of an AWS account, also from the output of the AWS CLI, the variables
    of the playbook C(publish) are written to a file. The playbook creates the new version.
  - Fails if something needs a decision, for example because a fact of the cluster is missing, and prints all decisions with their choices.
    It writes no new user data in this case. To decide, change the original, or set O(cluster).
  - Works like P(nodebootstrap.eks.migrate_user_data#filter). Scripts are read, and never executed. The module does not contact a node. The
    playbook C(migrate) reads the user data on nodes before. The module contacts AWS only if O(sources) names user data in an account, and
    changes nothing there. This needs boto3 on the controller, and the permissions
    of M(nodebootstrap.eks.lint).
requirements:
  - tree-sitter and tree-sitter-bash (Python packages on the controller)
  - boto3 >= 1.26, for user data in an AWS account
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
extends_documentation_fragment:
  - nodebootstrap.eks.aws
options:
  sources:
    description:
      - Paths of files, directories and patterns, and mappings that name user data in an AWS account, as for M(nodebootstrap.eks.lint).
      - A mapping with the key C(host) names nodes by a host, a group or a pattern of the inventory, and needs their results in O(nodes).
        The user data that cloud-init stored is migrated. User data from which values that may be secrets were removed cannot be migrated.
      - A directory, a file of another tool or a mapping can name several user data. User data of other families is then left out, and
        RV(not_migrated) lists it. If an entry names only one user data, this is an error.
    type: list
    elements: raw
    required: true
  nodes:
    description:
      - The results of M(nodebootstrap.eks.doctor_info) with C(only_user_data=true) on the nodes that O(sources) names, each with the name
        of its host as C(item). A task with C(loop) and C(delegate_to) registers them so. The playbook has this task.
    type: list
    elements: dict
    default: []
  cluster:
    description:
      - Facts of the cluster that the user data does not contain, in the form of C(cluster) of the module M(nodebootstrap.eks.render). All
        user data is for this cluster.
    type: raw
  family:
    description: The new family, V(al2023) or V(bottlerocket), or a name of eksctl for it.
    type: str
    default: al2023
  output_dir:
    description:
      - The directory of the results. The file C(web.sh) becomes C(web.userdata), with the reports C(web.md) and C(web.html). For other
        sources, the name says where the user data is, for example C(launch-template-web-version-2.userdata).
    type: path
    default: out
attributes:
  action:
    description: Runs on the controller.
    support: full
  check_mode:
    description: Reports the changes without writing a file.
    support: full
  diff_mode:
    description: Shows the files that change.
    support: full
  idempotent:
    description: A second run with the same sources changes nothing.
    support: full
  platform:
    description: Where the module runs.
    support: full
    platforms: posix
seealso:
  - plugin: nodebootstrap.eks.migrate_user_data
    plugin_type: filter
  - module: nodebootstrap.eks.lint
"""

EXAMPLES = r"""
- name: Write a file with user data of Amazon Linux 2
  ansible.builtin.copy:
    dest: web.sh
    content: |
      #!/bin/bash
      /etc/eks/bootstrap.sh demo --use-max-pods false --kubelet-extra-args '--max-pods=29 --node-labels=role=web'
    mode: "0644"

- name: Write out/web.userdata and out/web.md
  nodebootstrap.eks.migrate:
    sources: [web.sh]
    cluster:
      endpoint: https://0123456789ABCDEF.gr7.eu-west-1.eks.amazonaws.com
      certificate_authority: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUIKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo=
      service_cidr: 10.100.0.0/16
      kubernetes_version: "1.33"
"""

RETURN = r"""
migrations:
  description: The result of each user data; files come before objects of an AWS account.
  returned: if the sources can be read
  type: list
  elements: dict
  contains:
    source:
      description: The path of the file, also with the place of the user data in it. Otherwise the name of the object in an AWS account, or
        of the host.
      type: str
      returned: always
      sample: web.sh
    user_data:
      description: The path of the new user data, or null if something needs a decision.
      type: str
      returned: always
      sample: out/web.userdata
    report:
      description: The path of the report.
      type: str
      returned: always
      sample: out/web.md
    page:
      description: The path of the report as a page for a browser.
      type: str
      returned: always
      sample: out/web.html
    cluster:
      description: The cluster, as input of M(nodebootstrap.eks.render). Empty for additions to user data that EKS completes.
      type: dict
      returned: always
      sample: {name: demo, service_cidr: 10.100.0.0/16}
    node_group:
      description: The node group, as input of M(nodebootstrap.eks.render).
      type: dict
      returned: always
      sample: {family: al2023, labels: {role: web}, max_pods: 29}
    needs_decision:
      description: The questions, with C(path), C(question), C(choices) and C(where).
      type: list
      elements: dict
      returned: always
      sample: []
    launch_template:
      description:
        - The fields of the launch template or launch configuration that the new family needs otherwise, each with C(field), C(before),
          C(after), C(reason) and C(source). Empty if the source is only user data.
        - The image is named by its parameter of Systems Manager, which contains C(VERSION) or C(ARCHITECTURE) if they are unknown.
      type: list
      elements: dict
      returned: always
      sample: []
    publish:
      description: The path of the variables of the playbook C(publish), or null without new user data or without a launch template.
      type: str
      returned: always
      sample: out/launch-template-web-version-2.publish.yml
    next_steps:
      description: What to do with the result, in order. A managed node group without an image of your own needs a new group.
      type: list
      elements: str
      returned: always
      sample: ["Launch one instance, and check that its node is Ready and that its pods run."]
not_migrated:
  description: User data that cannot be migrated, with C(source) and C(reason).
  returned: if the sources can be read
  type: list
  elements: dict
  sample: [{source: "launch template new, version 1", reason: is a NodeConfig}]
unchecked_files:
  description: The files in directories of O(sources) that do not look like user data.
  returned: if the sources can be read
  type: list
  elements: str
  sample: [nodes/README.md]
"""

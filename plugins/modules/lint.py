#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin lint."""

from __future__ import annotations

DOCUMENTATION = r"""
module: lint
short_description: Find defects in user data
version_added: 0.1.0
description:
  - Checks user data that any tool rendered, before a node boots with it, and fails if there is a finding of severity C(error).
  - The checks are those of P(nodebootstrap.eks.lint_user_data#filter). C(docs/rules.md) lists the rules with their severities.
  - Prints the findings, and writes them to O(report). Lines with a secret are not shown.
  - Scripts are read, and never executed. The module does not contact a node. The playbook C(lint) reads what is on the disks of nodes
    before. The module contacts AWS only if O(sources) names user data in an account. This needs boto3 on the controller, and the
    permissions C(ec2:DescribeLaunchTemplateVersions), for all launch templates also C(ec2:DescribeLaunchTemplates), and for an Auto
    Scaling group C(autoscaling:DescribeAutoScalingGroups) and C(autoscaling:DescribeLaunchConfigurations). An instance only needs
    C(ec2:DescribeInstanceAttribute).
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
extends_documentation_fragment:
  - nodebootstrap.eks.aws
requirements:
  - boto3 >= 1.26, for user data in an AWS account
options:
  sources:
    description:
      - Paths of files, directories, and patterns such as V(nodes/*.yaml). A pattern must match at least one file, and V(**) matches
        directories of any depth.
      - A file contains user data as plain text, base64, gzip, or base64 of gzip; or it is a file of another tool that contains user data.
        The content of the file decides, and not its name.
      - Terraform, the output of C(terraform show -json) for a plan or a state. The user data of launch templates, launch configurations
        and instances is checked. What is known only after apply is a note.
      - Karpenter, manifests of an C(EC2NodeClass). Its C(amiFamily) or the alias of its images sets the family.
      - Cluster API, manifests of an C(EKSConfig), a C(NodeadmConfig) or their templates. They do not contain the user data, which the
        controller makes later. The commands, the files, and the settings of kubelet and containerd in them are checked.
      - CloudFormation, templates with user data that contains no parameters or references. User data that contains them is a note.
      - The AWS CLI, the output of C(aws ec2 describe-launch-template-versions) and C(aws autoscaling describe-launch-configurations).
      - A mapping names user data in an AWS account, which is only read. It has one of the keys C(launch_template) with a name or an ID,
        C(auto_scaling_group) with a name, for its launch templates or its launch configuration, C(instance) with an ID, and
        C(all_launch_templates) with V(true), for all launch templates of the region, or for those with the C(tags), a mapping. The
        C(version) of launch templates is C($Default), C($Latest) or a number, by default C($Default). Findings in an account follow
        those in files.
      - A mapping with the key C(host) names nodes by a host, a group or a pattern of the inventory, and needs their results in O(nodes).
        The user data that cloud-init stored and the documents in C(/etc/eks/nodeadm.d) are checked, for the family, the version of kubelet
        and the instance type of the node, if the options do not name others. Values that may be secrets are removed on the node. Lines
        behind them are not checked, and a note says so. A node that cannot be read is an error. Findings on nodes come last.
      - In a directory, files are checked that begin like user data or like one of these files. Hidden files are ignored.
      - Environment variables and C(~) in a path are replaced, unless there is a file with this very name.
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
  family:
    description:
      - The family of the nodes, for example V(al2023), or a name of eksctl. Some checks need it. NodeConfigs, TOML and PowerShell
        show their family. The family in a manifest of Karpenter takes precedence.
    type: str
  kubernetes_version:
    description: The Kubernetes version of the nodes. Without it, only what every version of the family refuses is found.
    type: str
  instance_type:
    description:
      - The instance type of the nodes, for example V(m5.large). With it, the number of pods is compared with its addresses, and reserved
        resources with its size.
    type: str
  format:
    description:
      - The format of the report.
      - V(text) shows each finding with its line. V(json) is for programs, V(sarif) for code scanning services (SARIF 2.1.0), V(junit)
        for CI systems. V(github) prints commands of GitHub Actions, which become annotations of a pull request.
      - V(html) is one page for a browser, without scripts and requests to other machines. For each user data, it shows the text with
        the findings, what a node does with it when it boots, the files and the configuration of kubelet that result, and what is not
        known, as P(nodebootstrap.eks.explain_user_data#filter) explains it.
      - By default V(html) if the name of O(report) ends with C(.html), and otherwise V(text).
    type: str
    choices: [text, json, sarif, junit, github, html]
  report:
    description: The path of the report. Without it, the report is printed. With it, the findings are printed as text as well.
    type: path
  compare_to:
    description:
      - The path of another version of the user data. A report with O(format=html) shows the differences from it, as
        P(nodebootstrap.eks.diff_user_data#filter) finds them.
      - A file is compared with the only user data. In a directory, each user data is compared with the file of the same name.
    type: path
  fix:
    description:
      - Whether to correct the problems with exactly one right answer in the files. C(docs/rules.md) lists the rules. A correction is only
        made if the finding is gone afterwards. The rest of a file stays as it is, byte for byte. The report contains what is left.
      - Text in base64 or gzip, encoded parts of MIME, and files of other tools are not changed.
    type: bool
    default: false
attributes:
  action:
    description: Runs on the controller.
    support: full
  check_mode:
    description: Checks the files without writing a report or corrections.
    support: full
  diff_mode:
    description: Shows the corrections of O(fix). A file with a secret is not shown.
    support: full
  idempotent:
    description: A second run with the same files changes nothing.
    support: full
  platform:
    description: Where the module runs.
    support: full
    platforms: posix
seealso:
  - plugin: nodebootstrap.eks.lint_user_data
    plugin_type: filter
  - module: nodebootstrap.eks.doctor_info
"""

EXAMPLES = r"""
- name: Write a file with user data
  ansible.builtin.copy:
    dest: web.userdata
    content: |
      #!/bin/bash
      dnf install -y jq
    mode: "0644"

- name: Check the file
  nodebootstrap.eks.lint:
    sources: [web.userdata]
    family: al2023
    kubernetes_version: "1.33"

- name: Write a report for a code scanning service
  nodebootstrap.eks.lint:
    sources: [web.userdata]
    format: sarif
    report: web.sarif

- name: Write a page for a browser
  nodebootstrap.eks.lint:
    sources: [web.userdata]
    kubernetes_version: "1.33"
    instance_type: m5.large
    report: web.html
"""

RETURN = r"""
findings:
  description: The findings in all sources, in the order of the sources and of their places.
  returned: always
  type: list
  elements: dict
  contains:
    source:
      description: The path of the file, as in O(sources) or below a directory of O(sources). Otherwise the name of the object in an AWS
        account, or of the host.
      type: str
      returned: always
      sample: web.userdata
    path:
      description: The place of the user data in a file of another tool, or the path of the file on a host, or null.
      type: str
      returned: always
      sample: aws_launch_template.web.user_data
    line:
      description: The line of the file, from 1. In encoded text, the line where it begins.
      type: int
      returned: always
      sample: 2
    rule:
      description: The ID of the rule.
      type: str
      returned: always
      sample: shell.downloads
    severity:
      description: V(error), V(warning) or V(note).
      type: str
      returned: always
      sample: note
    where:
      description: The place in the decoded text, with C(part), C(line), C(column) and C(length).
      type: dict
      returned: always
      sample: {part: 0, line: 2, column: 1, length: 3}
    message:
      description: What is wrong.
      type: str
      returned: always
      sample: "dnf install: needs the network at boot, and fails in a private cluster without an endpoint for it"
    fix:
      description: What to do, or null if the message says it.
      type: str
      returned: always
      sample: install the files in the image, or make sure that the node can reach the address
fixed:
  description: The corrected findings, with the same fields as RV(findings) except C(path) and C(line).
  returned: with O(fix=true)
  type: list
  elements: dict
  sample: []
unchecked_files:
  description: The files in directories of O(sources) that are not checked.
  returned: always
  type: list
  elements: str
  sample: [nodes/README.md]
counts:
  description: The number of findings of each severity.
  returned: always
  type: dict
  sample: {error: 0, warning: 0, note: 1}
"""

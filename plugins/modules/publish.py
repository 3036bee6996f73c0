#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin publish."""

from __future__ import annotations

DOCUMENTATION = r"""
module: publish
short_description: Publish the user data of node groups as versions of their launch templates
version_added: 0.1.0
description:
  - Renders the user data of node groups, and creates a new version of a launch template if the meaning of its user data changes, or one of
    its fields. Other bytes with the same meaning, and another description, make no new version.
  - Never replaces a node. A new version changes what new nodes start with; running nodes stay as they are.
  - Compares with the latest version. Fields that you do not set are taken over from it, also fields that the installed boto3 does not
    know. If such a field would be lost, the module fails.
  - The description of a version contains the SHA-256 digest that C(manifest.json) of M(nodebootstrap.eks.render) contains for the group.
  - Reads and checks everything before it writes anything, and reports all problems at once. It checks that the image is of the family of
    the node group, its Kubernetes version and its architecture, and the rules of EC2 and, for managed node groups, of EKS. If a managed
    node group with the name of the group exists, it also checks that the node group can use the launch template.
  - Warns about a launch template that allows IMDSv1, or whose hop limit does not let pods reach the instance metadata service, unless
    O(templates) sets this.
  - If another version is created between reading and writing, the module fails. Two runs with the same input at the same time create one
    version.
  - Prints its progress, and a table of the launch templates.
  - Needs the permissions C(ec2:DescribeLaunchTemplates), C(ec2:DescribeLaunchTemplateVersions), C(ec2:CreateLaunchTemplateVersion),
    C(ec2:CreateLaunchTemplate) for O(templates) with C(create), and C(ec2:ModifyLaunchTemplate) for O(set_default). Checks that need
    C(ec2:DescribeImages), C(eks:DescribeNodegroup) or C(ssm:GetParameter) are skipped, and listed, if the permission is missing.
requirements:
  - boto3 >= 1.26
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
extends_documentation_fragment:
  - nodebootstrap.eks.fields
  - nodebootstrap.eks.fields.node_groups
  - nodebootstrap.eks.aws
options:
  cluster:
    description: The same as O(nodebootstrap.eks.render#module:cluster).
    type: raw
  node_groups:
    description: The node groups, a list of mappings. The field C(name) is required.
    type: raw
  eksctl_config:
    description: The path of an eksctl C(ClusterConfig) file. The module renders its node groups instead of O(node_groups).
    type: path
  sources:
    description: Several clusters, each with its own node groups.
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
  templates:
    description:
      - The launch templates, one for each node group to publish. Each item is a mapping.
      - C(group) (required) is the name of the node group, and C(cluster) the name of its cluster, if several clusters have such a group.
      - C(launch_template) (required) is the name or the ID of the launch template, and C(region) its region. The default region is that of
        the cluster, then O(region).
      - C(fields) sets fields of the launch template, in the form of C(LaunchTemplateData) of the EC2 API, for example
        C(ImageId) and C(MetadataOptions). Mappings are merged into the existing fields. A list replaces the existing one, but its items
        keep what you do not set, if they are volumes, network interfaces or tags. C(null) removes a field. C(UserData) is refused, because
        it is rendered.
      - C(create) (default V(false)) creates a launch template that does not exist. It then has an encrypted root volume of 80 GiB, requires
        IMDSv2 with a hop limit of 2, and, with C(mode=self_managed), tags its instances with C(kubernetes.io/cluster/NAME=owned), unless
        C(fields) sets C(BlockDeviceMappings), C(MetadataOptions) or C(TagSpecifications). C(tags) are the tags of the new launch template.
      - C(set_default) replaces O(set_default) for this launch template.
    type: list
    elements: raw
    required: true
  encoding:
    description: V(gzip) compresses the user data. It is refused on Windows, and with C(mode=managed).
    type: str
    default: plain
    choices: [plain, gzip]
  files_dir:
    description: The directory where relative paths in the field C(user_data_files) of a node group start.
    type: path
    default: .
  set_default:
    description: Whether to make the version the default one. Otherwise the default version stays as it is.
    type: bool
    default: false
attributes:
  action:
    description: Runs on the controller.
    support: full
  check_mode:
    description: Reads the launch templates, and reports the changes without making them.
    support: full
  diff_mode:
    description:
      - Shows the changed fields, the decoded parts of the user data, and what the changes mean for a node, as
        P(nodebootstrap.eks.diff_user_data#filter) does. The certificate of the cluster is shortened.
    support: full
  idempotent:
    description: A second run with the same input changes nothing.
    support: full
  platform:
    description: Where the module runs.
    support: full
    platforms: posix
seealso:
  - module: nodebootstrap.eks.render
  - name: Module amazon.aws.ec2_launch_template
    description: Manages launch templates field by field, without a node group.
    link: https://docs.ansible.com/ansible/latest/collections/amazon/aws/ec2_launch_template_module.html
"""

EXAMPLES = r"""
- name: Publish the user data of a node group
  nodebootstrap.eks.publish:
    cluster:
      name: demo
      endpoint: https://0123456789ABCDEF.gr7.eu-west-1.eks.amazonaws.com
      certificate_authority: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUIKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo=
      service_cidr: 10.100.0.0/16
      region: eu-west-1
    node_groups:
      - name: workers
        family: al2023
        labels: {role: worker}
    templates:
      - group: workers
        launch_template: demo-workers
        create: true
        fields:
          ImageId: resolve:ssm:/aws/service/eks/optimized-ami/1.33/amazon-linux-2023/x86_64/standard/recommended/image_id
          InstanceType: m5.large
          IamInstanceProfile: {Name: demo-node}
"""

RETURN = r"""
templates:
  description: The launch templates, in the order of O(templates).
  returned: success
  type: list
  elements: dict
  contains:
    cluster:
      description: The name of the cluster.
      type: str
      returned: always
      sample: demo
    group:
      description: The name of the node group.
      type: str
      returned: always
      sample: workers
    family:
      description: The family of the node group.
      type: str
      returned: always
      sample: al2023
    mode:
      description: The mode of the node group.
      type: str
      returned: always
      sample: self_managed
    region:
      description: The region of the launch template.
      type: str
      returned: always
      sample: eu-west-1
    launch_template:
      description: The name of the launch template.
      type: str
      returned: always
      sample: demo-workers
    launch_template_id:
      description: The ID of the launch template, or null in check mode if it does not exist yet.
      type: str
      returned: always
      sample: lt-0123456789abcdef0
    version:
      description: The version with the user data and the fields, or null in check mode if it does not exist yet.
      type: int
      returned: always
      sample: 3
    default_version:
      description: The default version after the run.
      type: int
      returned: always
      sample: 2
    changed:
      description: Whether something was written, or would be in check mode.
      type: bool
      returned: always
      sample: true
    created:
      description: What was created, or would be in check mode. V(nothing), V(version) or V(template).
      type: str
      returned: always
      sample: version
    description:
      description: The description that a new version has.
      type: str
      returned: always
      sample: demo/workers sha256:4a5f…
    user_data:
      description: What changes for a node, with C(path), C(before) and C(after). Empty if the launch template had no user data.
      type: list
      elements: dict
      returned: always
      sample: [{path: "node_group.labels.role", before: null, after: worker}]
    fields:
      description: The other changed fields, with C(path), C(before) and C(after).
      type: list
      elements: dict
      returned: always
      sample: [{path: ImageId, before: ami-00000000000000000, after: ami-0123456789abcdef0}]
    notes:
      description: Warnings about the launch template, and skipped checks, with C(rule), C(path), C(message) and C(fix).
      type: list
      elements: dict
      returned: always
      sample: []
    warnings:
      description: Warnings about the node group, and those of EC2 about the new version.
      type: list
      elements: str
      returned: always
      sample: []
not_published:
  description: The node groups that no item of O(templates) names, with C(cluster) and C(group).
  returned: success
  type: list
  elements: dict
  sample: []
table:
  description: The table as lines of text.
  returned: success
  type: list
  elements: str
  sample: []
"""

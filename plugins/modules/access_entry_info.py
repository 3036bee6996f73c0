#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the access entries of a cluster."""

from __future__ import annotations

DOCUMENTATION = r"""
module: access_entry_info
short_description: Get the access entries of an EKS cluster
version_added: 0.1.0
description:
  - Returns one access entry, or all access entries of a cluster, with their access policies.
  - Needs boto3 and AWS credentials on the host where it runs, normally the controller. It needs the permissions C(eks:DescribeCluster),
    C(eks:ListAccessEntries), C(eks:DescribeAccessEntry) and C(eks:ListAssociatedAccessPolicies).
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
extends_documentation_fragment:
  - nodebootstrap.eks.aws
  - nodebootstrap.eks.reading
requirements:
  - boto3 >= 1.34
options:
  cluster:
    description: The name of the cluster.
    type: str
    required: true
  principal_arn:
    description: The ARN of one principal. Without it, all entries are returned.
    type: str
attributes:
  idempotent:
    description: Changes nothing.
    support: full
seealso:
  - module: nodebootstrap.eks.access_entry
"""

EXAMPLES = r"""
- name: Get all access entries
  nodebootstrap.eks.access_entry_info:
    cluster: demo
    region: eu-west-1
  delegate_to: localhost
  register: found

- name: Show the entries of nodes
  ansible.builtin.debug:
    msg: "{{ found.entries | selectattr('type', 'match', 'EC2_') | map(attribute='principal_arn') }}"
"""

RETURN = r"""
authentication_mode:
  description: The authentication mode of the cluster. C(CONFIG_MAP) means that there are no access entries.
  returned: success
  type: str
  sample: API
entries:
  description: The entries, in the order of EKS. Empty if the principal has none.
  returned: success
  type: list
  elements: dict
  contains:
    principal_arn:
      description: The ARN of the principal.
      type: str
      returned: always
      sample: arn:aws:iam::111122223333:role/workers
    access_entry_arn:
      description: The ARN of the entry.
      type: str
      returned: always
      sample: arn:aws:eks:eu-west-1:111122223333:access-entry/demo/role/111122223333/workers/0123
    type:
      description: The type of the entry.
      type: str
      returned: always
      sample: EC2_LINUX
    username:
      description: The user name of Kubernetes.
      type: str
      returned: always
      sample: system:node:{{EC2PrivateDNSName}}
    kubernetes_groups:
      description: The groups of Kubernetes.
      type: list
      elements: str
      returned: always
      sample: [system:nodes]
    access_policies:
      description: The access policies, each with C(policy), its ARN, and C(namespaces), which is empty for the whole cluster.
      type: list
      elements: dict
      returned: always
      sample: []
    tags:
      description: The tags.
      type: dict
      returned: always
      sample: {"nodebootstrap.eks/managed": "true"}
    managed:
      description: Whether the entry has the tag C(nodebootstrap.eks/managed).
      type: bool
      returned: always
      sample: true
"""

from typing import Any

from ansible.module_utils.basic import AnsibleModule, missing_required_lib

from ..module_utils._aws import client as _aws
from ..module_utils._aws.access_account import Account
from ..module_utils._aws.access_entries import plain_entry

SPECIFICATION = {"cluster": {"type": "str", "required": True}, "principal_arn": {"type": "str"}, **_aws.OPTIONS}


def access_entry_info(options: dict[str, Any]) -> dict[str, Any]:
    """The result of the module. Raises C(AwsError)."""
    account = Account(options, options["cluster"])
    mode = account.authentication_mode()
    if mode == "CONFIG_MAP":
        found: list[dict[str, Any]] = []
    elif options["principal_arn"]:
        found = [entry for entry in [account.find(options["principal_arn"])] if entry is not None]
    else:
        found = account.entries()
    return {"authentication_mode": mode, "entries": [plain_entry(entry) for entry in found]}


def main() -> None:
    """Entry point."""
    module = AnsibleModule(SPECIFICATION, supports_check_mode=True, **_aws.RULES)
    if _aws.BOTO3_ERROR:
        module.fail_json(msg=missing_required_lib("boto3"), exception=_aws.BOTO3_ERROR)
    try:
        result = access_entry_info(module.params)
    except _aws.AwsError as error:
        module.fail_json(msg=f"access_entry_info: {error}")
    module.exit_json(changed=False, **result)


if __name__ == "__main__":
    main()

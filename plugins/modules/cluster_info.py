#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks EKS what a node must know of its cluster."""

from __future__ import annotations

DOCUMENTATION = r"""
module: cluster_info
short_description: Get the fields of an EKS cluster that nodes need
version_added: 0.1.0
description:
  - Calls C(DescribeCluster) of EKS once. You can use RV(cluster) as the input C(cluster) of the other plugins of this collection.
  - Needs boto3 and AWS credentials on the host where it runs, normally the controller. Nodes do not need them.
  - Only reads. It needs the permission C(eks:DescribeCluster) for the cluster. With the permission C(eks:ListClusters), the error for an
    unknown name lists the existing clusters.
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
extends_documentation_fragment:
  - nodebootstrap.eks.aws
  - nodebootstrap.eks.reading
requirements:
  - boto3 >= 1.26
options:
  name:
    description: The name of the cluster.
    type: str
    required: true
  require_active:
    description:
      - Whether the module fails if nodes cannot join the cluster. Nodes can join if its status is C(ACTIVE) or C(UPDATING).
      - V(false) returns the known facts. EKS does not know the endpoint and the certificate authority while it creates a cluster.
    type: bool
    default: true
attributes:
  idempotent:
    description: Changes nothing.
    support: full
seealso:
  - module: nodebootstrap.eks.render
  - plugin: nodebootstrap.eks.user_data
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Get the fields of the cluster
  nodebootstrap.eks.cluster_info:
    name: demo
    region: eu-west-1
  delegate_to: localhost
  register: found

- name: Write the user data of a node group of this cluster
  nodebootstrap.eks.render:
    cluster: "{{ found.cluster }}"
    node_groups:
      - name: workers
        family: al2023
"""

RETURN = r"""
cluster:
  description: The cluster, in the format of the other plugins. Facts that EKS does not return are omitted.
  returned: success
  type: dict
  contains:
    name:
      description: The name of the cluster.
      type: str
      returned: always
      sample: demo
    endpoint:
      description: The URL of the API server.
      type: str
      returned: if EKS returns it
      sample: https://0123456789ABCDEF.gr7.eu-west-1.eks.amazonaws.com
    certificate_authority:
      description: The certificate authority of the API server, base64 of PEM.
      type: str
      returned: if EKS returns it
      sample: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==
    service_cidr:
      description: The range of the service addresses. IPv6 for a cluster with IPv6 pods, otherwise IPv4.
      type: str
      returned: if EKS returns it
      sample: 10.100.0.0/16
    region:
      description: The AWS region.
      type: str
      returned: always
      sample: eu-west-1
    kubernetes_version:
      description: The minor version of the control plane.
      type: str
      returned: if EKS returns it
      sample: "1.33"
    id:
      description: The ID of a local cluster.
      type: str
      returned: on Outposts
      sample: 5f0d2c1e-1111-4222-8333-444455556666
    outpost:
      description: Whether the control plane runs on Outposts.
      type: bool
      returned: on Outposts
      sample: true
status:
  description: The status of the cluster, for example C(ACTIVE).
  returned: success
  type: str
  sample: ACTIVE
"""

from typing import Any

from ansible.module_utils.basic import AnsibleModule, missing_required_lib

from ..module_utils._aws import client as _aws
from ..module_utils._aws.client import BOTO3_ERROR, AwsError
from ..module_utils._aws.cluster import cluster_input, describe

JOINABLE = ("ACTIVE", "UPDATING")
SPECIFICATION = {
    "name": {"type": "str", "required": True},
    **_aws.OPTIONS,
    "require_active": {"type": "bool", "default": True},
}


def cluster_info(options: dict[str, Any]) -> dict[str, Any]:
    """The result of the module. Raises C(AwsError)."""
    with _aws.explained_errors(options, "EKS"):
        described, region = describe(options)
    status = described.get("status") or "unknown"
    if options["require_active"] and status not in JOINABLE:
        raise AwsError(
            f'cluster "{options["name"]}" is {status}, so no node can join it; '
            "fix: wait until it is ACTIVE, or set require_active: false for what is known so far"
        )
    return {"cluster": cluster_input(described, region), "status": status}


def main() -> None:
    """Entry point."""
    module = AnsibleModule(
        SPECIFICATION,
        supports_check_mode=True,
        **_aws.RULES,
    )
    if BOTO3_ERROR:
        module.fail_json(msg=missing_required_lib("boto3"), exception=BOTO3_ERROR)
    try:
        result = cluster_info(module.params)
    except AwsError as error:
        module.fail_json(msg=f"cluster_info: {error}")
    module.exit_json(changed=False, **result)


if __name__ == "__main__":
    main()

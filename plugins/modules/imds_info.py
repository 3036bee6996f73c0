#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks the instance metadata service who the node is."""

from __future__ import annotations

DOCUMENTATION = r"""
module: imds_info
short_description: Get the identity of an EC2 instance from its metadata service
version_added: 0.1.0
description:
  - Runs on an EC2 instance. It reads the names, addresses and location of the instance from the instance metadata service (IMDS).
  - Uses only version 2 of the service, with one token for each call of the module. It never falls back to version 1.
  - Does not read credentials or user data, and does not return the token.
  - Checks the format of every response, so that an error page of a proxy is not returned as a value.
  - Ignores proxies and the environment variable E(AWS_EC2_METADATA_SERVICE_ENDPOINT). Use O(endpoint) instead.
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
extends_documentation_fragment:
  - nodebootstrap.eks.reading
options:
  endpoint:
    description:
      - The address of the service, C(http://ADDRESS) or C(http://ADDRESS:PORT). It must be an IP address, not a name.
      - V(http://[fd00:ec2::254]) is the IPv6 address of the service. It is available on Nitro instances, if you enable it.
    type: str
    default: http://169.254.169.254
  timeout:
    description:
      - Seconds until one request times out, at most 60.
      - The whole call takes at most O(timeout) times (O(retries) + 2) seconds.
    type: float
    default: 2.0
  retries:
    description: The number of retries if the service does not answer or is too busy, at most 10.
    type: int
    default: 3
requirements:
  - Python 3.7 or newer on the node
notes:
  - In a container without host network, the module works only if the hop limit of the instance (C(HttpPutResponseHopLimit)) is at least 2.
seealso:
  - name: Instance metadata
    description: The categories of instance metadata.
    link: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-categories.html
  - plugin: nodebootstrap.eks.max_pods
    plugin_type: filter
"""

EXAMPLES = r"""
# Set imds_endpoint to use another address, for example http://[fd00:ec2::254].
- name: Get the identity of the node
  nodebootstrap.eks.imds_info:
    endpoint: "{{ imds_endpoint | default(omit) }}"
  register: node

- name: Show how many pods the node can run
  ansible.builtin.debug:
    msg: "{{ node.imds.instance_id }}: {{ node.imds.instance_type | nodebootstrap.eks.max_pods }} pods"

- name: Wait longer for the service after a boot, at most 44 seconds
  nodebootstrap.eks.imds_info:
    endpoint: "{{ imds_endpoint | default(omit) }}"
    timeout: 4
    retries: 9
"""

RETURN = r"""
imds:
  description: The identity of the instance.
  returned: success
  type: dict
  contains:
    account_id:
      description: The AWS account that runs the instance.
      type: str
      returned: always
      sample: "111122223333"
    architecture:
      description: The architecture of the image.
      type: str
      returned: always
      sample: x86_64
    availability_zone:
      description: The availability zone of the instance.
      type: str
      returned: always
      sample: eu-central-1a
    billing_products:
      description: The billing products of the image.
      type: list
      elements: str
      returned: always
      sample: []
    devpay_product_codes:
      description: The DevPay product codes of the image.
      type: list
      elements: str
      returned: always
      sample: []
    document_version:
      description: The version of the format of the identity document.
      type: str
      returned: always
      sample: "2017-09-30"
    image_id:
      description: The ID of the image of the instance.
      type: str
      returned: always
      sample: ami-0123456789abcdef0
    instance_id:
      description: The ID of the instance.
      type: str
      returned: always
      sample: i-1234567890abcdef0
    instance_life_cycle:
      description: The purchasing option of the instance, for example V(on-demand), V(spot) or V(capacity-block).
      type: str
      returned: always
      sample: on-demand
    instance_type:
      description: The type of the instance.
      type: str
      returned: always
      sample: m5.large
    ipv6:
      description: The IPv6 addresses of the first network interface. Empty if there are none.
      type: list
      elements: str
      returned: always
      sample: ["2001:db8::5"]
    kernel_id:
      description: The ID of the kernel. Null except on very old instance types.
      type: str
      returned: always
      sample: null
    local_hostname:
      description: The private host name.
      type: str
      returned: always
      sample: ip-10-0-0-5.eu-central-1.compute.internal
    local_ipv4:
      description: The private IPv4 address. Null in an IPv6-only subnet.
      type: str
      returned: always
      sample: 10.0.0.5
    mac:
      description: The MAC address of the first network interface.
      type: str
      returned: always
      sample: 0a:58:0a:00:00:05
    marketplace_product_codes:
      description: The AWS Marketplace product codes of the image.
      type: list
      elements: str
      returned: always
      sample: []
    pending_time:
      description: The time when the instance was started, in UTC.
      type: str
      returned: always
      sample: "2026-01-01T00:00:00Z"
    ramdisk_id:
      description: The ID of the RAM disk. Null except on very old instance types.
      type: str
      returned: always
      sample: null
    region:
      description: The region of the instance.
      type: str
      returned: always
      sample: eu-central-1
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._node.zip_imports import compile_once

compile_once()

from ..module_utils._node.imds import IPV4, Client, ImdsError, instance_facts


def main():
    """Return the identity of the instance, or fail with a message that has the fix."""
    options = {
        "endpoint": {"type": "str", "default": IPV4},
        "timeout": {"type": "float", "default": 2.0},
        "retries": {"type": "int", "default": 3},
    }
    module = AnsibleModule(argument_spec=options, supports_check_mode=True)
    try:
        imds = instance_facts(Client(**{name: module.params[name] for name in options}))
    except ImdsError as error:
        module.fail_json(msg=str(error))
    module.exit_json(changed=False, imds=imds)


if __name__ == "__main__":
    main()

#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks the instance metadata service who the node is."""

from __future__ import annotations

DOCUMENTATION = r"""
module: imds_info
short_description: Ask the instance metadata service who a node is
version_added: 0.1.0
description:
  - Runs on an EC2 instance and asks its instance metadata service (IMDS) for what a node is called and where it stands.
  - Uses version 2 of the service only, one token for the call, and never falls back to version 1.
  - Never asks for credentials or user data. The token does not leave the module.
  - Every answer must have the form of what was asked for, so that the error page of a proxy never becomes a value.
  - Proxies and the environment variable E(AWS_EC2_METADATA_SERVICE_ENDPOINT) are ignored; use O(endpoint).
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
extends_documentation_fragment:
  - nodebootstrap.eks.reading
options:
  endpoint:
    description:
      - Address of the service, C(http://ADDRESS) or C(http://ADDRESS:PORT), an IP address and no name.
      - V(http://[fd00:ec2::254]) is its IPv6 address, which instances of the Nitro system have when it is enabled for them.
    type: str
    default: http://169.254.169.254
  timeout:
    description:
      - Seconds that one request may take, at most 60.
      - The whole call ends after O(timeout) times (O(retries) + 2) seconds.
    type: float
    default: 2.0
  retries:
    description: How often a request is repeated that brought no answer or that the service was too busy for, at most 10.
    type: int
    default: 3
requirements:
  - Python 3.7 or newer on the node
notes:
  - Inside a container that does not use the network of its host, the hop limit of the instance (C(HttpPutResponseHopLimit)) must be 2
    or more.
seealso:
  - name: Instance metadata
    description: What the service answers.
    link: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-categories.html
  - plugin: nodebootstrap.eks.max_pods
    plugin_type: filter
"""

EXAMPLES = r"""
# imds_endpoint stands for another address, for example http://[fd00:ec2::254]; without it the usual one is asked.
- name: Ask who the node is
  nodebootstrap.eks.imds_info:
    endpoint: "{{ imds_endpoint | default(omit) }}"
  register: node

- name: Compute how many pods it may run
  ansible.builtin.debug:
    msg: "{{ node.imds.instance_id }}: {{ node.imds.instance_type | nodebootstrap.eks.max_pods }} pods"

- name: Give a service that is slow at boot more time, 44 seconds at most
  nodebootstrap.eks.imds_info:
    endpoint: "{{ imds_endpoint | default(omit) }}"
    timeout: 4
    retries: 9
"""

RETURN = r"""
imds:
  description: What the service says of the instance.
  returned: success
  type: dict
  contains:
    account_id:
      description: The AWS account that runs the instance.
      type: str
      returned: always
      sample: "111122223333"
    architecture:
      description: Architecture of the image.
      type: str
      returned: always
      sample: x86_64
    availability_zone:
      description: Where the instance stands.
      type: str
      returned: always
      sample: eu-central-1a
    billing_products:
      description: Billing products of the image.
      type: list
      elements: str
      returned: always
      sample: []
    devpay_product_codes:
      description: DevPay product codes of the image.
      type: list
      elements: str
      returned: always
      sample: []
    document_version:
      description: Version of the identity document's format.
      type: str
      returned: always
      sample: "2017-09-30"
    image_id:
      description: The image that the instance was started from.
      type: str
      returned: always
      sample: ami-0123456789abcdef0
    instance_id:
      description: The instance.
      type: str
      returned: always
      sample: i-1234567890abcdef0
    instance_life_cycle:
      description: How the instance is bought, for example V(on-demand), V(spot) or V(capacity-block).
      type: str
      returned: always
      sample: on-demand
    instance_type:
      description: Its type.
      type: str
      returned: always
      sample: m5.large
    ipv6:
      description: The IPv6 addresses of the first network interface; empty when there are none.
      type: list
      elements: str
      returned: always
      sample: ["2001:db8::5"]
    kernel_id:
      description: The kernel that the instance was started with; null on all but very old types.
      type: str
      returned: always
      sample: null
    local_hostname:
      description: Its private host name.
      type: str
      returned: always
      sample: ip-10-0-0-5.eu-central-1.compute.internal
    local_ipv4:
      description: Its private IPv4 address; null in a subnet that has IPv6 only.
      type: str
      returned: always
      sample: 10.0.0.5
    mac:
      description: The MAC address of the first network interface.
      type: str
      returned: always
      sample: 0a:58:0a:00:00:05
    marketplace_product_codes:
      description: AWS Marketplace product codes of the image.
      type: list
      elements: str
      returned: always
      sample: []
    pending_time:
      description: When the instance was started, in UTC.
      type: str
      returned: always
      sample: "2026-01-01T00:00:00Z"
    ramdisk_id:
      description: The RAM disk that the instance was started with; null on all but very old types.
      type: str
      returned: always
      sample: null
    region:
      description: Its region.
      type: str
      returned: always
      sample: eu-central-1
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._node.imds import IPV4, Client, ImdsError, instance_facts


def main():
    """Ask, and answer with facts or with one sentence that says what to do."""
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

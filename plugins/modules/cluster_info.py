#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks EKS what a node must know of its cluster."""

from __future__ import annotations

DOCUMENTATION = r"""
module: cluster_info
short_description: Ask EKS what a node must know of its cluster
version_added: 0.1.0
description:
  - Calls EKS's C(DescribeCluster) once and returns the cluster as the other plugins of this collection take it.
  - Runs where boto3 and AWS credentials are, normally on the controller; nodes need neither.
  - Reads only, and needs the permission C(eks:DescribeCluster) for the cluster.
    With C(eks:ListClusters) the error for an unknown name says which clusters there are.
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
requirements:
  - boto3 >= 1.26
options:
  name:
    description: Name of the cluster.
    type: str
    required: true
  region:
    description:
      - AWS region of the cluster.
      - Without it, E(AWS_REGION), E(AWS_DEFAULT_REGION) and the configuration of the profile are asked, in this order.
    type: str
  profile:
    description:
      - Profile in the files of the AWS command line.
      - Without it and without O(access_key), boto3 looks for credentials in its usual places.
    type: str
    aliases: [aws_profile]
  endpoint_url:
    description: URL of the EKS API, instead of AWS's for the region.
    type: str
    aliases: [aws_endpoint_url]
  access_key:
    description: AWS access key ID.
    type: str
    aliases: [aws_access_key_id, aws_access_key]
  secret_key:
    description: AWS secret access key.
    type: str
    aliases: [aws_secret_access_key, aws_secret_key]
  session_token:
    description: Session token of temporary credentials.
    type: str
    aliases: [aws_session_token]
  require_active:
    description:
      - Whether a cluster that nodes cannot join is an error. They can while its status is C(ACTIVE) or C(UPDATING).
      - V(false) returns what is known so far; while a cluster is made, endpoint and certificate authority are missing.
    type: bool
    default: true
attributes:
  check_mode:
    description: Reads only, so it does the same.
    support: full
  diff_mode:
    description: Changes nothing that could be shown.
    support: none
  idempotent:
    description: Changes nothing.
    support: full
  platform:
    description: Where the module runs.
    support: full
    platforms: posix
seealso:
  - module: nodebootstrap.eks.render
  - plugin: nodebootstrap.eks.user_data
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Ask EKS for the cluster
  nodebootstrap.eks.cluster_info:
    name: demo
    region: eu-west-1
  delegate_to: localhost
  register: found

- name: Write the user data of a group that joins it
  nodebootstrap.eks.render:
    cluster: "{{ found.cluster }}"
    node_groups:
      - name: workers
        family: al2023
"""

RETURN = r"""
cluster:
  description: The cluster as other plugins take it. What EKS does not say is left out.
  returned: success
  type: dict
  contains:
    name:
      description: Name of the cluster.
      type: str
      returned: always
      sample: demo
    endpoint:
      description: URL of its API server.
      type: str
      returned: when EKS knows it
      sample: https://0123456789ABCDEF.gr7.eu-west-1.eks.amazonaws.com
    certificate_authority:
      description: Certificate authority of the API server, base64 of PEM.
      type: str
      returned: when EKS knows it
      sample: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==
    service_cidr:
      description: Network of the services, IPv6 in a cluster whose pods have IPv6 addresses, otherwise IPv4.
      type: str
      returned: when EKS knows it
      sample: 10.100.0.0/16
    region:
      description: AWS region.
      type: str
      returned: always
      sample: eu-west-1
    kubernetes_version:
      description: Minor version of the control plane.
      type: str
      returned: when EKS knows it
      sample: "1.33"
    id:
      description: ID of a local cluster.
      type: str
      returned: on Outposts
      sample: 5f0d2c1e-1111-4222-8333-444455556666
    outpost:
      description: Whether the control plane runs on Outposts.
      type: bool
      returned: on Outposts
      sample: true
status:
  description: What EKS says of the cluster, for example C(ACTIVE).
  returned: success
  type: str
  sample: ACTIVE
"""

import difflib
import traceback
from typing import Any
from urllib.parse import urlsplit

from ansible.module_utils.basic import AnsibleModule, env_fallback, missing_required_lib

BOTO3_ERROR = ""
try:
    import boto3
    from botocore import exceptions
    from botocore.config import Config
    from botocore.parsers import ResponseParserError
except ImportError:
    BOTO3_ERROR = traceback.format_exc()

JOINABLE = ("ACTIVE", "UPDATING")
SPECIFICATION = {
    "name": {"type": "str", "required": True},
    "region": {"type": "str", "fallback": (env_fallback, ["AWS_REGION", "AWS_DEFAULT_REGION"])},
    "profile": {"type": "str", "aliases": ["aws_profile"]},
    "endpoint_url": {"type": "str", "aliases": ["aws_endpoint_url"]},
    "access_key": {"type": "str", "aliases": ["aws_access_key_id", "aws_access_key"], "no_log": True},
    "secret_key": {"type": "str", "aliases": ["aws_secret_access_key", "aws_secret_key"], "no_log": True},
    "session_token": {"type": "str", "aliases": ["aws_session_token"], "no_log": True},
    "require_active": {"type": "bool", "default": True},
}


class Refused(Exception):
    """What a person has to read; its text is the whole message."""


def cluster_input(described: dict[str, Any], region: str) -> dict[str, Any]:
    """The C(cluster) of our input from the C(cluster) of a DescribeCluster response, without what is absent there."""
    network = described.get("kubernetesNetworkConfig") or {}
    local = bool(described.get("outpostConfig"))
    found = {
        "name": described.get("name"),
        "endpoint": described.get("endpoint"),
        "certificate_authority": (described.get("certificateAuthority") or {}).get("data"),
        "service_cidr": network.get("serviceIpv6Cidr" if network.get("ipFamily") == "ipv6" else "serviceIpv4Cidr"),
        "region": region,
        "kubernetes_version": described.get("version"),
        "id": described.get("id") if local else None,
        "outpost": local,
    }
    return {key: value for key, value in found.items() if value}


def nearest(word: str, words: list[str]) -> str:
    """The end of a sentence that names what C(word) was probably meant to be; '' when nothing looks like it."""
    matches = difflib.get_close_matches(word, words, n=1)
    return f'; did you mean "{matches[0]}"?' if matches else ""


def unreachable(client: Any, session: Any, endpoint_url: Any) -> str:
    """Why nobody answered. Without the path and without what may stand before the host: that can be a password."""
    region = client.meta.region_name
    regions = session.get_available_regions("eks")
    text = f"the EKS API at {urlsplit(client.meta.endpoint_url).hostname} does not answer"
    if endpoint_url:
        return f"{text}; fix: check endpoint_url, and the network, proxy and certificates on the way there"
    if regions and region not in regions:
        return f"{text}: this boto3 knows no EKS in region {region}{nearest(region, regions)}"
    return f"{text}; fix: check region ({region}), and the network, proxy and certificates on the way there"


def not_found(client: Any, name: str) -> str:
    """That there is no such cluster, and which there are, where that may be asked."""
    text = f'there is no cluster "{name}" in region {client.meta.region_name}, in the account of these credentials'
    try:
        names = [found for page in client.get_paginator("list_clusters").paginate() for found in page["clusters"]]
    except (exceptions.BotoCoreError, exceptions.ClientError, ResponseParserError, KeyError):
        return f"{text}; which there are cannot be said: eks:ListClusters is not possible"
    if not names:
        return f"{text}, and no other either; fix: check region and profile"
    few = ", ".join(sorted(names)[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
    return f"{text}; there are: {few}{nearest(name, names)}"


def refusal(client: Any, name: str, error: Any) -> str:
    """What EKS's own error means for C(name)."""
    code, said = (error.response.get("Error", {}).get(word) or "" for word in ("Code", "Message"))
    if code == "ResourceNotFoundException":
        return not_found(client, name)
    if code.startswith("AccessDenied") or code in ("UnauthorizedOperation", "NotAuthorized"):
        return f'the credentials may not call eks:DescribeCluster for cluster "{name}"; fix: allow it in their policy ({code}: {said})'
    if code in ("ExpiredToken", "ExpiredTokenException", "RequestExpired"):
        return f"the credentials have expired; fix: get new ones ({code}: {said})"
    if code in ("UnrecognizedClientException", "InvalidClientTokenId", "InvalidSignatureException", "SignatureDoesNotMatch"):
        return f"AWS does not know these credentials; fix: check access_key and secret_key, profile and region ({code}: {said})"
    return f'EKS refused to describe cluster "{name}" ({code}: {said})'


def new_session(options: dict[str, Any]) -> Any:
    """A boto3 session with the given region and credentials; what is not given comes from boto3's usual places."""
    session = boto3.session.Session(
        aws_access_key_id=options["access_key"],
        aws_secret_access_key=options["secret_key"],
        aws_session_token=options["session_token"],
        region_name=options["region"],
        profile_name=options["profile"],
    )
    if not session.region_name:
        raise Refused("no region is known; fix: set region, AWS_REGION, or a region in the profile")
    return session


def describe(options: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """The C(cluster) of EKS's answer, and the region that was asked. Raises C(Refused), or botocore's error when nothing was sent."""
    session = new_session(options)
    config = Config(retries={"mode": "standard"}, connect_timeout=10, read_timeout=30)
    client = session.client("eks", endpoint_url=options["endpoint_url"], config=config)
    try:
        answer = client.describe_cluster(name=options["name"])
    except exceptions.ClientError as error:
        raise Refused(refusal(client, options["name"], error)) from None
    except (exceptions.ConnectionError, exceptions.HTTPClientError) as error:  # no connection, no TLS, no answer in time
        raise Refused(f"{unreachable(client, session, options['endpoint_url'])} ({type(error).__name__})") from None
    except ResponseParserError:
        answer = {}
    if not isinstance(answer.get("cluster"), dict):
        raise Refused(f"what answers at {urlsplit(client.meta.endpoint_url).hostname} is not EKS; fix: check endpoint_url")
    return answer["cluster"], client.meta.region_name


def cluster_info(options: dict[str, Any]) -> dict[str, Any]:
    """What the module returns. Raises C(Refused)."""
    try:
        described, region = describe(options)
    except (exceptions.NoCredentialsError, exceptions.PartialCredentialsError):
        raise Refused("no AWS credentials were found, or only half of them; fix: set profile, or access_key and secret_key") from None
    except exceptions.ProfileNotFound:
        names = boto3.session.Session().available_profiles if options["profile"] else []
        given = options["profile"] or "named by AWS_PROFILE"
        raise Refused(f"there is no AWS profile {given}; there are: {', '.join(names) or 'none'}{nearest(given, names)}") from None
    except (exceptions.BotoCoreError, ValueError) as error:
        # Nothing was sent: an option or a configuration file that boto3 does not take. Its text has no traceback and no secret.
        raise Refused(f"boto3 cannot ask EKS: {error}") from None
    status = described.get("status") or "unknown"
    if options["require_active"] and status not in JOINABLE:
        raise Refused(
            f'cluster "{options["name"]}" is {status}, so no node can join it; '
            "fix: wait until it is ACTIVE, or set require_active: false for what is known so far"
        )
    return {"cluster": cluster_input(described, region), "status": status}


def main() -> None:
    """Entry point."""
    module = AnsibleModule(
        SPECIFICATION,
        supports_check_mode=True,
        mutually_exclusive=[("profile", "access_key"), ("profile", "secret_key"), ("profile", "session_token")],
        required_together=[("access_key", "secret_key")],
        required_by={"session_token": ("access_key",)},
    )
    if BOTO3_ERROR:
        module.fail_json(msg=missing_required_lib("boto3"), exception=BOTO3_ERROR)
    try:
        result = cluster_info(module.params)
    except Refused as error:
        module.fail_json(msg=f"cluster_info: {error}")
    module.exit_json(changed=False, **result)


if __name__ == "__main__":
    main()

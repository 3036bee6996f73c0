# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stand-in for AWS: our EKS, and moto for all other services, behind one URL.

    with AwsStandIn() as aws:
        cluster = aws.eks.add_cluster("demo", authentication_mode="API")
        aws.eks.add_node_group("demo", "workers", role="arn:aws:iam::123456789012:role/workers")
        … boto3, modules and playbooks with endpoint_url=aws.url, any credentials and region=aws.region …
        assert aws.operations() == ["eks:DescribeCluster", "eks:CreateAccessEntry"]
        aws.deny("eks:CreateAccessEntry")                       # AccessDeniedException from now on
        aws.fail_once("eks:DescribeCluster", ApiError(…))   # the next call fails

moto has clusters and managed node groups, but no access entries, authentication modes, UpdateNodegroupVersion or DescribeUpdate. EKS is
therefore answered here completely: an operation that is not implemented fails the test. Requests and responses are checked against the
service model of botocore, with all limits and enumerations, and requests are refused as EKS refuses them. This shows that a
request is one that EKS accepts by its documentation. It does not show that the real EKS does the same.

server.py: the URL, injected errors, recorded calls. protocol.py: between HTTP and the model of botocore, for any service of the
protocol rest-json. state.py, eks.py: the state, and the operations on clusters. access_entries.py, node_groups.py: the other operations.
To add one, write a function `(eks, request) -> response`, and add it to OPERATIONS of its file. To answer operations of another service
in place of moto, pass `also={"autoscaling": …}` to AwsStandIn; `Overlay` in server.py describes the value.
"""

from __future__ import annotations

from .eks import Eks
from .errors import ApiError
from .server import AwsStandIn, Call

__all__ = ["ApiError", "AwsStandIn", "Call", "Eks"]

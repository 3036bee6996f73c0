# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stand-in for AWS: moto's server for EC2, EKS, STS and the other services, with the lab's cluster and its nodes.

    python -m ….lab.run aws ADDRESS PORT CLUSTER.json

CLUSTER.json: name, endpoint, certificate_authority, kubernetes_version, service_cidr, region, vpc, block. moto invents an endpoint for
every cluster, so this one is given the real one where it is kept.
"""

from __future__ import annotations

import json
import re
import threading
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

from . import moto_repairs
from .progress import LabError

ACCOUNT = "123456789012"
IMAGE = "ami-0123456789abcdef0"

#: The lab is never behind this machine's proxy.
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))

#: Fields of an instance, and the tag in moto's answer for each.
_INSTANCE = {
    "id": "instanceId",
    "address": "privateIpAddress",
    "name": "privateDnsName",
    "zone": "availabilityZone",
    "type": "instanceType",
}


def main(address: str, port: str, cluster: str) -> None:
    serve(address, int(port), json.loads(Path(cluster).read_text()))


def serve(address: str, port: int, cluster: dict[str, Any]) -> None:
    """Serve until killed."""
    from moto.eks.models import eks_backends
    from moto.server import ThreadedMotoServer

    moto_repairs.repair()
    server = ThreadedMotoServer(ip_address=address, port=port)
    server.start()
    eks = eks_backends[ACCOUNT][cluster["region"]]
    made = eks.create_cluster(
        name=cluster["name"],
        role_arn=f"arn:aws:iam::{ACCOUNT}:role/cluster",
        resources_vpc_config={"subnetIds": [], "endpointPublicAccess": True},
        kubernetes_network_config={"serviceIpv4Cidr": cluster["service_cidr"], "ipFamily": "ipv4"},
        version=cluster["kubernetes_version"],
    )
    made.endpoint = cluster["endpoint"]
    made.certificate_authority = {"data": cluster["certificate_authority"]}
    # Last, and over HTTP: the first request to EC2 imports for seconds, and the subnet shows that everything here is done.
    Ec2(f"http://{address}:{port}", cluster["region"]).make_subnet(cluster["vpc"], cluster["block"])
    threading.Event().wait()


class Ec2:
    """The calls that the lab itself makes. moto checks no signature, but takes region and service from its scope."""

    def __init__(self, endpoint: str, region: str) -> None:
        self.endpoint = endpoint
        self.region = region

    def make_subnet(self, vpc: str, block: str) -> None:
        made = first("vpcId", self._call("CreateVpc", CidrBlock=vpc))
        self._call("CreateSubnet", VpcId=made, CidrBlock=block, AvailabilityZone=f"{self.region}a")

    def subnet(self, block: str) -> str:
        """The subnet with this block; '' if there is none, or if the server does not answer yet."""
        try:
            answer = self._call("DescribeSubnets", **{"Filter.1.Name": "cidr-block", "Filter.1.Value.1": block})
        except (OSError, LabError):
            return ""
        return first("subnetId", answer) if "<subnetId>" in answer else ""

    def run(self, subnet: str, address: str, address6: str, kind: str) -> tuple[str, str]:
        """Launch an instance with these addresses (no IPv6 if ''). Returns (instance ID, private DNS name)."""
        answer = self._call(
            "RunInstances", ImageId=IMAGE, InstanceType=kind, MinCount="1", MaxCount="1", SubnetId=subnet, PrivateIpAddress=address
        )
        self.assign(answer, address6)
        return first("instanceId", answer), first("privateDnsName", answer)

    def describe(self, instance: str) -> str:
        return self._call("DescribeInstances", **{"InstanceId.1": instance})

    def assign(self, described: str, address6: str) -> None:
        """Give the network interface of an instance an IPv6 address, unless it is ''."""
        if address6:
            self._call("AssignIpv6Addresses", NetworkInterfaceId=first("networkInterfaceId", described), **{"Ipv6Addresses.1": address6})

    def launched(self) -> int:
        """The number of instances ever launched: moto does not reuse the address of a terminated one."""
        return self._call("DescribeInstances", MaxResults="1000").count("<instanceId>")

    def terminate(self, instance: str) -> None:
        self._call("TerminateInstances", **{"InstanceId.1": instance})

    def find(self, private_dns_name: str) -> dict[str, str] | None:
        """A running instance by its private DNS name: what _INSTANCE lists, and `address6`, which may be ''; None if there is none."""
        answer = self._call(
            "DescribeInstances",
            **{"Filter.1.Name": "private-dns-name", "Filter.1.Value.1": private_dns_name},
            **{"Filter.2.Name": "instance-state-name", "Filter.2.Value.1": "running"},
        )
        if "<instanceId>" not in answer:
            return None
        found = {name: first(tag, answer) for name, tag in _INSTANCE.items()}
        return found | {"address6": first("ipv6Address", answer) if "<ipv6Address>" in answer else ""}

    def _call(self, action: str, **parameters: str) -> str:
        body = urllib.parse.urlencode({"Action": action, "Version": "2016-11-15", **parameters}).encode()
        scope = f"20260101/{self.region}/ec2/aws4_request"
        signed = f"AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/{scope}, SignedHeaders=host, Signature=0"
        request = urllib.request.Request(self.endpoint, body, {"Authorization": signed})
        try:
            with _DIRECT.open(request, timeout=300) as answer:
                text: str = answer.read().decode()
                return text
        except urllib.error.HTTPError as error:
            raise LabError(f"{action}: {error.read().decode(errors='replace')}") from None


def first(tag: str, text: str) -> str:
    found = re.search(rf"<{tag}>([^<]*)</{tag}>", text)
    if found is None:
        raise LabError(f"no <{tag}> in the answer of EC2's stand-in: {text[:500]}")
    return found[1]

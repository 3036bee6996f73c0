# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write plugins/plugin_utils/_data/instance_types.json from EC2's DescribeInstanceTypes.

python tools/refresh_instance_types.py --region us-east-1 --region us-west-2     # with AWS credentials
python tools/refresh_instance_types.py --moto                                    # without: moto's copy of the answer of AWS
python tools/refresh_instance_types.py --compare FILE                            # with Karpenter's table (see C(compare))
"""

from __future__ import annotations

import argparse
import datetime
import json
import re
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import boto3

TARGET = Path(__file__).parent.parent / "plugins" / "plugin_utils" / "_data" / "instance_types.json"
COLUMNS = ["max_enis", "ips_per_eni", "vcpus", "hypervisor", "architecture", "memory"]
# memory in MiB, as the hypervisor gives it to the instance; Linux sees some percent less.


def described(client: Any) -> Iterator[dict[str, Any]]:
    """Every type that one region knows."""
    for page in client.get_paginator("describe_instance_types").paginate():
        yield from page["InstanceTypes"]


def row(kind: dict[str, Any]) -> list[Any] | None:
    """One type as a row in the order of COLUMNS, or None when it has no network of its own."""
    network = kind["NetworkInfo"]
    # The VPC CNI attaches ENIs to the default network card only; MaximumNetworkInterfaces counts all cards.
    cards = {card["NetworkCardIndex"]: card for card in network.get("NetworkCards", [])}
    card = cards.get(network.get("DefaultNetworkCardIndex", 0), {})
    enis = card.get("MaximumNetworkInterfaces", network.get("MaximumNetworkInterfaces"))
    addresses = network.get("Ipv4AddressesPerInterface")
    vcpus = kind.get("VCpuInfo", {}).get("DefaultVCpus")
    if not enis or not addresses:
        return None
    hypervisor = "metal" if kind.get("BareMetal") else kind.get("Hypervisor")
    architectures = kind.get("ProcessorInfo", {}).get("SupportedArchitectures", [])
    # old types list i386 besides x86_64; EKS has images for the two 64-bit ones only.
    architecture = next((name for name in architectures if name in ("x86_64", "arm64")), None)
    memory = kind.get("MemoryInfo", {}).get("SizeInMiB")
    return [enis, addresses, vcpus, hypervisor, architecture, memory]


def table(kinds: Iterable[dict[str, Any]], source: str) -> str:
    """The file's text for what EC2 describes."""
    rows = {kind["InstanceType"]: cells for kind in kinds if (cells := row(kind))}
    head = {"source": source, "date": datetime.datetime.now(tz=datetime.timezone.utc).date().isoformat(), "columns": COLUMNS}
    return written(head, rows)


def written(head: dict[str, Any], rows: dict[str, list[Any]]) -> str:
    """The file's text: one type a line, so that a refresh shows as a diff that can be read."""
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}," for key, value in head.items()]
    types = ",\n".join(f"    {json.dumps(name)}: {json.dumps(rows[name], separators=(',', ':'))}" for name in sorted(rows))
    return "\n".join(["{", *lines, '  "rows": {', types, "  }", "}", ""])


def from_moto() -> str:
    """The table as moto's server tells it, started here on a free port of the loopback interface."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    try:
        host, port = server.get_host_and_port()
        session = boto3.Session(aws_access_key_id="none", aws_secret_access_key="none", region_name="us-east-1")
        client = session.client("ec2", endpoint_url=f"http://{host}:{port}")
        return table(described(client), f"EC2 DescribeInstanceTypes as scraped by moto {version('moto')}")
    finally:
        server.stop()


def from_aws(regions: list[str]) -> str:
    """The table of all types that the given regions know."""
    kinds = [kind for region in regions for kind in described(boto3.client("ec2", region_name=region))]
    return table(kinds, f"EC2 DescribeInstanceTypes, {', '.join(sorted(regions))}")


def _number(text: str, name: str) -> int:
    found = re.search(rf"\b{name}:\s+(\d+)", text)
    if found is None:
        raise SystemExit(f"no {name} in {text[:80]!r}")
    return int(found[1])


def compare(path: Path) -> list[str]:
    """How ENIs and addresses differ from pkg/providers/instancetype/zz_generated.vpclimits.go of the Go module
    github.com/aws/karpenter-provider-aws, which AWS generates from the limits of its VPC controller. It has no memory and no CPUs.

    The result is written to the file, too.
    """
    rows = json.loads(TARGET.read_text(encoding="utf-8"))["rows"]
    overrides = json.loads(TARGET.with_name("instance_types_overrides.json").read_text(encoding="utf-8"))["rows"]
    theirs = {}
    for name, body in re.findall(r'^\t"([^"]+)": \{(.*?)^\t\},', path.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE):
        cards = re.findall(r"MaximumNetworkInterfaces:\s+(\d+),\s+NetworkCardIndex:\s+(\d+)", body)
        default = str(_number(body, "DefaultNetworkCardIndex"))
        enis = [int(number) for number, index in cards if index == default]
        theirs[name] = [enis[0] if enis else _number(body, "Interface"), _number(body, "IPv4PerInterface")]
    common = sorted(rows.keys() & theirs.keys())
    ours = {name: [overrides.get(name, {}).get("max_enis", rows[name][0]), rows[name][1]] for name in common}
    unlike = [f"{name}: {ours[name]} and {theirs[name]}" for name in common if ours[name] != theirs[name]]
    version_of = re.search(r"@(v[0-9.]+)/", str(path.resolve()))
    source = f"Karpenter{f' {version_of[1]}' if version_of else ''}, {path.name}"
    text = f"max_enis and ips_per_eni with {source}: {len(common)} common types, {len(unlike)} differences"
    document = json.loads(TARGET.read_text(encoding="utf-8"))
    head = {name: value for name, value in document.items() if name != "rows"} | {"compared": text}
    TARGET.write_text(written(head, rows), encoding="utf-8")
    missing = sorted(theirs.keys() - rows.keys())
    return [text, *unlike, f"only there: {', '.join(missing)}"]


def main() -> None:
    """Refresh the file, or compare it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--moto", action="store_true", help="ask moto's server instead of AWS")
    parser.add_argument("--region", action="append", default=[], help="an AWS region to ask (may be given again)")
    parser.add_argument("--compare", type=Path, help="a file to compare with, instead")
    options = parser.parse_args()
    if options.compare:
        print("\n".join(compare(options.compare)))
        return
    if options.moto == bool(options.region):
        parser.error("give either --moto or at least one --region")
    text = from_moto() if options.moto else from_aws(options.region)
    TARGET.write_text(text, encoding="utf-8")
    print(f"{TARGET.name}: {len(json.loads(text)['rows'])} types, {len(text)} bytes")


if __name__ == "__main__":
    main()

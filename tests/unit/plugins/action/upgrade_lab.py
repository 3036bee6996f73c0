# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A group of moto whose instances are Node objects of the small Kubernetes API, with a controller that creates evicted pods again."""

from __future__ import annotations

import base64
import contextlib
import functools
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ansible_collections.nodebootstrap.eks.tests.eks_api import AwsStandIn
from ansible_collections.nodebootstrap.eks.tests.lab import moto_repairs
from ansible_collections.nodebootstrap.eks.tests.unit import kubernetes_api

NAME = "demo-workers"
EVERY = 0.05


class Group:
    """An Auto Scaling group. C(never_ready): launch template versions whose nodes do not become Ready. C(zone): of the nodes; EC2 is asked
    about the subnets only in the region of the account."""

    def __init__(
        self, aws: AwsStandIn, api: kubernetes_api.KubernetesApi, size: int, max_size: int, version: str, *, has_new_version: bool
    ) -> None:
        self.aws, self.api, self.size = aws, api, size
        self.zone = "us-west-2a"
        self.never_ready: set[str] = set()
        self.ready_after = 0.2
        self.ec2, self.groups = aws.client("ec2"), aws.client("autoscaling")
        self._seen: dict[str, float] = {}
        self._ended = threading.Event()
        self._pods = size * 2
        self.fewest_available = size
        self.vpc = self.ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
        self.subnet = self.ec2.create_subnet(VpcId=self.vpc, CidrBlock="10.9.0.0/28")["Subnet"]["SubnetId"]
        image = self.ec2.describe_images()["Images"][0]["ImageId"]
        data = {"ImageId": image, "InstanceType": "m5.large", "UserData": base64.b64encode(b"old").decode()}
        self.template = self.ec2.create_launch_template(LaunchTemplateName=NAME, LaunchTemplateData=data)["LaunchTemplate"][
            "LaunchTemplateId"
        ]
        self.groups.create_auto_scaling_group(
            AutoScalingGroupName=NAME, MinSize=1, MaxSize=max_size, DesiredCapacity=size, VPCZoneIdentifier=self.subnet,
            LaunchTemplate={"LaunchTemplateId": self.template, "Version": version},
        )  # fmt: skip
        if has_new_version:
            self.ec2.create_launch_template_version(LaunchTemplateId=self.template, LaunchTemplateData=data)
        self._keep()
        self.wait(lambda: len(self.ready()) == size)
        for number in range(self._pods):
            api.pod(f"web-{number}", sorted(api.nodes())[number % size])
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def wait(self, condition: Any, seconds: float = 20) -> None:
        limit = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < limit
            self._keep()
            time.sleep(EVERY)

    def describe(self) -> dict[str, Any]:
        found: dict[str, Any] = self.groups.describe_auto_scaling_groups(AutoScalingGroupNames=[NAME])["AutoScalingGroups"][0]
        return found

    def changes(self) -> list[str]:
        """The requests that changed the group, without those of the test."""
        names = self.aws.operations(changes_only=True)
        return [name for name in names if name.startswith("autoscaling:")][1:]

    def versions(self) -> list[str]:
        """The launch template versions of the instances."""
        return sorted(one["LaunchTemplate"]["Version"] for one in self.describe()["Instances"])

    def ready(self) -> list[str]:
        return [name for name, node in self.api.nodes().items() if is_available(node)]

    def leftovers(self) -> list[str]:
        """What an upgrade must not leave behind."""
        found = [f"tag {tag['Key']}" for tag in self.describe()["Tags"] if "nodebootstrap" in tag["Key"]]
        found += [f"suspended {process['ProcessName']}" for process in self.describe()["SuspendedProcesses"]]
        found += [path for path in self.api.objects if "/leases/" in path]
        for name, node in self.api.nodes().items():
            found += [f"{name} {key}" for key in [*node["metadata"].get("annotations", {}), *node["metadata"].get("labels", {})]]
            found += [f"{name} cordoned"] if node["spec"].get("unschedulable") else []
        return found

    def move_nodes(self, zone: str) -> None:
        """Let all nodes say that they are in this zone."""
        self.zone = zone
        for node in self.api.nodes().values():
            node["spec"]["providerID"] = f"aws:///{zone}/{node['spec']['providerID'].rpartition('/')[2]}"

    def use_image(self, name: str) -> None:
        """Make another version of the launch template with an image of this name."""
        [instance, *_others] = self.describe()["Instances"]
        image = self.ec2.create_image(InstanceId=instance["InstanceId"], Name=name)["ImageId"]
        self.ec2.create_launch_template_version(LaunchTemplateId=self.template, SourceVersion="1", LaunchTemplateData={"ImageId": image})

    def add_subnet(self) -> str:
        """Let the group launch instances in another subnet, too."""
        found: str = self.ec2.create_subnet(VpcId=self.vpc, CidrBlock="10.9.1.0/28")["Subnet"]["SubnetId"]
        self.groups.update_auto_scaling_group(AutoScalingGroupName=NAME, VPCZoneIdentifier=f"{self.subnet},{found}")
        return found

    def use_all_addresses(self, name: str) -> None:
        """Leave no free address in a subnet."""
        [subnet] = self.ec2.describe_subnets(SubnetIds=[name])["Subnets"]
        for _number in range(subnet["AvailableIpAddressCount"]):
            self.ec2.create_network_interface(SubnetId=name)

    def close(self) -> None:
        self._ended.set()
        self._thread.join()

    # --- the controllers -------------------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        while not self._ended.is_set():
            with contextlib.suppress(KeyError):
                self._keep()
            time.sleep(EVERY)

    def _keep(self) -> None:
        instances = {one["InstanceId"]: one["LaunchTemplate"]["Version"] for one in self.describe()["Instances"]}
        with self.api.lock:
            nodes = {node["spec"]["providerID"].rpartition("/")[2]: name for name, node in self.api.nodes().items()}
            for instance, name in nodes.items():
                if instance not in instances:
                    self._remove(name)
            for instance, version in instances.items():
                began = self._seen.setdefault(instance, time.monotonic())
                if instance not in nodes and version not in self.never_ready and time.monotonic() - began >= self.ready_after:
                    self.api.node(f"node-{instance[-6:]}", instance, "v1.35.1" if version == "1" else "v1.36.0", zone=self.zone)
            self._replace_pods()
            if self._seen and len(self._seen) > self.size:
                self.fewest_available = min(self.fewest_available, len(self.ready()))

    def _remove(self, name: str) -> None:
        del self.api.objects[f"/api/v1/nodes/{name}"]
        for path in [path for path, pod in self.api.objects.items() if "/pods/" in path and pod["spec"]["nodeName"] == name]:
            del self.api.objects[path]

    def _replace_pods(self) -> None:
        pods = [found for path, found in self.api.objects.items() if "/pods/" in path]
        ready = self.ready()
        for _number in range(self._pods - len(pods) if ready and hasattr(self, "_thread") else 0):
            load = {name: sum(pod["spec"]["nodeName"] == name for pod in pods) for name in ready}
            self.api.pod(f"web-{time.monotonic_ns()}", min(load, key=lambda name: load[name]))


def is_available(node: dict[str, Any]) -> bool:
    return not node["spec"].get("unschedulable") and node["status"]["conditions"][0]["status"] == "True"


_repair = functools.cache(moto_repairs.repair)


@contextmanager
def group(size: int = 3, max_size: int = 3, version: str = "1", *, has_new_version: bool = True) -> Iterator[Group]:
    _repair()
    with AwsStandIn(also={"autoscaling": _answers}) as aws, kubernetes_api.serving() as api:
        aws.reset()
        made = Group(aws, api, size, max_size, version, has_new_version=has_new_version)
        try:
            yield made
        finally:
            made.close()


CAPACITY = "We currently do not have sufficient m5.large capacity in the Availability Zone you requested"
CAUSE = "At 2026-01-01T00:00:00Z an instance was started, increasing the capacity from 3 to 4."
_ACTIVITIES = "".join(
    f"<member><ActivityId>{number}</ActivityId><AutoScalingGroupName>{NAME}</AutoScalingGroupName><Cause>{CAUSE}</Cause>"
    f"<StartTime>2026-01-01T00:00:0{number}Z</StartTime><StatusCode>{code}</StatusCode>{message}</member>"
    for number, (code, message) in enumerate((("Successful", ""), ("Failed", f"<StatusMessage>{CAPACITY}</StatusMessage>"), ("Failed", "")))
)
_RESULTS = {
    "DescribeInstanceRefreshes": "<InstanceRefreshes/>",
    "DescribeScalingActivities": f"<Activities>{_ACTIVITIES}</Activities>",
}


def _answers(operation: str, _form: dict[str, str]) -> tuple[int, str, bytes] | None:
    """moto has no instance refreshes, and no activities."""
    if operation not in _RESULTS:
        return None
    result = f"<{operation}Result>{_RESULTS[operation]}</{operation}Result>"
    return 200, "text/xml", f"<{operation}Response>{result}</{operation}Response>".encode()


def variables(made: Group, folder: Path, **more: Any) -> dict[str, Any]:
    """The variables of a playbook for the group."""
    return {
        "eks_node_cluster": {"name": "demo"},
        "eks_node_upgrade_region": made.aws.region,
        "eks_node_upgrade_auto_scaling_group": NAME,
        "eks_node_upgrade_kubeconfig": str(made.api.kubeconfig(folder / "kubeconfig")),
        "eks_node_upgrade_endpoint_url": made.aws.url,
        "eks_node_upgrade_load_balancer_wait": 0,
        "eks_node_upgrade_poll_interval": 0.1,
        "eks_node_upgrade_node_timeout": 20,
        "eks_node_upgrade_drain_timeout": 20,
        **more,
    }

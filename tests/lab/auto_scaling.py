# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An Auto Scaling group whose instances are nodes of the lab.

    with Group(lab, "workers", size=3, minor="1.35") as group:
        group.wait_ready(3)
        version = group.add_version("1.36")         # a launch template version; nothing is launched from it yet
        …                                           # nodes come and go as the group changes

The group and its launch template are moto's, and moto launches and terminates the instances. A keeper looks at the group twice a second:
an instance without a container boots as a node, with the user data and the AMI of its launch template version; the
container of an instance that is gone is killed, and its Node deleted as by the cloud provider's node lifecycle controller.
"""

from __future__ import annotations

import base64
import threading
import time
from types import TracebackType
from typing import Any

import boto3

from .lab import Lab
from .node import LabNode, is_ready
from .progress import LabError, say, wait_for
from .workloads import user_data, worker

#: Seconds between two looks at the group.
EVERY = 0.5

#: The AMI of each kubelet.
IMAGES = {"1.30": "ami-00000000000000130", "1.35": "ami-00000000000000135", "1.36": "ami-00000000000000136"}


class Group:
    """Make one with `with`. `nodes` are its running nodes by instance ID."""

    def __init__(self, lab: Lab, name: str, *, size: int, minor: str, largest: int = 0) -> None:
        self.lab, self.name = lab, name
        session = boto3.Session("AKIAIOSFODNN7EXAMPLE", "example", region_name=lab.state.region)
        self.ec2 = session.client("ec2", endpoint_url=lab.state.aws)
        self.auto_scaling = session.client("autoscaling", endpoint_url=lab.state.aws)
        self.nodes: dict[str, LabNode] = {}
        #: Every instance that ever was a node, with the launch template version of its user data.
        self.launched: list[str] = []
        self._problem: BaseException | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._keep, daemon=True)
        template = self.ec2.create_launch_template(LaunchTemplateName=name, LaunchTemplateData=self._data(minor))
        self.template = str(template["LaunchTemplate"]["LaunchTemplateId"])
        self.auto_scaling.create_auto_scaling_group(
            AutoScalingGroupName=name,
            MinSize=size,
            MaxSize=largest or size,
            DesiredCapacity=size,
            VPCZoneIdentifier=lab.state.subnet,
            LaunchTemplate={"LaunchTemplateId": self.template, "Version": "1"},
        )

    def add_version(self, minor: str, **fields: Any) -> str:
        """Create a launch template version. fields: of the node group"""
        made = self.ec2.create_launch_template_version(LaunchTemplateId=self.template, LaunchTemplateData=self._data(minor, **fields))
        return str(made["LaunchTemplateVersion"]["VersionNumber"])

    def _data(self, minor: str, **fields: Any) -> dict[str, Any]:
        text = user_data(self.lab, minor, **fields)
        return {"ImageId": IMAGES[minor], "InstanceType": "m5.large", "UserData": base64.b64encode(text.encode()).decode()}

    def describe(self) -> dict[str, Any]:
        """The group as DescribeAutoScalingGroups has it."""
        found: dict[str, Any] = self.auto_scaling.describe_auto_scaling_groups(AutoScalingGroupNames=[self.name])["AutoScalingGroups"][0]
        return found

    def ready(self) -> list[LabNode]:
        """The nodes that are Ready now."""
        with_objects = [(node, node.object()) for node in list(self.nodes.values())]
        return [node for node, found in with_objects if found is not None and is_ready(found)]

    def wait_ready(self, count: int, seconds: float = 400) -> list[LabNode]:
        def reached() -> bool:
            self.check()
            return len(self.ready()) == count

        wait_for(f"{count} Ready nodes of {self.name}", reached, seconds, 0.5)
        return self.ready()

    def check(self) -> None:
        """Raise the error that ended the keeper, if any."""
        if self._problem is not None:
            raise LabError(f"the keeper of {self.name} ended: {self._problem!r}") from self._problem

    # --- the keeper ---------------------------------------------------------------------------------------------------------

    def _keep(self) -> None:
        try:
            while not self._ended.is_set():
                self._mirror()
                time.sleep(EVERY)
        except BaseException as error:
            self._problem = error

    def _mirror(self) -> None:
        wanted = {one["InstanceId"] for one in self.describe()["Instances"]}
        for instance in self.nodes.keys() - wanted:
            say(f"{self.name}: {instance} ends")
            self.nodes.pop(instance).stop()
        for instance in sorted(wanted - self.nodes.keys()):
            self.nodes[instance] = self._boot(instance)

    def _boot(self, instance: str) -> LabNode:
        found = self.ec2.describe_instances(InstanceIds=[instance])["Reservations"][0]["Instances"][0]
        answer = self.ec2.describe_instance_attribute(InstanceId=instance, Attribute="userData")
        [minor] = [minor for minor, image in IMAGES.items() if image == found["ImageId"]]
        say(f"{self.name}: {instance} boots as {found['PrivateDnsName']} with kubelet {minor}")
        self.launched.append(instance)
        return worker(self.lab, minor, instance=instance, text=base64.b64decode(answer["UserData"]["Value"]).decode())

    # --- life ---------------------------------------------------------------------------------------------------------------

    def __enter__(self) -> Group:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._ended.set()
        self._thread.join()
        self.auto_scaling.delete_auto_scaling_group(AutoScalingGroupName=self.name, ForceDelete=True)
        for node in self.nodes.values():
            node.stop()
        self.check()

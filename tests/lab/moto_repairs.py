# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What moto does differently from Auto Scaling and EC2, corrected in the process that serves it.

- A group whose launch template has a second version could not launch: the user data of such a version had the wrong type.
- An instance of a group reported the template's default version, not the version that it was launched from.
- Its private DNS name was that of another region.
- A new version of a launch template forgot what it had not changed in its source version.
"""

from __future__ import annotations

from typing import Any


def repair() -> None:
    from moto.autoscaling.models import InstanceState
    from moto.core.types import Base64EncodedString
    from moto.ec2.models.instances import Instance
    from moto.ec2.models.launch_templates import LaunchTemplateVersion
    from moto.ec2.responses.launch_templates import LaunchTemplates

    launched = Instance.__init__
    began, reported = InstanceState.__init__, InstanceState.launch_template.fget
    create = LaunchTemplates.create_launch_template_version

    def user_data(version: LaunchTemplateVersion) -> Base64EncodedString | None:
        text = version.data.get("UserData")
        return Base64EncodedString(str(text)) if text else None

    def launch(instance: Instance, backend: Any, *words: Any, **options: Any) -> None:
        launched(instance, backend, *words, **{"region_name": backend.region_name, **options})

    def begin(state: InstanceState, *words: Any, **options: Any) -> None:
        began(state, *words, **options)
        state.lab_version = state.auto_scaling_group.launch_template_version if state.auto_scaling_group.ec2_launch_template else ""
        if state.lab_version.startswith("$"):
            state.lab_version = str(state.auto_scaling_group.ec2_launch_template.get_version(state.lab_version).number)

    def launch_template(state: InstanceState) -> dict[str, Any] | None:
        found = reported(state)
        return {**found, "Version": state.lab_version} if found else None

    def create_version(response: LaunchTemplates) -> Any:
        name, identity, source = (response._get_param(word) for word in ("LaunchTemplateName", "LaunchTemplateId", "SourceVersion"))
        made = create(response)
        find = response.ec2_backend.get_launch_template if identity else response.ec2_backend.get_launch_template_by_name
        template = find(identity or name)
        if source:
            fresh = template.versions[-1]
            fresh.data = {**template.get_version(source).data, **fresh.data}
            made.result["LaunchTemplateVersion"]["LaunchTemplateData"] = fresh.data
        return made

    Instance.__init__ = launch
    LaunchTemplateVersion.user_data = property(user_data)
    InstanceState.__init__, InstanceState.launch_template = begin, property(launch_template)
    LaunchTemplates.create_launch_template_version = create_version

# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one script that Amazon Linux 2 and Ubuntu run at their first boot: it lays down files, then starts the node."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..errors import Problems, joined
from ..formats import mime, shell
from ..kubelet import healthz
from ..model.spec import NodeSpec
from . import cloud_init, file_places, linux_files, post_commands, trust
from .model import File, UserData

CALLING_SCRIPT = "/etc/nodebootstrap/bootstrap.sh"
"""Among the files of a live node or an image: what is left to run once they lie there."""

_HEAD = "#!/bin/bash\nset -eo pipefail\n"
_PRE_GUARD = f"install -D /dev/null {cloud_init.PRE_FAILED}"
_UNITS = "/etc/systemd/system/"
_CALL = re.compile(r"^[ \t]*(?:(?:sudo|exec|bash|sh)[ \t]+(?:-\S+[ \t]+)*)*/etc/eks/bootstrap\.sh(?![^\s;&|])", re.MULTILINE)


def check(spec: NodeSpec, problems: Problems) -> None:
    """Report what cannot be read in the user's own user data, and scripts there that would start kubelet a second time."""
    post_commands.check(spec.commands_post, healthz(spec.kubelet_config, spec.kubelet_flags), problems)
    file_places.check(spec, problems)
    parts = [part for part in cloud_init.existing_parts(spec, problems) if part.media_type == cloud_init.SHELL]
    scripts = [("node_group.user_data", mime.decoded(part, "node_group.user_data", Problems())) for part in parts]
    scripts += [(joined("node_group.commands.pre", index), command) for index, command in enumerate(spec.commands_pre)]
    for path, text in scripts:
        if _CALL.search(text) and not problems.touches(path):
            problems.add(
                "user_data.bootstraps_twice",
                path,
                "calls /etc/eks/bootstrap.sh, but this node is bootstrapped already",
                fix="remove the call, or move it to override",
            )


_USES_AWS_CLI = "sandbox-image.service"
"""Pulls the pause image with a password that the AWS CLI fetches."""


def common_files(spec: NodeSpec, kubelet_unit: str, proxied_units: Iterable[str]) -> tuple[File, ...]:
    """Certificates, registry mirrors, proxy drop-ins of the units that reach out, and the unit of C(commands.post)."""
    mirrors = file_places.kept(spec, linux_files.registry_mirrors(spec.containerd.registry_mirrors))
    proxies = [linux_files.proxy_drop_in(unit, spec.proxy) for unit in proxied_units] if spec.proxy else []
    return (
        *((*trust.certificate_files(spec), trust.variables_drop_in(spec.family, _USES_AWS_CLI)) if spec.trust else ()),
        *mirrors,
        *proxies,
        *post_commands.files(spec.commands_post, (kubelet_unit,), kubelet_unit, healthz(spec.kubelet_config, spec.kubelet_flags)),
    )


def before_commands(spec: NodeSpec) -> str:
    """Shell lines before C(commands.pre): certificates, then the proxy. Empty without commands."""
    return trust.install(spec) + cloud_init.proxy_exports(spec) if spec.commands_pre else ""


def body(spec: NodeSpec, files: Iterable[File], start: str) -> str:
    """What runs once C(files) lie on the node: C(start), and what has to happen around it.

    start: shell lines that make kubelet run.
    """
    lines = []
    variables = {**(spec.proxy.variables() if spec.proxy else {}), **trust.variables(spec)}
    lines += [f"export {name}={shell.quote(value)}\n" for name, value in variables.items()]
    if spec.trust:
        lines.append(trust.update(spec))
    if any(file.path.startswith(_UNITS) for file in files):
        lines.append("systemctl daemon-reload\n")
    if (spec.proxy or spec.trust) and spec.strategy != "static":
        # Where containerd runs already, it gets variables and certificates only by a new start. kubelet does not run yet.
        lines.append("systemctl try-restart containerd\n")
    lines.append(start)
    if spec.commands_post:
        lines.append(f"systemctl start --no-block {post_commands.UNIT}\n")
    return "".join(lines)


def calling_script(text: str) -> File:
    """C(text), a result of C(body), as a script beside the files."""
    return File(CALLING_SCRIPT, _HEAD + text, mode="0755")


def user_data(spec: NodeSpec, files: Iterable[File], text: str) -> UserData:
    """Existing parts as they stand, C(commands.pre), then one script that writes C(files) and runs C(text)."""
    lines = [_HEAD]
    if spec.commands_pre:
        what = "trust or commands.pre" if spec.trust else "commands.pre"
        lines.append(f"[ ! -e {cloud_init.PRE_FAILED} ] || {{ echo '{what} failed: this node does not join' >&2; exit 1; }}\n")
    # commands.pre may need the certificates already, and runs first.
    written = trust.certificate_files(spec) if spec.commands_pre else ()
    lines += [shell.write_file(file.path, file.content, file.mode) for file in files if file not in written]
    existing = cloud_init.existing_parts(spec, Problems())
    pre = cloud_init.name_parts("commands.pre", cloud_init.pre_parts(spec.commands_pre, _PRE_GUARD, before_commands(spec)))
    own = [*pre, ("bootstrap script", mime.Part(cloud_init.SHELL, "".join(lines) + text))]
    return cloud_init.document([*cloud_init.name_parts("user_data", existing), *cloud_init.run_after(existing, own)], always_mime=False)

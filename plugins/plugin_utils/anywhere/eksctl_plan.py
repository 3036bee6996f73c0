# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine eksctl: what C(eksctl anywhere) is run with."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import Problems, joined
from ..formats import json
from .validate import validate

OPTIONS: dict[str, Any] = {
    "hardware_csv": {"type": "path"},
    "arguments": {"type": "list", "elements": "str", "default": []},
    "rerun": {"type": "bool", "default": False},
    "timeout": {"type": "float", "default": 14400.0},
}
ENVIRONMENT = (
    "EKSA_VSPHERE_USERNAME", "EKSA_VSPHERE_PASSWORD", "EKSA_VSPHERE_CP_USERNAME", "EKSA_VSPHERE_CP_PASSWORD",
    "EKSA_NUTANIX_USERNAME", "EKSA_NUTANIX_PASSWORD",
    "EKSA_AWS_CREDENTIALS_FILE", "EKSA_AWS_CA_BUNDLES_FILE",
    "EKSA_AWS_ACCESS_KEY_ID", "EKSA_AWS_SECRET_ACCESS_KEY", "EKSA_AWS_REGION", "EKSA_AWS_SESSION_TOKEN",
    "REGISTRY_USERNAME", "REGISTRY_PASSWORD", "EKSA_REGISTRY_MIRROR_CA",
    "EKSA_GIT_PRIVATE_KEY", "EKSA_GIT_KNOWN_HOSTS", "EKSA_GIT_SSH_KEY_PASSPHRASE",
    "EKSA_LICENSE", "CHECKPOINT_ENABLED", "API_SERVER_EXTRA_ARGS_ENABLED",
)  # fmt: skip
"""The variables of the controller that the program gets. They can be secret, so they are in no command line and in no result."""

_OWN = ("-f", "--filename", "-v", "--verbosity", "-z", "--hardware-csv")
_OPERATIONS = ("create", "upgrade", "delete", "status")
_VERBOSITY = "4"
"""From here on, the log has the lines C(Task start)."""

CLUSTER_FILE, HARDWARE_FILE = "cluster.yaml", "hardware.csv"


@dataclass(frozen=True)
class EksctlPlan:
    """One run. operation: C(create), C(upgrade), C(delete) or C(status). work_dir: the folder of this cluster.

    files: what the program reads, by name; they can have passwords of a BMC. environment: with the credentials of the provider.
    """

    operation: str
    name: str
    work_dir: str
    arguments: tuple[str, ...]
    files: Mapping[str, str]
    environment: Mapping[str, str]
    digest: str
    rerun: bool
    timeout: float

    @property
    def command(self) -> tuple[str, ...]:
        """The words of the command, for the user and for the machine. It is run in the work folder."""
        hardware = ("--hardware-csv", HARDWARE_FILE) if HARDWARE_FILE in self.files and self.operation != "delete" else ()
        own = ("-f", CLUSTER_FILE, "-v", _VERBOSITY, *hardware)
        return ("eksctl", "anywhere", self.operation, "cluster", *own, *self.arguments)


def plan_of(options: Mapping[str, Any], read: Callable[[str, str], str], environment: Mapping[str, str]) -> EksctlPlan:
    """Everything that the run needs. environment: of the controller. Raises C(SpecError) with all problems of the inputs."""
    text = read(options["cluster_file"], "cluster_file")
    own = {name: field.get("default") for name, field in OPTIONS.items()} | dict(options["eksctl"] or {})
    hardware = None if own["hardware_csv"] is None else read(own["hardware_csv"], "eksctl.hardware_csv")
    allow = environment.get("API_SERVER_EXTRA_ARGS_ENABLED", "").lower() == "true"
    problems = Problems()
    found = validate(text, hardware=hardware, allow_api_server_args=allow)
    problems.extend(found.errors)
    if options["operation"] not in _OPERATIONS:
        fix = "use eks_anywhere_status, which tells what the last command left"
        problems.add("anywhere.engine", "operation", "is not one of the engine eksctl", value=options["operation"], fix=fix)
    if not options["work_dir"].startswith(("/", "~")):
        fix = "write the path on the admin machine from / or ~"
        problems.add("input.invalid_text", "work_dir", "is not an absolute path", value=options["work_dir"], fix=fix)
    for index, word in enumerate(own["arguments"]):
        if word.partition("=")[0] in _OWN:
            fix = "remove it: the engine sets it"
            problems.add("input.conflict", joined("eksctl.arguments", index), "is an argument of the engine", value=word, fix=fix)
    problems.raise_any()
    name = found.cluster.name if found.cluster else ""
    files = {CLUSTER_FILE: text, **({} if hardware is None else {HARDWARE_FILE: hardware})}
    inputs = json.dump([files, list(own["arguments"])])
    return EksctlPlan(
        options["operation"],
        name,
        f"{options['work_dir'].rstrip('/')}/{name}",
        tuple(own["arguments"]),
        files,
        {key: environment[key] for key in ENVIRONMENT if environment.get(key)},
        hashlib.sha256(inputs.encode()).hexdigest()[:16],
        bool(own["rerun"]),
        float(own["timeout"]),
    )

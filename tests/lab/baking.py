# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images that Packer bakes with the real role in a container, and nodes that boot from them.

Real: Packer 1.6.6, Ansible, the playbook and the role, systemd, dnf and the programs that are installed. Stand-ins: Debian with the name
of another system, empty packages, and a container that is committed instead of a machine whose disk is copied.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import ansible_collections

from ansible_collections.nodebootstrap.eks.plugins.module_utils._image.package_files import Result
from ansible_collections.nodebootstrap.eks.plugins.module_utils._image.packages import manager_of
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.image.plan import image_plan
from ansible_collections.nodebootstrap.eks.tests.oracle import image_trees
from ansible_collections.nodebootstrap.eks.tests.oracle.packer import packer

from .binaries import KUBELETS, NODEADM, path_of
from .node import FILES as NODE_FILES
from .progress import TOP, docker, engine, say

from nodelab import images  # isort: skip

FILES = Path(__file__).resolve().parent / "bake"
REPOSITORY = "nodelab-baked"
MACHINE = os.uname().machine
BUILDERS = {
    "al2023": {"id": "amzn", "version_id": "2023", "architecture": MACHINE},
    "ubuntu": {"id": "ubuntu", "version_id": "22.04", "architecture": MACHINE},
}
KUBELET = "1.30"

#: The directory of a builder to which Packer copies programs, if a script installs them.
UPLOADED = "/opt/uploaded"
MIRROR_PORT = 8013

#: The nodeadm of the lab is of February 2024, and has other options than today's.
_OLD_OPTIONS = [
    {"path": f"/etc/systemd/system/nodeadm-{phase}.service.d/2024.conf", "content": f"[Service]\n{lines}"}
    for phase, lines in {
        "config": "ExecStart=\nExecStart=/usr/bin/nodeadm init --skip run\n",
        # It would restart containerd itself, and then pull the pause image from ECR.
        "run": "ExecStartPre=/usr/bin/systemctl restart containerd.service\nExecStart=\n"
        "ExecStart=/usr/bin/nodeadm init --skip config --daemon kubelet\n",
    }.items()
]


class Build(NamedTuple):
    """A build that has ended. C(tag) names the image; there is none if the build failed."""

    tag: str
    seconds: float
    failed: bool
    output: str
    report: dict[str, Any]


def description(family: str = "al2023", **fields: Any) -> dict[str, Any]:
    """An image of a family with the programs of the lab."""
    programs = {
        "kubelet": file(path_of(KUBELETS[KUBELET])),
        "aws_iam_authenticator": file(NODE_FILES / "credentials"),
        "ecr_credential_provider": file(FILES / "ecr-credential-provider"),
    }
    files = []
    if family == "al2023":
        programs["nodeadm"] = file(path_of(NODEADM))
        files = _OLD_OPTIONS
    repositories = [{"name": "local", "url": "file:///opt/bake/repository", "unsigned": True}]
    return {
        "family": family,
        "kubernetes_version": KUBELET,
        "programs": programs,
        "repositories": repositories,
        "files": files,
        **fields,
    }


def file(path: Path) -> dict[str, str]:
    """A file on the controller, as programs of a description have it."""
    return {"path": str(path), "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}


@contextmanager
def baked(folder: Path, image: Mapping[str, Any], core: str, suite: str = "bookworm", **variables: Any) -> Iterator[Build]:
    """Bake an image in a directory for files of the build, and remove it in the end.

    core: the release of ansible-core that runs the playbook. suite: of the builder. variables: of the playbook.
    """
    with _build(folder, "image", _base(image["family"], suite)) as (container, run):
        inventory, report = folder / "inventory.json", folder / "report"
        inventory.write_text(json.dumps(_inventory(container)))
        (folder / "variables.json").write_text(json.dumps({"eks_node_image": image, "eks_node_image_report": str(report), **variables}))
        done = run(_ansible(core), inventory=str(inventory), variables=str(folder / "variables.json"))
        with suppress(FileNotFoundError):
            done = done._replace(report=json.loads((report / "default.json").read_text()))
        yield done


def lock(folder: Path, family: str, core: str, **fields: Any) -> dict[str, Any]:
    """Lock and fetch the inputs of an image, from a mirror in a container that is gone afterwards. fields: of its description.

    Returns the variables of the playbook: the description, the lock, and the directory of the inputs.
    """
    container = f"bake-{uuid.uuid4().hex[:12]}"
    engine.remove_stale()
    try:
        docker(
            "run", "-d", "--name", container, "--label", f"{engine.RUN}={engine.owner()}",
            "--cap-add", "SYS_ADMIN", "--cap-add", "NET_ADMIN", "--cgroupns", "private",
            "--security-opt", "seccomp=unconfined", "--security-opt", "apparmor=unconfined",
            "--tmpfs", "/run", "--tmpfs", "/run/lock", _base(family, "bookworm"),
        )  # fmt: skip
        docker("exec", "-d", container, "python3", "-m", "http.server", "--directory", "/opt/bake/repository", str(MIRROR_PORT))
        # The mirror needs a moment, and the role needs systemd.
        fetched = f"import urllib.request as r; r.urlopen('http://127.0.0.1:{MIRROR_PORT}/')"
        ready = f'until systemctl is-active -q multi-user.target && python3 -c "{fetched}" 2>/dev/null; do sleep 0.2; done'
        docker("exec", container, "timeout", "120", "sh", "-c", ready)
        address = docker("inspect", "-f", "{{.NetworkSettings.Networks.bridge.IPAddress}}", container).stdout.decode().strip()
        repositories = [{"name": "mirror", "url": f"http://{address}:{MIRROR_PORT}", "unsigned": True}]
        image = description(family, repositories=repositories, **fields)
        variables = {
            "eks_node_image": image,
            "eks_node_image_lock": str(folder / "inputs.lock"),
            "eks_node_image_inputs": str(folder / "inputs"),
        }
        play = {"hosts": "all", "gather_facts": False, "vars": variables, "tasks": [
            {"ansible.builtin.import_role": {"name": "nodebootstrap.eks.eks_node_image", "tasks_from": name}} for name in ("lock", "fetch")
        ]}  # fmt: skip
        (folder / "lock.yml").write_text(json.dumps([play]))
        (folder / "lock_inventory.json").write_text(json.dumps(_inventory(container)))
        environment = {**os.environ, **_ansible(core)}
        command = ["ansible-playbook", "-i", "lock_inventory.json", "lock.yml"]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=900)
        assert done.returncode == 0, done.stdout + done.stderr
    finally:
        docker("rm", "-f", "-v", container, check=False)
    return variables


def _inventory(container: str) -> dict[str, Any]:
    host = {"ansible_connection": "community.docker.docker", "ansible_host": container, "ansible_python_interpreter": "/usr/bin/python3"}
    return {"all": {"hosts": {"default": host}}}


@contextmanager
def built_by_shell(folder: Path, image: Mapping[str, Any]) -> Iterator[Build]:
    """Install the same packages, programs, files and units with provisioners of Packer instead of the role.

    The image has no provenance, is neither sealed nor verified, and is removed in the end.
    """
    plan = image_plan(image, BUILDERS[image["family"]])
    files = folder / "files"
    files.mkdir()
    for download in plan["downloads"]:
        # Packer copies links as links.
        shutil.copyfile(download["path"], files / download["file"])
    (folder / "install.sh").write_text(_script(plan))
    with _build(folder, "shell", _base(image["family"], "bookworm")) as (_container, run):
        yield run({}, files=f"{files}/", script=str(folder / "install.sh"))


def _script(plan: Mapping[str, Any]) -> str:
    files = [*plan["repositories"], *plan["files"]]
    lines = [
        "set -eu",
        *(f"mkdir -p {directory['path']}" for directory in plan["directories"]),
        *(f"cat > {file['path']} << 'EOF'\n{file['content']}EOF\nchmod {file['mode']} {file['path']}" for file in files),
        *_package_commands(plan),
        *(f"echo '{one['sha256']}  {UPLOADED}/{one['file']}' | sha256sum --check --quiet" for one in plan["downloads"]),
        *(f"install -m {one['mode']} {UPLOADED}/{one['file']} {one['dest']}" for one in plan["downloads"]),
        f"rm -r {UPLOADED}",
        *(f"{shlex.join(one['command'])} > {one['path']}" for one in plan["version_files"]),
        *(f"ln -sf {link['target']} {link['path']}" for link in plan["links"]),
        "systemctl daemon-reload",
        *(f"systemctl {'enable' if one['enabled'] else 'disable'} {one['name']}" for one in plan["services"]),
    ]
    return "\n".join([*lines, ""])


def _package_commands(plan: Mapping[str, Any]) -> list[str]:
    """The commands with which the role installs and holds packages on a new machine."""
    commands: list[str] = []

    def record(command: Sequence[str]) -> Result:
        commands.append(shlex.join(command))
        return Result(0, "")

    manager = manager_of(plan["family"], record)
    manager.refresh()
    manager.install(plan["packages"])
    manager.hold(plan["held"], [])
    return commands


@contextmanager
def _build(folder: Path, template: str, base: str) -> Iterator[tuple[str, Callable[..., Build]]]:
    """The name of a new container, and a function that runs a build in it: environment and variables of the template → its end."""
    name = uuid.uuid4().hex[:12]
    container, tag = f"bake-{name}", f"{REPOSITORY}:{name}"
    engine.remove_stale()

    def run(environment: Mapping[str, str], **variables: str) -> Build:
        values = {"base": base, "container": container, "run": engine.owner(), "tag": name, **variables}
        began = time.monotonic()
        options = [f"-only={template}.docker.node", *(f"-var={key}={value}" for key, value in values.items())]
        done = packer(folder, "build", *options, str(FILES), timeout=900, **environment)
        return Build(tag, time.monotonic() - began, done.returncode != 0, done.stdout + done.stderr, {})

    try:
        yield container, run
    finally:
        docker("rm", "-f", "-v", container, check=False)
        docker("rmi", "-f", tag, check=False)


def exists(image: str) -> bool:
    """Whether Docker has an image."""
    return docker("image", "inspect", image, check=False).returncode == 0


def tree(image: str) -> dict[str, str]:
    """The files of an image, as image_trees.py describes them."""
    container = docker("create", "--label", f"{engine.RUN}={engine.owner()}", image).stdout.decode().strip()
    try:
        with subprocess.Popen(["docker", "export", container], stdout=subprocess.PIPE) as exported:
            assert exported.stdout is not None
            found = image_trees.read(exported.stdout)
        assert exported.returncode == 0
        return found
    finally:
        docker("rm", "-f", "-v", container, check=False)


def installed_paths(image: Mapping[str, Any]) -> list[str]:
    """The programs, files and links that an image of a description has."""
    plan = image_plan(image, BUILDERS[image["family"]])
    entries = [entry for name in ("repositories", "files", "links", "version_files") for entry in plan[name]]
    return sorted([entry["path"] for entry in entries] + [one["dest"] for one in plan["downloads"]])


def packages(image: str, family: str) -> list[str]:
    """The installed packages of an image, with their versions."""
    command = ["dpkg-query", "-W"] if family == "ubuntu" else ["rpm", "-qa"]
    return sorted(docker("run", "--rm", "--network", "none", "--entrypoint", command[0], image, *command[1:]).stdout.decode().splitlines())


def _ansible(core: str) -> dict[str, str]:
    """The environment in which Packer finds an ansible-core and the collections."""
    programs = TOP / ".cache" / f"venv-core-{core}" / "bin"
    assert (programs / "ansible-playbook").is_file(), f"no ansible-core {core}: make setup"
    # The release has no collections of its own; the connection plugin is in the package of this Python.
    paths = [str(TOP / ".cache"), *(str(Path(path).parent) for path in ansible_collections.__path__)]
    return {
        "PATH": os.pathsep.join([str(programs), os.environ["PATH"]]),
        "ANSIBLE_COLLECTIONS_PATH": os.pathsep.join(dict.fromkeys(paths)),
        "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_PIPELINING": "1",
    }


def _base(family: str, suite: str) -> str:
    """The tag of the image on whose containers images of a family are baked, built now if it does not exist."""
    node = images.image(suite)
    packages = image_plan({"family": family, "kubernetes_version": KUBELET}, BUILDERS[family])["packages"]
    parts = [node, family, *packages, *(hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(FILES.iterdir()))]
    tag = f"nodelab-bake:{family}-{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:12]}"
    with engine.machine_lock(f"bake-{family}"):
        if not exists(tag):
            began = time.monotonic()
            arguments = ["--build-arg", f"BASE={node}", "--build-arg", f"PACKAGES={' '.join(packages)}"]
            recipe = ["-f", str(FILES / f"{family}.Dockerfile"), "--label", f"{engine.IMAGE}=image", "-t", tag, str(FILES)]
            docker("build", "-q", "--pull=false", *arguments, *recipe, timeout=3600)
            say(f"{tag}: done in {time.monotonic() - began:.0f} s")
    return tag

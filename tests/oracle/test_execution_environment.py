# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An execution environment is built from examples/execution-environment, without a registry, and renders what the controller renders.

Real: ansible-builder, ansible-navigator, ansible-runner, pip, the artifact of the collection. Different from a user's build: the base
image consists of Debian packages, because no image is pulled, and C(on_debian) changes the settings that depend on it.
"""

from __future__ import annotations

import json
import os
import shutil
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from nodelab import Al2023Node, engine, images

from ansible_collections.nodebootstrap.eks.tests.consistency import project

pytestmark = pytest.mark.docker

EXAMPLES = project.TOP / "examples"
TOOLS = project.TOP / ".cache" / "venv-ee" / "bin"

#: The base image. Its Python is one that the newest tested ansible-core supports.
SUITE = "trixie"
PACKAGES = ("ca-certificates", "git", "openssh-client", "python3", "python3-pip")

#: Every stage of the build has this label, so that nothing else is removed.
LABEL = "nodebootstrap.eks.execution-environment"

#: Python packages that the collection asks for in meta/ee-requirements.txt: the name to import.
IMPORTED = ("boto3", "tomlkit", "tree_sitter", "tree_sitter_bash")


def on_debian(definition: dict[str, Any], base: str, certificates: str) -> dict[str, Any]:
    """The definition of the example with the settings that a base image of Debian packages needs."""
    dependencies = {name: value for name, value in definition["dependencies"].items() if name != "python_interpreter"}
    steps = [
        # pip reaches PyPI through this machine's certificates, which may belong to a proxy.
        f"COPY _build/{certificates} /etc/ssl/certs/ca-certificates.crt",
        "ENV PIP_CERT=/etc/ssl/certs/ca-certificates.crt",
        # On Debian, pip refuses to install system-wide.
        "ENV PIP_BREAK_SYSTEM_PACKAGES=1",
    ]
    label = f"LABEL {LABEL}={os.getpid()}"
    labels = {f"prepend_{stage}": [label] for stage in ("galaxy", "builder", "final")}
    return {
        **definition,
        "images": {"base_image": {"name": base}},
        "dependencies": dependencies,
        "additional_build_files": [*definition["additional_build_files"], {"src": Path(certificates).name, "dest": "certificates"}],
        "additional_build_steps": {"prepend_base": [label, *steps], **labels},
        # Debian has no ensurepip.
        "options": {"package_manager_path": "/usr/bin/apt-get", "skip_pip_install": True},
    }


def run(*command: str, folder: Path, **variables: str) -> str:
    """What a program prints. A failure shows all of it."""
    done = subprocess.run(command, cwd=folder, env={**os.environ, **variables}, capture_output=True, text=True, check=False, timeout=1800)
    assert done.returncode == 0, f"{' '.join(command)} exited {done.returncode}:\n{done.stdout}\n{done.stderr}"
    return done.stdout


def run_tool(program: str, *arguments: str, folder: Path) -> str:
    """The same for a program of the virtual environment."""
    return run(
        str(TOOLS / program), *arguments, folder=folder, HOME=str(folder), PATH=f"{TOOLS}:{os.environ['PATH']}",
        # The classic builder: BuildKit needs a plugin that Debian's package does not bring.
        DOCKER_BUILDKIT="0",
        # ansible-navigator hands this setting on to the container, and the one of the tests names the checkout.
        ANSIBLE_COLLECTIONS_PATH="/usr/share/ansible/collections",
    )  # fmt: skip


@pytest.fixture(scope="module")
def artifact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The artifact of the collection, as "make dist" builds it."""
    folder = tmp_path_factory.mktemp("artifact")
    run("ansible-galaxy", "collection", "build", "--output-path", str(folder), ".", folder=project.TOP)
    [path] = folder.glob("nodebootstrap-eks-*.tar.gz")
    return path


@pytest.fixture(scope="module")
def image(artifact: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The execution environment of from-artifact.yml."""
    folder = tmp_path_factory.mktemp("build")
    base = images.debian(SUITE, PACKAGES)
    definition = yaml.safe_load((EXAMPLES / "execution-environment" / "from-artifact.yml").read_text(encoding="utf-8"))
    shutil.copy(artifact, folder)
    bundle = os.environ.get("PIP_CERT") or ssl.get_default_verify_paths().cafile or "/etc/ssl/certs/ca-certificates.crt"
    shutil.copy(bundle, folder / "ca.crt")
    changed = on_debian(definition, base, "certificates/ca.crt")
    (folder / "execution-environment.yml").write_text(yaml.safe_dump(changed, sort_keys=False), encoding="utf-8")
    tag = f"nodebootstrap-eks-ee:{os.getpid()}"
    try:
        run_tool("ansible-builder", "build", "--tag", tag, "--container-runtime", "docker", folder=folder)
        yield tag
    finally:
        engine.docker("rmi", "-f", tag, check=False)
        stages = engine.docker("image", "ls", "-q", "--filter", f"label={LABEL}={os.getpid()}").stdout.decode().split()
        for stage in dict.fromkeys(stages):
            engine.docker("rmi", "-f", stage, check=False)


def rendered(folder: Path) -> dict[str, bytes]:
    """The rendered files by name."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.matrix
def test_the_navigator_renders_what_the_controller_renders(image: str, tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for folder in (inside, outside):
        folder.mkdir()
        shutil.copy(EXAMPLES / "five-families.yml", folder)
    play = ("nodebootstrap.eks.render", "-e", "@five-families.yml")
    run("ansible-playbook", *play, folder=outside)
    output = run_tool(
        "ansible-navigator", "run", *play, "--execution-environment-image", image, "--pull-policy", "never", "--mode", "stdout",
        "--container-engine", "docker", "--playbook-artifact-enable", "false", "--log-file", str(tmp_path / "log"), folder=inside,
    )  # fmt: skip
    assert "failed=0" in output
    files = rendered(outside / "out")
    assert len([name for name in files if name.endswith(".userdata")]) == 5
    assert rendered(inside / "out") == files


#: Ansible, the collection and Git, as the image has them.
PROGRAMS = ("/usr/local/bin", "/usr/local/lib", "/usr/share/ansible", "/usr/bin/git", "/usr/lib/git-core")


def install(image: str, node: Al2023Node) -> None:
    """Copy Ansible from the image to a node with the same Debian release."""
    container = engine.docker("create", image).stdout.decode().strip()
    try:
        for path in PROGRAMS:
            archive = engine.docker("cp", f"{container}:{path}", "-").stdout
            engine.docker("cp", "-", f"{node.container}:{Path(path).parent}", input=archive)
    finally:
        engine.docker("rm", "-f", container)


@pytest.mark.matrix
def test_ansible_pull_configures_a_node(image: str) -> None:
    """The unit of the example, with a repository on the node itself and a kubelet without a cluster."""
    unit = project.text("examples/ansible-pull/eks-node-pull.service").replace("https://git.example.com/eks-nodes.git", "file:///srv/nodes")
    repository = {
        "/srv/nodes/local.yml": project.text("examples/ansible-pull/local.yml"),
        # The metadata service of the node is in another region.
        "/srv/nodes/node.yml": project.text("examples/ssm/node.yml").replace("eu-west-1", "eu-central-1") + "eks_node_wait_for: healthy\n",
    }
    healthy = {"/etc/nodelab/kubelet-healthy": "", "/etc/nodelab/kubelet-version": "v1.33.5"}
    with Al2023Node.start(suite=SUITE, files=healthy) as node:
        install(image, node)
        node.write({**repository, "/etc/systemd/system/eks-node-pull.service": unit})
        identity = ("-c", "user.name=test", "-c", "user.email=test@example.com")
        for words in (("init", "-q", "-b", "main"), ("add", "."), (*identity, "commit", "-q", "-m", "nodes")):
            node.exec(["git", "-C", "/srv/nodes", *words], check=True)
        node.exec(["systemctl", "daemon-reload"], check=True)
        for run_number, changed in ((1, "changed=1"), (2, "changed=0")):
            started = node.exec(["systemctl", "start", "eks-node-pull.service"])
            journal = node.journal("eks-node-pull.service")
            assert started.returncode == 0, journal[-4000:]
            [recap] = [line for line in journal.splitlines() if "failed=0" in line and "localhost" in line][run_number - 1 :]
            assert changed in recap
        assert node.records("kubelet"), "kubelet was started"


@pytest.mark.matrix
def test_the_image_has_what_the_collection_asks_for(image: str) -> None:
    script = f"import {', '.join(IMPORTED)}; from ansible.release import __version__; print(__version__)"
    version = engine.docker("run", "--rm", image, "python3", "-c", script).stdout.decode().strip()
    assert version.startswith("2.21.")
    listed = engine.docker("run", "--rm", image, "ansible-galaxy", "collection", "list", "--format", "json").stdout
    assert [name for found in json.loads(listed).values() for name in found] == ["nodebootstrap.eks"]


@pytest.mark.matrix
def test_builder_finds_the_dependencies_of_the_collection(artifact: Path, tmp_path: Path) -> None:
    install = ("ansible-galaxy", "collection", "install", "--offline", str(artifact), "--collections-path", str(tmp_path))
    # Otherwise the collection counts as installed, because the tests run with this checkout.
    run(*install, folder=tmp_path, ANSIBLE_COLLECTIONS_PATH=str(tmp_path))
    output = run_tool("ansible-builder", "introspect", "--sanitize", str(tmp_path), folder=tmp_path)
    found = yaml.safe_load(output)
    wanted = [line for line in project.text("meta/ee-requirements.txt").splitlines() if line and not line.startswith("#")]
    assert sorted(str(line).partition("  #")[0].strip() for line in found["python"]) == sorted(wanted)
    assert not found.get("system")

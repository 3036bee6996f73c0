# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images from Debian packages alone, no registry: mmdebstrap into `docker import`, then a classic `docker build`.

One image per Debian suite serves as plain node and as cloud-init machine (cloud-init is off unless a container asks for it).
A hardened base is one more suite.
Tags are digests of the recipe: a changed recipe is a new image, an unchanged one is never built twice.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from . import engine

HERE = Path(__file__).resolve().parent.parent
_PACKAGES = HERE / "Dockerfile.packages"

#: What a node of ours needs: systemd, the tools that bootstrap scripts call, Python for the stand-ins and for Ansible's apt, cloud-init,
#: a real containerd, ssh; strace counts what a start forks.
CONTENTS = (
    "systemd",
    "systemd-sysv",
    "dbus",
    "python3",
    "iproute2",
    "curl",
    "procps",
    "jq",
    "cloud-init",
    "containerd",
    "openssh-server",
    "strace",
    "sudo",
)

SUITES = ("bookworm", "trixie")

#: Debian bookworm as CIS demands it of Ubuntu servers: OpenSCAP has remediated it. hardening/scan.py lists what is a stand-in.
HARDENED = "bookworm-cis"
_HARDENING = (HERE / "Dockerfile.hardened", HERE / "hardening/scan.py")
_SCAN = "/opt/hardening/scan.py"


def _bootstrap(contents: Sequence[str]) -> tuple[str, ...]:
    return (
        "--quiet",
        "--variant=minbase",
        f"--include={','.join(contents)}",
        '--aptopt=APT::Install-Recommends "0"',
        "--dpkgopt=path-exclude=/usr/share/man/*",
        "--dpkgopt=path-exclude=/usr/share/doc/*",
        "--dpkgopt=path-exclude=/usr/share/locale/*",
    )


def image(suite: str = "bookworm", family: str = "") -> str:
    """The tag of the node image of a Debian suite, built now where it does not exist.

    Where NODELAB_IMAGE_AL2, NODELAB_IMAGE_AL2023 or NODELAB_IMAGE_UBUNTU names an image (amazonlinux:2, …), the nodes of that family
    have its user land in the place of Debian's.
    """
    engine.ensure()
    real = os.environ.get(f"NODELAB_IMAGE_{family.upper()}", "") if family else ""
    base = f"nodelab-base:real-{_digest(real, _PACKAGES.read_text())}" if real else _base_tag(suite)
    node = _node_tag(base)
    if _exists(node):
        return node
    with engine.machine_lock(f"image-{suite}"):
        if not _exists(base) and real:
            _build_real(real, base)
        elif not _exists(base) and suite == HARDENED:
            _build_hardened(base)
        elif not _exists(base):
            _build_base(suite, base)
        if not _exists(node):
            _build_node(base, node)
    return node


def scan_results() -> dict[str, dict[str, str]]:
    """The results of the selected rules by their names: before the remediation, during it, and in a new container of the result."""
    image(HARDENED)
    reports = ("before", "remediate", "after")
    command = ["run", "--rm", "--network", "none", "--entrypoint", "cat", _base_tag(HARDENED)]
    shown = engine.docker(*command, *(f"/opt/hardening/{report}.json" for report in reports)).stdout.decode()
    return {report: json.loads(line) for report, line in zip(reports, shown.splitlines(), strict=True)}


def debian(suite: str, contents: Sequence[str]) -> str:
    """The tag of an image of these Debian packages alone, built now where it does not exist."""
    engine.ensure()
    tag = _base_tag(suite, contents)
    with engine.machine_lock(f"image-{suite}"):
        if not _exists(tag):
            _build_base(suite, tag, contents)
    return tag


def with_dnf() -> str:
    """The tag of the node image with dnf, rpm and createrepo_c of Debian."""
    node, recipe = image(), HERE / "Dockerfile.dnf"
    tag = f"nodelab-dnf:bookworm-{_digest(node, recipe.read_text())}"
    if not _exists(tag):
        with engine.machine_lock("image-dnf"):
            began = time.monotonic()
            arguments = ["--build-arg", f"BASE={node}", "--label", f"{engine.IMAGE}=image", "-t", tag, "-f", str(recipe), str(HERE)]
            engine.docker("build", "-q", "--pull=false", *arguments, timeout=3600)
            engine.say(f"{tag}: done in {time.monotonic() - began:.1f} s")
    return tag


def _base_tag(suite: str, contents: Sequence[str] = CONTENTS) -> str:
    if suite == HARDENED:
        return f"nodelab-base:{HARDENED}-{_digest(_base_tag('bookworm'), *(path.read_text() for path in _HARDENING))}"
    if suite not in SUITES:
        raise engine.HarnessError(f"unknown Debian suite {suite!r}: one of {', '.join(SUITES)}")
    return f"nodelab-base:{suite}-{_digest(suite, *_bootstrap(contents))}"


def _node_tag(base: str) -> str:
    parts = [base]
    for path in [HERE / "Dockerfile", *sorted((HERE / "rootfs").rglob("*"))]:
        if path.is_file() and "__pycache__" not in path.parts:
            # The executable bit is part of the recipe too: COPY keeps it.
            parts += [str(path.relative_to(HERE)), str(os.access(path, os.X_OK)), hashlib.sha256(path.read_bytes()).hexdigest()]
    return f"nodelab:{base.partition(':')[2].partition('-')[0]}-{_digest(*parts)}"


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


def _exists(tag: str) -> bool:
    return engine.docker("image", "inspect", tag, check=False).returncode == 0


def _build_base(suite: str, tag: str, contents: Sequence[str] = CONTENTS) -> None:
    if shutil.which("mmdebstrap") is None:
        if os.getuid() != 0:
            raise engine.HarnessError(f"mmdebstrap is not installed: sudo apt-get install {' '.join(engine.PACKAGES)}")
        engine.install(engine.PACKAGES)
    began = time.monotonic()
    mirror = _mirror()
    engine.say(f"{tag}: Debian {suite} from {mirror} (about a minute, once)")
    command = ["mmdebstrap", *_bootstrap(contents), "--keyring=/usr/share/keyrings/debian-archive-keyring.gpg", suite, "-", mirror]
    # Piped from one into the other: nothing is written to disk.
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as bootstrap:
        assert bootstrap.stdout is not None and bootstrap.stderr is not None
        imported = subprocess.run(
            ["docker", "import", "-c", f"LABEL {engine.IMAGE}=image", "-", f"{tag}-new"],
            stdin=bootstrap.stdout, capture_output=True, check=False,
        )  # fmt: skip
        complaint = bootstrap.stderr.read().decode(errors="replace")
    # Only a complete import gets the name: docker accepts a stream that was cut off.
    if bootstrap.returncode != 0 or imported.returncode != 0:
        engine.docker("rmi", "-f", f"{tag}-new", check=False)
        raise engine.HarnessError(f"{tag} could not be built:\n{complaint}\n{imported.stderr.decode(errors='replace')}".strip())
    engine.docker("tag", f"{tag}-new", tag)
    engine.docker("rmi", f"{tag}-new")
    engine.say(f"{tag}: done in {time.monotonic() - began:.0f} s")


def _build_real(real: str, tag: str) -> None:
    """A real image, with the packages that a node needs."""
    engine.say(f"{tag}: {real} from its registry, and packages")
    recipe = ["build", "-q", "--build-arg", f"BASE={real}", "--label", f"{engine.IMAGE}=image", "-t", tag, "-f", str(_PACKAGES), str(HERE)]
    engine.docker(*recipe, timeout=3600)


def _build_hardened(tag: str) -> None:
    """Scan, remediate, and scan again in a new container. Its kernel settings are those of /etc/sysctl.conf, as after a boot.

    The containers have no privileges, so a remediation cannot change a setting of the machine.
    """
    image("bookworm")
    began = time.monotonic()
    engine.say(f"{tag}: OpenSCAP remediates {_base_tag('bookworm')} (about two minutes, once)")
    remediated = f"{tag}-new"
    recipe = ["--build-arg", f"BASE={_base_tag('bookworm')}", "-t", remediated, "-f", str(_HARDENING[0]), str(HERE)]
    engine.docker("build", "-q", "--pull=false", *recipe, timeout=3600)
    shown = engine.docker("run", "--rm", "--network", "none", remediated, "python3", _SCAN, "settings").stdout.decode()
    settings = [word for line in shown.splitlines() for word in ("--sysctl", line)]
    container = engine.docker("create", "--network", "none", *settings, remediated, "python3", _SCAN, "after").stdout.decode().strip()
    try:
        engine.docker("start", "-a", container)
        engine.docker("commit", "-c", "CMD []", container, tag)
    finally:
        engine.docker("rm", "-f", "-v", container, check=False)
        engine.docker("rmi", "-f", remediated, check=False)
    engine.say(f"{tag}: done in {time.monotonic() - began:.0f} s")


def _build_node(base: str, tag: str) -> None:
    began = time.monotonic()
    engine.docker("build", "-q", "--pull=false", "--build-arg", f"BASE={base}", "-t", tag, str(HERE), timeout=3600)
    engine.say(f"{tag}: done in {time.monotonic() - began:.1f} s")


def _mirror() -> str:
    """The machine's own Debian mirror where it has one (it may be the only one that can be reached)."""
    if os.environ.get("DEBIAN_MIRROR"):
        return os.environ["DEBIAN_MIRROR"]
    listed = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(ORIGIN) $(LABEL) $(REPO_URI)", "Created-By: Packages"], capture_output=True, check=False
    ).stdout.decode(errors="replace")
    for line in listed.splitlines():
        if line.startswith("Debian Debian "):
            return line.split()[2]
    return "http://deb.debian.org/debian"


def remove_all() -> None:
    """Remove all images of the harness, including those of old recipes. Images in use stay."""
    listed = engine.docker("image", "ls", "-q", "--no-trunc", "--filter", f"label={engine.IMAGE}").stdout.decode().split()
    for tag in dict.fromkeys(listed):
        engine.docker("rmi", "-f", tag, check=False)

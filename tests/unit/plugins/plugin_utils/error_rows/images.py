# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Descriptions of images that are refused."""

from __future__ import annotations

from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.image.plan import image_plan
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.error_rows.row import Row
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.image.descriptions import BUILDERS, KEY, full, minimal, source

SECRET = "pa55word"


def _row(what: str, image: Any, builder: Any = None, secret: str = "") -> Row:
    return Row(what, lambda: image_plan(image, BUILDERS["al2023"] if builder is None else builder), (secret,) if secret else ())


def _with(what: str, family: str = "al2023", secret: str = "", **fields: Any) -> Row:
    return _row(what, {**minimal(family), **fields}, BUILDERS[family], secret)


def _program(what: str, program: Any, name: str = "kubelet") -> Row:
    return _with(what, programs={name: program})


ROWS = (
    _row("a list", []),
    _row("nothing", {}),
    _row("misspelt names", {"famliy": "al2023", "kubernetes_verison": "1.32", "program": {}}),
    _row("names of other tools", {**minimal("al2023"), "kubelet": {}, "containerd": {}, "registry_mirrors": {}, "version": "1.32"}),
    _row("an unknown family and a number as version", {"family": "debian", "kubernetes_version": 1.3}),
    _row("problems in several places", {**full("al2023"), "family": "ubuntu", "packages": ["-y", "a b"], "image_import": "later"}),
    _program("a program as text", "https://example.com/kubelet"),
    _program("neither url nor path", {"sha256": "a" * 64}),
    _program("both url and path", {**source("kubelet"), "path": "kubelet"}),
    _program("no checksum", {"url": "https://example.com/kubelet"}),
    _program("a checksum with its algorithm", {"path": "kubelet", "sha256": "sha256:" + "a" * 64}),
    _program("a checksum that is too short", {"path": "kubelet", "sha256": "a" * 40}),
    _program("a checksum under another name", {"path": "kubelet", "checksum": "a" * 64}),
    _program("a URL without a file", {"url": "https://example.com", "sha256": "a" * 64}),
    _program("a URL without a scheme", {"url": "example.com/kubelet", "sha256": "a" * 64}),
    _program("an archive instead of a program", source("kubernetes-node-linux-amd64.tar.gz")),
    _with("a program as a URL with a password", programs={"kubelet": f"https://me:{SECRET}@example.com/kubelet"}, secret=SECRET),
    _with(
        "a URL with a password and without a file",
        programs={"kubelet": {"url": f"https://me:{SECRET}@example.com", "sha256": "a" * 64}},
        secret=SECRET,
    ),
    _with(
        "an archive with a signature in its URL",
        programs={"kubelet": {"url": f"https://example.com/kubelet.tgz?signature={SECRET}", "sha256": "a" * 64}},
        secret=SECRET,
    ),
    _with(
        "an archive with a token in its URL",
        programs={"kubelet": {"url": f"https://{SECRET}@example.com/kubelet.tgz", "sha256": "a" * 64}},
        secret=SECRET,
    ),
    _program("a program instead of an archive", source("containerd"), "containerd"),
    _program("an unknown program", source("kubelet"), "kublet"),
    _with("nodeadm on another family", "ubuntu", programs={"nodeadm": source("nodeadm")}),
    _with("packages with options", packages=["--nogpgcheck", "vim; reboot"]),
    _with("a repository without a key", repositories=[{"name": "tools", "url": "https://example.com"}]),
    _with(
        "a repository with a key that is not used", repositories=[{"name": "tools", "url": "https://e.com", "key": KEY, "unsigned": True}]
    ),
    _with("a repository with a private key", repositories=[{"name": "tools", "url": "https://e.com", "key": SECRET}], secret=SECRET),
    _with(
        "a repository with a password",
        repositories=[{"name": "tools", "url": f"https://me:{SECRET}@example.com", "key": KEY}],
        secret=SECRET,
    ),
    _with(
        "a repository with a password and another scheme",
        repositories=[{"name": "tools", "url": f"ftp://me:{SECRET}@example.com", "key": KEY}],
        secret=SECRET,
    ),
    _with("a section that is not a repository", repositories=[{"name": "main", "url": "https://e.com", "key": KEY}]),
    _with(
        "repositories with several values in one",
        "ubuntu",
        repositories=[{"name": "tools", "url": "https://e.com/a,b", "key": KEY, "suite": "noble main", "components": "main extra"}],
    ),
    _with("two repositories with the same name", repositories=[{"name": "a", "url": f"https://{n}.com", "unsigned": True} for n in "bc"]),
    _with("a suite for dnf", repositories=[{"name": "a", "url": "https://e.com", "unsigned": True, "suite": "noble"}]),
    _with(
        "components without a suite", "ubuntu", repositories=[{"name": "a", "url": "https://e.com", "unsigned": True, "components": "x"}]
    ),
    _with("a relative path", files=[{"path": "etc/motd", "content": ""}, {"path": "/etc/../motd", "content": ""}]),
    _with(
        "files that would not be in the image",
        files=[{"path": "/run/x", "content": SECRET}, {"path": "/tmp/x", "content": ""}],
        secret=SECRET,
    ),
    _with("the same file twice", files=[{"path": "/etc/motd", "content": "a"}, {"path": "/etc/motd", "content": "b"}]),
    _with("a mode as a number", files=[{"path": "/etc/motd", "content": "", "mode": 420}]),
    _with("modules and settings with invalid names", modules=["br netfilter"], sysctls={"max_map_count": 1, "vm.x": [1]}),
    _with("an invalid NodeConfig", nodeadm_defaults=[{"kind": "NodeConfig", "spec": {"kubelt": {}, "cluster": {"name": "x"}}}]),
    _with("NodeConfigs on another family", "al2", nodeadm_defaults=[]),
    _with("an image without a tag", images=[{"name": "example.com/agent", "archive": source("agent.tar")}]),
    _with("the same image twice", images=[{"name": "e.com/a:1", "archive": source("a.tar", digit)} for digit in "12"]),
    _with("a mirror with a password", registry={"mirrors": {"docker.io": "https://me:you@mirror.example.com"}}),
    _with("a proxy without an address", proxy={"build": {"no_proxy": ["a"]}, "image": {"http": "proxy:3128"}}),
    _with("a line of the release that the collection writes", release={"FAMILY": "x", "team": "y"}),
    _row("a builder with another system", minimal("al2023"), BUILDERS["ubuntu"]),
    _row("a builder with another release", minimal("al2"), BUILDERS["al2023"]),
    _row("a builder with another processor", minimal("al2023"), {**BUILDERS["al2023"], "architecture": "riscv64"}),
    _row("a builder without facts", minimal("al2023"), {"id": "amzn"}),
    _row("RHEL without nodeadm and containerd", minimal("al2023"), BUILDERS["rocky"]),
    _row("a version that the family does not have", {**minimal("al2"), "kubernetes_version": "1.33"}, BUILDERS["al2"]),
    _row("a version that the release does not have", {**minimal("ubuntu"), "kubernetes_version": "1.30"}, BUILDERS["ubuntu"]),
)

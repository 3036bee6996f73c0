# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures of the Docker laboratory; what they offer is described in tests/oracle/docker/nodelab/__init__.py."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent / "docker"))

from nodelab import Al2Node, Al2023Node, CloudInitNode, Node, UbuntuNode, engine

AnyNode = TypeVar("AnyNode", bound=Node)


def _serve(kind: type[AnyNode], suite: str = "bookworm") -> Iterator[AnyNode]:
    with kind.start(suite=suite) as node:
        node.baseline()
        yield node


@pytest.fixture(scope="session", autouse=True)
def _progress(request: pytest.FixtureRequest) -> None:
    """Let the progress lines of image builds through pytest's capture."""
    capture = request.config.pluginmanager.getplugin("capturemanager")

    def say(line: str) -> None:
        with capture.global_and_fixture_disabled():
            print(f"\n{line}", file=sys.stderr, flush=True)

    if capture is not None:
        engine.speaker.append(say)


@pytest.fixture(scope="session")
def _al2() -> Iterator[Al2Node]:
    yield from _serve(Al2Node)


@pytest.fixture(scope="session")
def _ubuntu() -> Iterator[UbuntuNode]:
    yield from _serve(UbuntuNode)


@pytest.fixture(scope="session")
def _cloud_init() -> Iterator[CloudInitNode]:
    yield from _serve(CloudInitNode)


@pytest.fixture(scope="session")
def _cloud_init_new() -> Iterator[CloudInitNode]:
    yield from _serve(CloudInitNode, "trixie")


@pytest.fixture(scope="module")
def _al2023() -> Iterator[Al2023Node]:
    yield from _serve(Al2023Node)


@pytest.fixture
def al2_node(_al2: Al2Node) -> Al2Node:
    """An Amazon Linux 2 node before bootstrapping."""
    _al2.reset()
    return _al2


@pytest.fixture
def al2023_node(_al2023: Al2023Node) -> Al2023Node:
    """An Amazon Linux 2023 node before bootstrapping."""
    _al2023.reset()
    return _al2023


@pytest.fixture
def ubuntu_node(_ubuntu: UbuntuNode) -> UbuntuNode:
    """An Ubuntu EKS node before bootstrapping."""
    _ubuntu.reset()
    return _ubuntu


@pytest.fixture
def cloud_init(_cloud_init: CloudInitNode) -> CloudInitNode:
    """A machine with bookworm's cloud-init (22.4), never booted with user data."""
    _cloud_init.reset()
    return _cloud_init


@pytest.fixture
def cloud_init_new(_cloud_init_new: CloudInitNode) -> CloudInitNode:
    """The same with trixie's cloud-init (25.1)."""
    _cloud_init_new.reset()
    return _cloud_init_new

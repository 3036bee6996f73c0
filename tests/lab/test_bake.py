# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Packer bakes an image with the real role, without network. A node that boots from it with user data alone joins."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render
from ansible_collections.nodebootstrap.eks.tests.lab import Lab
from ansible_collections.nodebootstrap.eks.tests.lab.baking import (
    KUBELET,
    Build,
    baked,
    built_by_shell,
    description,
    exists,
    installed_paths,
    lock,
    packages,
    tree,
)
from ansible_collections.nodebootstrap.eks.tests.lab.joining import PATIENCE, group, matches_group
from ansible_collections.nodebootstrap.eks.tests.lab.progress import docker, say
from ansible_collections.nodebootstrap.eks.tests.matrix import repeated
from ansible_collections.nodebootstrap.eks.tests.oracle import image_archives, image_trees
from ansible_collections.nodebootstrap.eks.tools.checking.steps import cores

pytestmark = pytest.mark.docker

OLDEST, *_BETWEEN, NEWEST = cores()

AGENT = "example.com/agent:1"


class Case(NamedTuple):
    """The family of an image, the release of ansible-core that bakes it, and the case of joining.py whose user data its nodes have."""

    family: str
    core: str
    node: str


CASES = (
    Case("al2023", NEWEST, "al2023"),
    Case("al2023", OLDEST, "al2023"),
    Case("ubuntu", NEWEST, "ubuntu-unit"),
)


@pytest.fixture(scope="module", params=repeated(CASES, CASES[0]), ids="-".join)
def image(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Case, Build]]:
    case: Case = request.param
    with baked(tmp_path_factory.mktemp("bake"), description(case.family), case.core) as build:
        say(f"bake: {build.seconds:.0f} s, {case.family} with ansible-core {case.core}")
        assert not build.failed, build.output
        yield case, build


def errors(build: Build) -> list[str]:
    """The rules that image_verify found broken. There may be warnings, too: chrony of Debian has public time servers."""
    return [finding["rule"] for finding in build.report["findings"] if finding["severity"] == "error"]


def test_a_node_of_a_baked_image_joins_with_user_data_alone(lab: Lab, image: tuple[Case, Build]) -> None:
    case, build = image
    assert errors(build) == []
    user_data = render(lab.cluster(KUBELET), group(case.node)).document.text
    with lab.node(case.family, image=build.tag, user_data=user_data) as node:
        node.wait_ready(PATIENCE)
        matches_group(node, case.node)


def test_an_image_with_errors_is_not_saved(tmp_path: Path) -> None:
    image = description("ubuntu")
    del image["programs"]["aws_iam_authenticator"]
    with baked(tmp_path, image, NEWEST) as build:
        assert build.failed
        assert errors(build) == ["image.missing_authenticator"], build.output
        assert "[image.missing_authenticator]" in build.output
        assert not exists(build.tag)
        assert docker("ps", "-aq", "--filter", f"name=bake-{build.tag.partition(':')[2]}").stdout == b""


@pytest.mark.matrix
@pytest.mark.parametrize("family", ["al2023", "ubuntu"])
def test_two_builds_without_network_from_one_lock_are_equal(tmp_path: Path, family: str) -> None:
    """The mirror is gone when Packer builds, so the builds read only the locked inputs."""
    agent = image_archives.write(tmp_path, AGENT)
    archive = {"path": str(tmp_path / agent["file"]), "sha256": agent["sha256"]}
    variables = lock(tmp_path, family, NEWEST, images=[{"name": AGENT, "archive": archive}])
    image = variables.pop("eks_node_image")
    trees = []
    for name in ("first", "second"):
        folder = tmp_path / name
        folder.mkdir()
        # overlayfs does not stack on the file system of the container.
        with baked(folder, image, NEWEST, eks_node_image_snapshotter="native", **variables) as build:
            assert not build.failed, build.output
            assert errors(build) == []
            trees.append(tree(build.tag))
        say(f"bake: {build.seconds:.0f} s, {family} from a lock, {len(trees[-1])} paths")
    assert image_trees.differences(*trees) == []
    expected = [pattern for pattern, reason in image_trees.MAY_DIFFER.items() if family in reason.families]
    assert image_trees.used_patterns(*trees) == expected


@pytest.mark.matrix
def test_how_long_the_same_steps_take_in_a_script(image: tuple[Case, Build], tmp_path: Path) -> None:
    """The figures are printed; no test depends on them. The script records no provenance, and neither seals nor verifies."""
    case, build = image
    fields = description(case.family)
    with built_by_shell(tmp_path, fields) as script:
        assert not script.failed, script.output
        ratio = build.seconds / script.seconds
        say(f"bake: {build.seconds:.0f} s by the role, {script.seconds:.0f} s by a script ({ratio:.1f}x), {case.family}, {case.core}")
        # Both have done the same.
        assert packages(script.tag, case.family) == packages(build.tag, case.family)
        paths = installed_paths(fields)
        by_role, by_script = ({path: found.get(path) for path in paths} for found in map(tree, (build.tag, script.tag)))
        assert by_script == by_role

# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of the image before and after its script ran, and calls of that script."""

from __future__ import annotations

import json

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine import image_script
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.files import Current
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.live_plans import CLUSTER, plan

BLOCK = """clusters:
- cluster:
    server: {server}
users:
- user:
    exec:
      args:
        - "token"
        - "-i"
        - "{name}"
        - --region
        - "{region}"
"""
INLINE = "    server: {server}\n      args: [token, -i, {name}, --region, {region}]\n"
IMAGE = {"server": "MASTER_ENDPOINT", "name": "CLUSTER_NAME", "region": "AWS_REGION"}
USED = {"server": "https://abc.example", "name": "demo", "region": "eu-central-1"}


def brought(path: str, text: str) -> str | None:
    found = image_script.as_in_image(path, Current(text.encode(), 0o644, 0, 0))
    return None if found is None else found.content.decode()


@pytest.mark.parametrize("form", [BLOCK, INLINE], ids=["block", "inline"])
def test_a_kubeconfig_gets_its_placeholders_again(form: str) -> None:
    assert brought(image_script.KUBECONFIG, form.format(**USED)) == form.format(**IMAGE)
    assert brought(image_script.KUBECONFIG, form.format(**IMAGE)) == form.format(**IMAGE)


def test_what_the_script_would_leave_goes() -> None:
    assert brought(image_script.EXTRA_ARGS, "[Service]\nEnvironment='KUBELET_EXTRA_ARGS=--a=b'\n") is None
    config = {"maxPods": 29, "kubeReservedCgroup": "/runtime", "systemReservedCgroup": "/system", "cgroupRoot": "/"}
    text = brought(image_script.CONFIG, json.dumps(config))
    assert text is not None and json.loads(text) == {"cgroupRoot": "/"}
    used = 'sandbox_image = "602401143452.dkr.ecr.eu-central-1.amazonaws.com/eks/pause:3.5"\n'
    assert brought(image_script.CONTAINERD_TEMPLATE, used) == 'sandbox_image = "SANDBOX_IMAGE"\n'


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (image_script.CONFIG, '{"cgroupRoot":   "/"}'),
        (image_script.CONFIG, "no JSON"),
        (image_script.CONTAINERD_TEMPLATE, 'sandbox_image = "registry.example/pause:1"\n'),
        ("/etc/kubernetes/pki/ca.crt", "x"),
    ],
)
def test_a_file_that_the_script_did_not_touch_stays_byte_for_byte(path: str, text: str) -> None:
    assert brought(path, text) == text
    assert image_script.as_in_image(path, None) is None


def script(kind: str, **fields: object) -> str:
    content = next(file["content"] for file in plan(kind, **fields)["files"] if file["path"].endswith("bootstrap.sh"))
    assert isinstance(content, str)
    return content


def test_the_call_is_found_in_what_the_library_writes() -> None:
    words = image_script.script_call(script("al2 script", labels={"a": "b"}))
    assert words is not None and words[1] == "demo" and words[-2:] == ["--kubelet-extra-args", "--node-labels=a=b"]
    assert words[2:4] == ["--apiserver-endpoint", CLUSTER["endpoint"]]


@pytest.mark.parametrize(
    "text", ["", "echo\n", "/etc/eks/bootstrap.sh\n", "/etc/eks/bootstrap.sh 'open\n", "/etc/eks/bootstrap.sh a --x\n"]
)
def test_other_scripts_have_no_call_that_can_be_compared(text: str) -> None:
    assert image_script.script_call(text) is None


@pytest.mark.parametrize(
    ("wanted", "found", "words", "same"),
    [
        ("--a=b", "--a=b", ["--a=b"], True),
        ("--a=b", "--v=1 --a=b", ["--v=1", "--a=b"], False),
        ("--a=b", "--a=b", ["--a=c"], False),
        ("", "", [], True),
        ("", "--a=b", ["--a=b"], False),
        ("--l=${INSTANCE_ID} --x=1", "--l=i-0123456789abcdef0 --x=1", ["--l=i-0123456789abcdef0", "--x=1"], True),
        ("--l=${INSTANCE_ID}", "--l=i-0123456789abcdef0,extra=1", ["--l=i-0123456789abcdef0,extra=1"], False),
    ],
)
def test_extra_arguments_agree_in_text_and_process(wanted: str, found: str, words: list[str], same: bool) -> None:
    drop_in = f"[Service]\nEnvironment='KUBELET_EXTRA_ARGS={found}'\n" if found else ""
    assert image_script._has_extra_args(wanted, drop_in, None, ["kubelet", "--config", "x", *words]) is same
    assert image_script._has_extra_args(wanted, "", {"args": found}, ["kubelet", "--config", "x", *words]) is same

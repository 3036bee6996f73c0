# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Readers accept everything: arbitrary bytes and damaged documents give a result, in bounded time and memory."""

from __future__ import annotations

import base64
import time
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats.compression import gzip_bytes
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.readers.model import UserData
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.readers.places import place_of
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.readers.user_data import read
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.readers.test_foreign import DOCUMENTS

TEXTS = [given.text for given in DOCUMENTS.values()]
PIECES = [
    *["\n", "\r\n", "\0", "\ufeff", "%", "--//", "--//--", "'", '"', "\\", "$(", "`", "{", "[", "}", "]", "<<'E'\n", "é", "\ud800"],
    *["<powershell>", "</powershell>", "Content-Type: multipart/mixed; boundary=//\n", "\n\n", "#!/bin/bash\n", "#cloud-config\n", ": "],
    *["apiVersion: node.eks.aws/v1alpha1\n", "[settings.kubernetes]\n", "/etc/eks/bootstrap.sh ", "runcmd:\n", "null", "1", "- "],
]


def check(found: UserData) -> None:
    """A result is consistent: places are in their texts."""
    for part in found.parts:
        assert 0 <= part.offset <= len(found.document)
        assert place_of(part, "spec.kubelet[0].x").line <= part.text.count("\n") + 1
    for item in found.not_understood:
        text = found.document if item.place.part is None else found.parts[item.place.part].text
        assert item.place.line <= text.count("\n") + 1
        assert item.text


@given(st.binary(max_size=400), st.sampled_from([None, "al2", "ubuntu"]))
def test_arbitrary_bytes(data: bytes, family: str | None) -> None:
    check(read(data, family))


@given(st.text(max_size=400))
def test_arbitrary_text(data: str) -> None:
    check(read(data))


edits = st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 60), st.one_of(st.sampled_from(PIECES), st.text(max_size=5))), max_size=6)


@given(st.sampled_from(TEXTS), edits, st.sampled_from(["plain", "base64", "gzip"]))
def test_damaged_documents(text: str, changes: list[tuple[int, int, str]], encoding: str) -> None:
    for number, removed, added in changes:
        at = number % (len(text) + 1)
        text = text[:at] + added + text[at + removed :]
    if encoding == "plain":
        check(read(text))
        return
    data = text.encode("utf-8", "surrogatepass")
    check(read(base64.b64encode(data) if encoding == "base64" else gzip_bytes(data)))


MEGABYTE = 1 << 20
SIZE = MEGABYTE // 4
LARGE = {
    "gzip bomb": gzip_bytes(b"\0" * (50 * MEGABYTE)),
    "many gzip members": gzip_bytes(b"") * 50_000,
    "gzip in gzip": gzip_bytes(gzip_bytes(b"#!/bin/sh\n")),
    "long boundary": f'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="{"B" * SIZE}"\n\n--B\n',
    "many quotes in a header": "MIME-Version: 1.0\nContent-Type: multipart/mixed" + ';"' * (SIZE // 2) + "\n\nx\n",
    "long folded header": "MIME-Version: 1.0\nX: y\n" + " z\n" * (SIZE // 3),
    "many delimiters": "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=B\n\n" + "--B\n" * (SIZE // 4),
    "many parts": "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=B\n\n" + "--B\n\n\n" * (SIZE // 6),
    "nested documents": "MIME-Version: 1.0\n" + "Content-Type: multipart/mixed; boundary=B\n\n--B\n" * 5_000,
    "nested YAML": "#cloud-config\n" + "[" * SIZE,
    "nested YAML blocks": "#cloud-config\n" + "- " * (SIZE // 2),
    "nested NodeConfig": "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: " + '{"a":' * 200_000,
    "aliases": "#cloud-config\na0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)),
    "nested TOML": "[settings]\na = " + "[" * 200_000,
    "long TOML key": "[settings]\n" + "a." * 100_000 + "b = 1\n",
    "tags": "<powershell>" * 80_000,
    "nested shell": "#!/bin/bash\n/etc/eks/bootstrap.sh x\n" + "(" * 5_000,
    "long shell": "#!/bin/bash\n" + "echo hi; " * 5_000 + "\n/etc/eks/bootstrap.sh shop\n",
    "many calls": "#!/bin/bash\n" + "/etc/eks/bootstrap.sh shop\n" * 5_000,
    "long PowerShell": "<powershell>\n" + "& 'Start-EKSBootstrap.ps1' -EKSClusterName a\n" * 10_000 + "</powershell>",
}
SECONDS = 20
"""Most of them take less than one second; the limit only finds times that grow with the square of the size."""


@pytest.mark.parametrize("name", LARGE)
def test_large_input_is_read_in_bounded_time(name: str) -> None:
    start = time.monotonic()
    check(read(LARGE[name]))
    assert time.monotonic() - start < SECONDS


@pytest.mark.parametrize("name", ["gzip bomb", "many gzip members", "aliases", "nested YAML"])
def test_large_input_is_read_in_bounded_memory(name: str) -> None:
    tracemalloc.start()
    read(LARGE[name])
    _unused, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100 * MEGABYTE

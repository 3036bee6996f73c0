# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""URLs in messages and images: the functions of the library and of the node leave out the same secrets."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import redaction
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import network

PublicUrl = Callable[[str], str | None]
HALVES = pytest.mark.parametrize("public_url", [network.public_url, redaction.public_url], ids=["library", "node"])


@HALVES
@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://example.com/kubelet", "https://example.com/kubelet"),
        ("https://example.com", "https://example.com"),
        ("http://127.0.0.1:8080/a%20b/@c", "http://127.0.0.1:8080/a%20b/@c"),
        ("https://[::1]:8080/kubelet", "https://[::1]:8080/kubelet"),
        ("file:///srv/a.tar", "file:///srv/a.tar"),
        ("https://example.com/kubelet?X-Amz-Signature=secret", "https://example.com/kubelet"),
        ("https://example.com/kubelet#secret", "https://example.com/kubelet"),
        ("https://secret@example.com/kubelet", "https://example.com/kubelet"),
        ("https://me:secret@example.com:8443/kubelet?a=secret", "https://example.com:8443/kubelet"),
        ("https://me:se@cret@[::1]/kubelet", "https://[::1]/kubelet"),
        ("https://:secret@example.com?secret", "https://example.com"),
        ("https://me:sec/ret@example.com/kubelet", None),
        ("https://me:sec?ret@example.com/kubelet", None),
        ("https://me:sec#ret@example.com/kubelet", None),
        ("https://[secret/kubelet", None),
        ("me:secret@example.com", None),
        ("", None),
    ],
)
def test_what_is_left_of_a_url(public_url: PublicUrl, url: str, shown: str | None) -> None:
    assert public_url(url) == shown


@HALVES
@given(
    user=st.text(st.characters(codec="utf-8", exclude_characters="/?#"), max_size=20),
    query=st.text(max_size=20),
    path=st.text(st.characters(codec="utf-8", exclude_characters="?#"), max_size=20),
)
def test_user_and_query_are_left_out(public_url: PublicUrl, user: str, query: str, path: str) -> None:
    assert public_url(f"https://{user}@example.com:443/{path}?{query}") == f"https://example.com:443/{path}"


@given(st.text(st.sampled_from("ahtps:/@?#[]1%. \n"), max_size=30))
def test_both_halves_show_the_same(text: str) -> None:
    assert network.public_url(text) == redaction.public_url(text)
    shown = network.public_url(text) or ""
    assert network.public_url(shown) == (shown or None)

# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import ipaddress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.network import (
    cidr_problem,
    cluster_dns_ips,
    endpoint_host,
    ip_family,
    ip_problem,
    no_proxy_entries,
)
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages


@pytest.mark.parametrize(
    "text",
    [
        "10.100.0.0/16",
        "172.20.0.0/16",
        "192.168.0.0/16",
        "10.100.0.64/26",
        "fd40:6404:f93b::/108",
        "fdd3:7636:68bc::/108",
        "0.0.0.0/0",
        "::/0",
    ],
)
def test_a_cidr(text: str) -> None:
    assert cidr_problem(text) is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (None, "a CIDR is text"),
        (10, "a CIDR is text"),
        ("", "has no prefix length"),
        ("10.100.0.0", "has no prefix length"),
        ("10.100.0.0/", "the prefix length is not a number"),
        ("10.100.0.0/16 ", "the prefix length is not a number"),
        ("10.100.0.0/016", "the prefix length is not a number"),
        ("10.100.0.0/-1", "the prefix length is not a number"),
        ("10.100.0.0/255.255.0.0", "the prefix length is not a number"),
        ("10.100.0.0/16/8", "the prefix length is not a number"),
        ("10.100.0.0/33", "the prefix length of an IPv4 CIDR is at most 32"),
        ("fd00::/129", "the prefix length of an IPv6 CIDR is at most 128"),
        ("10.100.0.1/16", "has host bits set; the network is 10.100.0.0/16"),
        ("fd40:6404:f93b::a/108", "has host bits set; the network is fd40:6404:f93b::/108"),
        ("fe80::%eth0/64", "a CIDR has no zone"),
        ("x/16", "the part before the slash is not an IP address"),
        ("010.100.0.0/16", "the part before the slash is not an IP address"),
        ("10.100/16", "the part before the slash is not an IP address"),
        ("١٠.0.0.0/8", "the part before the slash is not an IP address"),
    ],
)
def test_no_cidr(text: Any, problem: str) -> None:
    assert cidr_problem(text) == problem


@pytest.mark.parametrize(
    ("cidr", "addresses"),
    [
        ("10.100.0.0/16", ["10.100.0.10"]),
        ("172.20.0.0/16", ["172.20.0.10"]),
        ("192.168.0.0/16", ["192.168.0.10"]),
        ("10.100.0.64/26", ["10.100.0.74"]),
        ("10.100.0.240/28", ["10.100.0.250"]),
        ("fd40:6404:f93b::/108", ["fd40:6404:f93b::a"]),
        ("fdd3:7636:68bc::/108", ["fdd3:7636:68bc::a"]),
        ("fd00::fff0/124", ["fd00::fffa"]),
    ],
)
def test_cluster_dns(cidr: str, addresses: list[str]) -> None:
    assert cluster_dns_ips(cidr) == addresses


@pytest.mark.parametrize("cidr", ["10.100.0.0/29", "fd00::/125", "10.100.0.1/16", []])
def test_no_cluster_dns(cidr: Any, golden_message: GoldenMessages) -> None:
    with pytest.raises(SpecError) as caught:
        cluster_dns_ips(cidr)
    golden_message(caught.value)


@pytest.mark.parametrize(("cidr", "family"), [("10.100.0.0/16", "ipv4"), ("fd40:6404:f93b::/108", "ipv6")])
def test_ip_family(cidr: str, family: str) -> None:
    assert ip_family(cidr) == family


@pytest.mark.parametrize(
    ("text", "fine"), [("10.0.0.1", True), ("fd00::a", True), ("fe80::1%eth0", False), ("10.0.0", False), (3, False), ("", False)]
)
def test_ip(text: Any, fine: bool) -> None:
    assert (ip_problem(text) is None) is fine


@pytest.mark.parametrize(
    ("endpoint", "host"),
    [
        ("https://ABC.gr7.us-east-1.eks.amazonaws.com", "abc.gr7.us-east-1.eks.amazonaws.com"),
        ("https://10.0.0.5:6443/x", "10.0.0.5"),
        ("https://[fd00::5]:443", "fd00::5"),
        ("http://x", None),
        ("x", None),
        ("https://", None),
        ("https://[", None),
        ("https://x:port", None),
        (None, None),
    ],
)
def test_endpoint_host(endpoint: Any, host: str | None) -> None:
    assert endpoint_host(endpoint) == host


ALWAYS = ["localhost", "127.0.0.1", "::1", "169.254.169.254", "fd00:ec2::254", ".internal"]


@pytest.mark.parametrize(
    ("endpoint", "cidr", "user", "entries"),
    [
        ("https://x.example.com", "10.100.0.0/16", [], [*ALWAYS, "10.100.0.0/16", "x.example.com"]),
        (None, None, [], ALWAYS),
        ("https://x", "10.0.0.0/8", ["b", ".internal", "a", "b"], ["b", ".internal", "a", *ALWAYS[:-1], "10.0.0.0/8", "x"]),
    ],
)
def test_no_proxy(endpoint: str | None, cidr: str | None, user: list[str], entries: list[str]) -> None:
    assert no_proxy_entries(endpoint, cidr, user) == entries


@given(st.text())
def test_any_text_is_answered(text: str) -> None:
    assert cidr_problem(text) is None or isinstance(cidr_problem(text), str)
    assert ip_problem(text) is None or isinstance(ip_problem(text), str)
    assert endpoint_host(text) is None or isinstance(endpoint_host(text), str)


@given(st.integers(0, 2**32 - 1), st.integers(0, 28))
def test_the_dns_address_is_host_ten_of_every_network(number: int, length: int) -> None:
    network = ipaddress.ip_network((number >> (32 - length) << (32 - length) if length else 0, length))
    (address,) = cluster_dns_ips(str(network))
    assert ipaddress.ip_address(address) in network
    assert int(ipaddress.ip_address(address)) - int(network.network_address) == 10


@given(st.lists(st.text(max_size=5)), st.text())
def test_no_proxy_has_no_duplicates_and_begins_with_the_user(user: list[str], endpoint: str) -> None:
    entries = no_proxy_entries(endpoint, "10.100.0.0/16", user)
    own = list(dict.fromkeys(user))
    assert entries[: len(own)] == own
    assert len(entries) == len(set(entries))
    assert {*ALWAYS, "10.100.0.0/16"} <= set(entries)

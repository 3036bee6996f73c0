# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The client of the instance metadata service against a service on the loopback address, well and ill."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import imds
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.imds import Client, ImdsError, instance_facts
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages, mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.imds_stand_in import (
    FACTS,
    IDENTITY,
    IDENTITY_PATH,
    IPV6_PATH,
    PLAIN,
    TOKEN_PATH,
    StandIn,
    serving,
)

HTML = "<!DOCTYPE html>\n<html><body>Please log in</body></html>"
MAC_PATH = "/latest/meta-data/mac"
LIFE_CYCLE_PATH = "/latest/meta-data/instance-life-cycle"


@pytest.fixture
def service() -> Iterator[StandIn]:
    with serving() as stand_in:
        yield stand_in


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imds, "FIRST_PAUSE", 0.01)


def facts(service: StandIn, timeout: float = 2.0, retries: int = 2) -> dict[str, Any]:
    return dict(instance_facts(Client(service.endpoint, timeout, retries)))


def failure(service: StandIn, timeout: float = 2.0, retries: int = 2) -> str:
    with pytest.raises(ImdsError) as caught:
        facts(service, timeout, retries)
    text = str(caught.value)
    assert "\n" not in text and "AQAEA" not in text  # one line, and never a token
    return text


def test_everything_with_one_token_and_five_questions(service: StandIn) -> None:
    assert facts(service) == FACTS
    assert service.requests[0] == ("PUT", TOKEN_PATH, 200)
    assert sorted(service.requests[1:]) == sorted(("GET", path, 200) for path in (*PLAIN, IDENTITY_PATH))


def test_neither_credentials_nor_user_data_are_asked_for(service: StandIn) -> None:
    service.answers[IDENTITY_PATH] = json.dumps({**IDENTITY, "secretAccessKey": "hidden"})
    assert "hidden" not in str(facts(service))
    assert not [path for _method, path, _status in service.requests if "iam" in path or "credentials" in path or "user-data" in path]


def test_the_token_outlives_the_call(service: StandIn) -> None:
    client = Client(service.endpoint, 60.0, 10)
    client.get("meta-data/mac")
    assert service.lifetimes[0] > client.seconds


def test_the_environment_changes_nothing(service: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "AWS_EC2_METADATA_SERVICE_ENDPOINT"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    assert facts(service) == FACTS


def test_no_ipv6_is_an_empty_list(service: StandIn) -> None:
    del service.answers[IPV6_PATH]
    assert facts(service)["ipv6"] == []


def test_an_ipv6_only_instance_has_no_ipv4_address(service: StandIn) -> None:
    service.answers[IDENTITY_PATH] = json.dumps({**IDENTITY, "privateIp": None})
    assert facts(service)["local_ipv4"] is None


@pytest.mark.parametrize("fault", [503, 500, 429, "close", b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nshort"])
@pytest.mark.parametrize("path", [TOKEN_PATH, MAC_PATH])
def test_a_passing_fault_is_retried(service: StandIn, path: str, fault: int | bytes | str) -> None:
    service.faults[path] = [fault, fault]
    assert facts(service) == FACTS
    assert service.count(path) == 3
    assert len(service.tokens) == 1


def test_a_silent_token_is_asked_for_again(service: StandIn) -> None:
    service.faults[TOKEN_PATH] = ["silent"]
    assert facts(service) == FACTS
    assert service.count(TOKEN_PATH) == 2


@pytest.mark.parametrize(
    ("path", "fault", "tries", "words"),
    [
        (TOKEN_PATH, 403, 1, ["denied a token (403 Forbidden)", "disabled", "--http-endpoint enabled"]),
        (TOKEN_PATH, 401, 1, ["status 401 for PUT", "Version 1 is not supported"]),
        (TOKEN_PATH, 404, 1, ["status 404 for PUT", "Check the option endpoint"]),
        (TOKEN_PATH, 400, 1, ["status 400 for PUT"]),
        (TOKEN_PATH, 302, 1, ["status 302 for PUT"]),
        (TOKEN_PATH, 503, 3, ["status 503 3 times", "busy"]),
        (TOKEN_PATH, "silent", 3, ["did not arrive within 1 s", "hop limit of 1", "--http-put-response-hop-limit 2"]),
        (TOKEN_PATH, "close", 3, ["closed the connection"]),
        (TOKEN_PATH, b"SSH-2.0-OpenSSH_9.2\r\n", 1, ["does not use HTTP"]),
        (TOKEN_PATH, b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n" + b"x" * 70_000, 1, ["more than 65536 bytes"]),
        (MAC_PATH, 401, 1, ["refused its own token for GET /latest/meta-data/mac (401"]),
        (MAC_PATH, 403, 1, ["denied GET /latest/meta-data/mac (403"]),
        (MAC_PATH, 404, 1, ["does not have /latest/meta-data/mac (404"]),
        (MAC_PATH, 302, 1, ["GET /latest/meta-data/mac with status 302"]),
        (MAC_PATH, 503, 3, ["GET /latest/meta-data/mac with status 503 3 times"]),
        (MAC_PATH, "silent", 3, ["did not answer GET /latest/meta-data/mac within 1 s"]),
        (IPV6_PATH, 401, 1, ["refused its own token"]),
    ],
)
def test_a_lasting_fault_says_what_to_do(service: StandIn, path: str, fault: int | bytes | str, tries: int, words: list[str]) -> None:
    service.faults[path] = [fault] * 9
    text = failure(service, timeout=1.0 if fault == "silent" else 60.0)  # busy machines are slow
    assert [word for word in words if word not in text] == []
    assert service.count(path) == tries
    assert service.count(TOKEN_PATH) == (tries if path == TOKEN_PATH else 1)


def test_an_ended_token_is_not_renewed(service: StandIn) -> None:
    service.expiry = 0
    assert "(401 Unauthorized)" in failure(service)
    assert service.count(TOKEN_PATH) == 1


def test_no_instance_is_told_apart() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # no program listens
        silent = StandIn()
        silent.endpoint = f"http://127.0.0.1:{closed.getsockname()[1]}"
        text = failure(silent)
    assert "cannot be reached" in text and "refused" in text and "EC2 instance" in text


def test_a_full_backlog_is_no_hop_limit() -> None:
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        fillers = [socket.socket() for _unused in range(4)]
        for filler in fillers:
            filler.setblocking(False)
            filler.connect_ex(deaf.getsockname())
        silent = StandIn()
        silent.endpoint = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        text = failure(silent, timeout=0.2, retries=1)
        for filler in fillers:
            filler.close()
    assert "cannot be reached (" in text and "timed out)" in text


@pytest.mark.parametrize("path", [TOKEN_PATH, MAC_PATH])
def test_a_dripping_answer_does_not_hold_the_call(service: StandIn, path: str) -> None:
    service.faults[path] = ["drip"] * 9
    began = time.monotonic()
    failure(service, timeout=0.3, retries=1)
    assert time.monotonic() - began < 100


def test_the_deadline_holds_over_all_requests(service: StandIn) -> None:
    service.latency = 0.9
    began = time.monotonic()
    text = failure(service, timeout=2.0, retries=0)
    assert time.monotonic() - began < 100
    assert "took longer than 4 s together" in text and "Raise the option timeout or retries" in text


def test_latency_below_the_limits_is_no_fault(service: StandIn) -> None:
    service.latency = 0.1
    assert facts(service) == FACTS


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        (MAC_PATH, HTML),
        (MAC_PATH, ""),
        (MAC_PATH, "0a:58:0a:00:00:05\nX: y"),
        (LIFE_CYCLE_PATH, HTML),
        (LIFE_CYCLE_PATH, "Spot Instance"),
        ("/latest/meta-data/local-hostname", HTML),
        ("/latest/meta-data/local-hostname", "a..b"),
        (IPV6_PATH, HTML),
        (IPV6_PATH, "10.0.0.5"),
        (IDENTITY_PATH, HTML),
        (IDENTITY_PATH, "[]"),
        (IDENTITY_PATH, "[" * 50_000),
        (IDENTITY_PATH, "{}"),
    ],
)
def test_what_lacks_its_form_is_no_value(service: StandIn, path: str, answer: str, golden_message: GoldenMessages) -> None:
    service.answers[path] = answer
    text = failure(service)
    assert mentions(text, path.rpartition("/")[2]) and len(text) < 400
    golden_message(text, ENDPOINT=service.endpoint)


def test_bytes_that_are_no_text_are_no_value(service: StandIn, golden_message: GoldenMessages) -> None:
    service.answers[MAC_PATH] = (200, b"\xff\xfe")
    golden_message(failure(service), ENDPOINT=service.endpoint)


@pytest.mark.parametrize("token", [HTML, "", "two words", "<x>", "a\r\nInjected: header", "\u00e9"])
def test_what_cannot_be_a_token_is_never_sent(service: StandIn, token: str, golden_message: GoldenMessages) -> None:
    body = token.encode()
    service.faults[TOKEN_PATH] = [b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body]
    golden_message(failure(service), ENDPOINT=service.endpoint)
    assert len(service.requests) == 1


@pytest.mark.parametrize("field", sorted(IDENTITY))
@pytest.mark.parametrize("value", [HTML, 7, ["<"], {"a": 1}, "x y", True])
def test_each_field_of_the_document_has_its_form(service: StandIn, field: str, value: Any) -> None:
    service.answers[IDENTITY_PATH] = json.dumps({**IDENTITY, field: value})
    assert field in failure(service)


@pytest.mark.parametrize(
    ("field", "name", "values"),
    [
        ("instanceType", "instance_type", ["t3.micro", "u-6tb1.112xlarge", "mac2-m2pro.metal", "m7i-flex.large"]),
        ("availabilityZone", "availability_zone", ["us-west-2-lax-1a", "us-east-1-wl1-bos-wlz-1", "us-gov-west-1b", "eusc-de-east-1a"]),
        ("region", "region", ["us-gov-east-1", "us-isob-east-1", "ap-southeast-5", "eusc-de-east-1"]),
        ("imageId", "image_id", ["ami-12345678"]),
        ("instanceId", "instance_id", ["i-12345678"]),
    ],
)
def test_forms_take_what_exists(service: StandIn, field: str, name: str, values: list[str]) -> None:
    for value in values:
        service.answers[IDENTITY_PATH] = json.dumps({**IDENTITY, field: value})
        assert facts(service)[name] == value


@pytest.mark.parametrize(
    ("endpoint", "host", "port"),
    [
        (imds.IPV4, "169.254.169.254", 80),
        (imds.IPV6, "fd00:ec2::254", 80),
        ("http://127.0.0.1:1338/", "127.0.0.1", 1338),
        ("http://[::1]:1338", "::1", 1338),
    ],
)
def test_endpoints(endpoint: str, host: str, port: int) -> None:
    assert imds.parse_endpoint(endpoint) == (host, port)


def reason_of_python(endpoint: str) -> str:
    """Why Python does not accept a URL, in the words of its version. Empty if it does."""
    try:
        return str(urlsplit(endpoint).port) and ""
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize(
    "endpoint",
    [
        "",
        "169.254.169.254",
        "https://169.254.169.254",
        "http://169.254.169.254/latest",
        "http://169.254.169.254?x",
        "http://me:secret@169.254.169.254",
        "http://169.254.169.254:99999",
        "http://169.254.169.254:0",
        "http://169.254.169.254:x",
        "http://localhost",
        "http://[fd00:ec2::254",
        "http://fd00:ec2::254",
        "http://169.254.169.254\r\nX: y",
        "http://",
        "\x00",
    ],
)
def test_other_endpoints_are_refused(endpoint: str, golden_message: GoldenMessages) -> None:
    with pytest.raises(ImdsError) as caught:
        Client(endpoint)
    golden_message(caught.value, REASON=reason_of_python(endpoint))


@given(st.text())
def test_any_endpoint_is_an_address_or_an_error(endpoint: str) -> None:
    for text in (endpoint, f"http://{endpoint}"):
        try:
            host, port = imds.parse_endpoint(text)
        except ImdsError:
            continue
        assert host and 0 < port < 65536


@pytest.mark.parametrize(
    ("timeout", "retries"), [(0.0, 1), (-1.0, 1), (60.1, 1), (float("nan"), 1), (float("inf"), 1), (1.0, -1), (1.0, 10**30)]
)
def test_limits_are_limited(timeout: float, retries: int, golden_message: GoldenMessages) -> None:
    with pytest.raises(ImdsError) as caught:
        Client(timeout=timeout, retries=retries)
    golden_message(caught.value)

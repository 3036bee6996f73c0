# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What node_info withholds of the texts and values that it shows, and what not."""

from __future__ import annotations

import base64
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import redaction as secrets

CANARY = "cAnArY"
CERTIFICATE = base64.b64encode(b"-----BEGIN CERTIFICATE-----\nlong enough to be taken for a secret\n-----END CERTIFICATE-----\n").decode()

TEXTS = [
    f"password: {CANARY}",
    f"  db_password:   '{CANARY}'  # it",
    f'"identitytoken": "{CANARY}", "b": 1',
    f"password = {CANARY}",
    f"token: |\n  {CANARY}\n  {CANARY}\nb: 1",
    f"- secret: {CANARY}\n  b: 1",
    f"secrets:\n- {CANARY}\n- {CANARY}\nb: 1",
    f'auth = """\n{CANARY}\n"""\nb = 1',
    f"password: 'a\n  {CANARY}'",
    f"password: a\n  {CANARY}",
    f'"password": "a\\"{CANARY}"',
    f"proxy: http://user:{CANARY}@host:1",
    f"proxy: http://user:a@{CANARY}@host:1",
    f"x: --foo-token {CANARY} --b",
    f"x: --foo-token={CANARY}",
    f"environment:\n  default:\n    A: {CANARY}\n    B: |\n      {CANARY}",
    f"  environment: {{default: {{A: {CANARY}}}}}",
    f'{{"instance": {{"environment": {{"default": {{"A": "{CANARY}"}}, "x": "{CANARY}"}}}}, "password": ["{CANARY}"]}}',
    f"-----BEGIN RSA PRIVATE KEY-----\n{CANARY}\n-----END RSA PRIVATE KEY-----",
    f"-----BEGIN PRIVATE KEY-----\n{CANARY}",
    "x: " + base64.b64encode(f"user:{CANARY} and other words of a text of some length".encode()).decode(),
    f"x: eyJhbGciOi{CANARY}.{CANARY}.{CANARY}",
    f"x: k8s-aws-v1.{CANARY}",
    f"x: a--foo-token {CANARY}",
    f"x: ---foo--token\t{CANARY}",
    f"x: a-eyJhbGciOi{CANARY}.{CANARY}.{CANARY}",
    f"x: eyJ-eyJhbGciOi{CANARY}.{CANARY}.",
    f"x: AKIAABCDEFGHIJKLMNOP-eyJhbGciOi{CANARY}.{CANARY}.",
    f"x: eyJ-k8s-aws-v1.{CANARY}",
    f"x: k8s-aws-v1.eyJhbGciOi{CANARY}.b.k8s-aws-v1.{CANARY}",
    f"x: eyJhbGciOiJ.b.k8s-aws-v1.eyJhbGciOi{CANARY}.{CANARY}.{CANARY}",
    f"x: -://b://user:{CANARY}@host:1",
    f"x: a,http://user:{CANARY}@host:1,http://user:{CANARY}@host:1",
    f"-----BEGIN PRIVATE KEY PRIVATE KEY A-----\n{CANARY}",
]


@pytest.mark.parametrize("text", TEXTS)
def test_secrets_in_texts_are_withheld(text: str) -> None:
    shown = secrets.redact_document(text)
    encoded = base64.b64encode(CANARY.encode()).decode()[:6]
    assert CANARY not in shown and encoded not in shown and secrets.HIDDEN in shown


LONG = ["-", "--token", "--token ", "x://", "x://@ ", "a ", "eyJ-", "eyJaaaaaaaa-", "k8s-aws-v1", "token", "A" * 76 + "\n"]
HEADS = ["-----BEGIN ", "-----BEGIN PRIVATE KEY-----\n-----END "]


@pytest.mark.parametrize(("head", "unit"), [*(("", unit) for unit in LONG), *((head, "PRIVATE KEY") for head in HEADS)])
def test_the_time_grows_with_the_length_and_not_with_its_square(head: str, unit: str) -> None:
    text = head + unit * (256 * 1024 // len(unit))
    began = time.process_time()
    secrets.redact_document(text)
    assert time.process_time() - began < 2, "a twentieth of that is enough"


KEPT = [
    "authentication: {anonymous: {enabled: false}, webhook: {cacheTTL: 2m0s}}",
    "authorization:\n  mode: Webhook\n  webhook:\n    cacheAuthorizedTTL: 5m0s",
    "flags: [--anonymous-auth=false, --authentication-token-webhook=true, --v=2]",
    "image: 602401143452.dkr.ecr.eu-west-1.amazonaws.com/eks/pause@sha256:" + "0123456789abcdef" * 4,
    "certificateAuthority: " + CERTIFICATE,
    "environment:\n  default:\n    HTTPS_PROXY: http://proxy:3128",
    "Unable to authenticate the request: invalid bearer token, Bearer authentication",
    "url: https://ABCDEF.gr7.eu-west-1.eks.amazonaws.com\nlabels: a=b,c=d",
]


@pytest.mark.parametrize("text", KEPT)
def test_what_is_no_secret_stays(text: str) -> None:
    assert secrets.redact_document(text) == text


def test_secrets_in_command_lines() -> None:
    words = ["kubelet", f"--manifest-url-header=A:{CANARY}", "--foo-token", CANARY, f"--url=http://a:{CANARY}@b", "--anonymous-auth=false"]
    hidden = secrets.HIDDEN
    shown = ["kubelet", f"--manifest-url-header={hidden}", "--foo-token", hidden, f"--url=http://{hidden}@b", "--anonymous-auth=false"]
    assert secrets.redact_command_line(words) == shown


@pytest.mark.parametrize("token", [f"{CANARY}1", CANARY * 4, f"{CANARY}/7+a=="])
def test_tokens_behind_the_word_bearer(token: str) -> None:
    assert secrets.redact_string(f"-H 'X: bearer  {token}' after") == f"-H 'X: bearer  {secrets.HIDDEN}' after"


def test_keys_of_the_kernel() -> None:
    assert secrets.redact_document(f"net.ipv4.tcp_fastopen_key = {CANARY}\na = 1") == f"net.ipv4.tcp_fastopen_key = {secrets.HIDDEN}\na = 1"


def test_secrets_in_kubelets_configuration() -> None:
    config = {
        "authorization": {"mode": "Webhook"},
        "authentication": {"x509": {"clientCAFile": "/a"}},
        "maxPods": 5,
        "staticPodURL": "http://a",
    }
    assert secrets.redact_value(config) == config
    assert secrets.redact_value({"staticPodURLHeader": {"Authorization": [CANARY]}}) == {
        "staticPodURLHeader": {"Authorization": [secrets.HIDDEN]}
    }


@given(st.text(), st.sampled_from(["password", "token", "identity_token", "auth"]))
def test_any_text_below_a_secret_name(value: str, name: str) -> None:
    document = json.dumps({"a": {name: CANARY + value, "list": [value]}}, indent=1)
    assert CANARY not in secrets.redact_document(document)
    assert CANARY not in secrets.redact_document("spec:\n" + document)

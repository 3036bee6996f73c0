# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Certificates in PEM: what is read, what is refused, and what only looks like a certificate."""

from __future__ import annotations

import base64
import ssl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problems
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import pem

ONE = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
TWO = ONE.replace("MIIB", "MIIC")
KEY = "-----BEGIN EC PRIVATE " + "KEY-----\nProc-Type: 4,ENCRYPTED\n\nAAAA\n-----END EC PRIVATE KEY-----\n"


def read(text: str) -> tuple[list[str], list[str]]:
    """The certificates, and the rules of the problems."""
    problems = Problems()
    return pem.certificates(text, "trust", problems), [problem.rule for problem in problems]


READ = [
    (ONE, [ONE]),
    (ONE.rstrip(), [ONE]),
    (ONE + TWO, [ONE, TWO]),
    (TWO + ONE + TWO, [TWO, ONE]),
    (ONE.replace("\n", "\r\n"), [ONE]),
    (f"# the corporate root\nsubject=CN = x\n{ONE}\n\n{TWO}--\n", [ONE, TWO]),
    (ONE.replace("MIIB", " M\nII\tB "), [ONE]),
]


@pytest.mark.parametrize(("text", "expected"), READ)
def test_certificates(text: str, expected: list[str]) -> None:
    assert read(text) == (expected, [])


REFUSED = [
    ("", "invalid_pem"),
    ("hello", "invalid_pem"),
    (base64.b64encode(ONE.encode()).decode(), "invalid_pem"),
    ("/etc/pki/own.pem", "invalid_pem"),
    (ONE.replace("-----END", "----END"), "invalid_pem"),
    (ONE.replace("-----BEGIN", "-----BEGINN"), "invalid_pem"),
    (ONE.replace("END CERT", "END TRUSTED CERT"), "invalid_pem"),
    (ONE.replace("CERTIFICATE", "X509 CRL"), "invalid_pem"),
    (ONE.replace("MIIB", "MII"), "invalid_pem"),
    (ONE.replace("MIIB", "MI\u0130B"), "invalid_pem"),
    (ONE.replace("MIIB", ""), "invalid_pem"),
    (ONE + TWO.replace("MIIC", "*"), "invalid_pem"),
    (ONE + KEY, "private_key"),
    (KEY.replace("EC PRIVATE", "PRIVATE"), "private_key"),
    (KEY.replace("-----END EC PRIVATE KEY-----", ""), "private_key"),
]


@pytest.mark.parametrize(("text", "rule"), REFUSED)
def test_refused(text: str, rule: str) -> None:
    assert read(text) == ([], [f"certificates.{rule}"])


@given(st.binary(min_size=1, max_size=200))
def test_the_result_holds_the_same_bytes_in_the_usual_form(content: bytes) -> None:
    (found,), problems = read(f"-----BEGIN CERTIFICATE-----{base64.b64encode(content).decode()}-----END CERTIFICATE-----")
    assert problems == []
    assert (pem.der(found), ssl.PEM_cert_to_DER_cert(found), read(found)[0]) == (content, content, [found])
    assert max(map(len, found.splitlines())) <= 64


@pytest.mark.parametrize(
    ("content", "is_plausible"),
    [
        (b"\x30\x02\x05\x00", True),
        (b"\x30\x81\x82" + bytes(130), True),
        (b"\x30\x82\x01\x00" + bytes(256), True),
        (b"\x30\x82\x01\x00" + bytes(255), False),
        (b"\x30\x02\x05\x00\x00", False),
        (b"\x31\x02\x05\x00", False),
        (b"\x30\x84", False),
        (b"\x30\x80\x00\x00", False),
    ],
)
def test_a_sequence_of_its_own_length_is_plausible(content: bytes, is_plausible: bool) -> None:
    text = base64.b64encode(content).decode()
    assert pem.is_plausible(f"-----BEGIN CERTIFICATE-----\n{text}\n-----END CERTIFICATE-----\n") == is_plausible

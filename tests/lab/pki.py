# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The certificate authority of the cluster and its certificates, new for every lab."""

from __future__ import annotations

import datetime
import ipaddress
import os
from collections.abc import Sequence
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

# Containers and the host share one clock, but a test may change that of a node.
_BEFORE = datetime.timedelta(hours=1)
_AFTER = datetime.timedelta(days=7)


class Authority:
    """A certificate authority in a folder: `ca.crt`, `ca.key`, and NAME.crt with NAME.key for each certificate."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name("kubernetes")
        certificate = (
            _builder(self._name, self._key.public_key(), self._name)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(_usage(signs_certificates=True), critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.certificate = certificate.public_bytes(serialization.Encoding.PEM)
        (folder / "ca.crt").write_bytes(self.certificate)
        _write_key(folder / "ca.key", self._key)

    def server(self, name: str, hosts: Sequence[str]) -> None:
        """Sign a serving certificate for host names and IP addresses."""
        self._sign(name, _name(name), x509.SubjectAlternativeName([_san(host) for host in hosts]), ExtendedKeyUsageOID.SERVER_AUTH)

    def client(self, name: str, user: str, group: str) -> None:
        """Sign a client certificate: the API server uses CN as the user and O as the group."""
        self._sign(name, _name(user, group), None, ExtendedKeyUsageOID.CLIENT_AUTH)

    def _sign(self, name: str, subject: x509.Name, sans: x509.SubjectAlternativeName | None, purpose: x509.ObjectIdentifier) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = (
            _builder(subject, key.public_key(), self._name)
            .add_extension(_usage(signs_certificates=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
        )
        if sans is not None:
            builder = builder.add_extension(sans, critical=False)
        (self.folder / f"{name}.crt").write_bytes(builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
        _write_key(self.folder / f"{name}.key", key)


def key_pair(folder: Path, name: str) -> None:
    """NAME.key and NAME.pub without a certificate: the API server signs service account tokens with such a pair."""
    key = ec.generate_private_key(ec.SECP256R1())
    _write_key(folder / f"{name}.key", key)
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    (folder / f"{name}.pub").write_bytes(public)


def _builder(subject: x509.Name, key: ec.EllipticCurvePublicKey, issuer: x509.Name) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.timezone.utc)
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key)
    return builder.serial_number(x509.random_serial_number()).not_valid_before(now - _BEFORE).not_valid_after(now + _AFTER)


def _name(common: str, organization: str = "") -> x509.Name:
    attributes = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization)] if organization else []
    return x509.Name([*attributes, x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True, content_commitment=False, key_encipherment=False, data_encipherment=False, key_agreement=False,
        key_cert_sign=signs_certificates, crl_sign=signs_certificates, encipher_only=False, decipher_only=False,
    )  # fmt: skip


def _san(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _write_key(path: Path, key: ec.EllipticCurvePrivateKey) -> None:
    form = serialization.PrivateFormat.PKCS8
    content = key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as handle:
        handle.write(content)

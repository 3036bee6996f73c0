# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Get the credentials of kubelet as client-go does: a program, a token or a client certificate. Standard library, Python 3.7 and newer.

Credentials are secret: they never become part of a message, and neither does the standard output of a program.
"""

from __future__ import annotations

import base64
import calendar
import errno
import json
import os
import re
import time
from typing import Any, Mapping, NamedTuple, Sequence

from .._node import programs
from .._node.host import Host
from .._node.kubeconfig import Access
from .._node.redaction import HIDDEN
from .model import to_plain_text

PROGRAM_TIMEOUT = 15.0
"""Seconds that the program may take. kubelet itself has no limit: it waits until the program ends."""

RETRY_AFTER, RENEW_AFTER = 2.0, 10.0
"""Seconds after which a program that failed runs again, and one whose token was rejected."""

API_VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
_MAX_OUTPUT_LENGTH = 1024 * 1024
_NOT_A_PROGRAM = (errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.ENOEXEC)
_TIME = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))\Z"
)


class CredentialsFailed(Exception):
    """`outcome`: no_program, program (it failed) or output (it printed no credentials). `program`: its name."""

    def __init__(self, outcome: str, message: str, program: str) -> None:
        super().__init__(message)
        self.outcome = outcome
        self.message = message
        self.program = program


class Credentials(NamedTuple):
    """Exactly one kind: `token`, `certificate` with `key` (paths), or `pems` (PEM texts). `expires`: seconds since 1970."""

    description: str
    token: str | None = None
    certificate: str | None = None
    key: str | None = None
    pems: tuple[str, ...] | None = None
    expires: float | None = None


class CredentialSource:
    """Gets the credentials of one kubeconfig user and keeps them until they expire. It also keeps a failure for `RETRY_AFTER` seconds."""

    def __init__(self, access: Access, host: Host, environment: Mapping[str, str], timeout: float = PROGRAM_TIMEOUT) -> None:
        self._access = access
        self._host = host
        self._environment = environment
        self._timeout = timeout
        self._credentials: Credentials | None = None
        self._failure: CredentialsFailed | None = None
        self._fetched_at = 0.0

    def get(self) -> Credentials | None:
        """Credentials; None if the kubeconfig has none. Raises CredentialsFailed."""
        age = time.monotonic() - self._fetched_at
        if self._failure is not None and age < RETRY_AFTER:
            raise self._failure
        current = self._credentials
        if current is None or (current.expires is not None and current.expires <= time.time()):
            try:
                self._credentials, self._failure = self._fetch(), None
            except CredentialsFailed as failure:
                self._failure = failure
                raise
            finally:
                self._fetched_at = time.monotonic()
        return self._credentials

    def reject(self) -> None:
        """The API server rejected the credentials. Like kubelet, get new ones the next time, but not more often than `RENEW_AFTER`."""
        if time.monotonic() - self._fetched_at >= RENEW_AFTER:
            self._credentials = None

    def _fetch(self) -> Credentials | None:
        user, access = self._access.user, self._access
        if isinstance(user.get("exec"), dict):
            return self._run_program(user["exec"])
        if user.get("client-certificate"):
            certificate = access.file(str(user["client-certificate"]))
            key = access.file(str(user.get("client-key") or user["client-certificate"]))
            return Credentials(f"the client certificate {certificate}", certificate=certificate, key=key)
        if user.get("client-certificate-data"):
            pems = tuple(decode_base64(user.get(f"client-{name}-data")) for name in ("certificate", "key"))
            return Credentials("the client certificate in the kubeconfig", pems=pems)
        token = self._host.text(access.file(str(user["tokenFile"]))) if user.get("tokenFile") else user.get("token")
        return Credentials("the token in the kubeconfig", token=str(token).strip()) if token else None

    def _run_program(self, config: Mapping[str, Any]) -> Credentials:
        command = str(config.get("command") or "")
        arguments = [str(word) for word in config.get("args") or []]
        version = str(config.get("apiVersion") or "")
        name = command.rpartition("/")[2] or command
        if version not in API_VERSIONS:
            message = f"the kubeconfig requests apiVersion {version[:60]!r}, but kubelet supports only {' and '.join(API_VERSIONS)}"
            raise CredentialsFailed("output", message, name)
        own = {str(item.get("name")): str(item.get("value")) for item in config.get("env") or [] if isinstance(item, dict)}
        exec_info = {"KUBERNETES_EXEC_INFO": self._exec_info(version, config.get("provideClusterInfo") is True)}
        environment = {**self._environment, **own, **exec_info}
        path = self._find_program(command, environment)
        if path is None:
            hint = str(config.get("installHint") or "").strip()
            where = "" if "/" in command else f" in the PATH of kubelet ({environment.get('PATH') or 'empty'})"
            message = f"the program {command} does not exist{where}" + (f" ({_last_lines(hint, ())})" if hint else "")
            raise CredentialsFailed("no_program", message, command)
        secrets = [value for value in own.values() if len(value) > 3 and value not in arguments]
        return _parse_output(_run([path, *arguments], environment, self._timeout, name, secrets), version, name)

    def _exec_info(self, version: str, with_cluster: bool) -> str:
        spec: dict[str, Any] = {"interactive": False}
        if with_cluster:
            names = ("server", "tls-server-name", "insecure-skip-tls-verify", "certificate-authority-data", "proxy-url")
            spec["cluster"] = {name: self._access.cluster[name] for name in names if self._access.cluster.get(name)}
        return json.dumps({"kind": "ExecCredential", "apiVersion": version, "spec": spec})

    def _find_program(self, command: str, environment: Mapping[str, str]) -> str | None:
        """The path of a command: absolute, relative to the kubeconfig, or in the PATH of kubelet."""
        if "/" in command:
            directories, command = [""], self._access.file(command)
        else:
            directories = [f"{directory}/" for directory in (environment.get("PATH") or "").split(":") if directory.startswith("/")]
        paths = [self._host.path(directory + command) for directory in directories if command]
        return next((path for path in paths if os.path.isfile(path) and os.access(path, os.X_OK)), None)


def _parse_output(output: str, version: str, program: str) -> Credentials:
    """The credentials in the ExecCredential that a program printed."""
    try:
        document = json.loads(output)
        status = document.get("status") or {}
        actual_version = document.get("apiVersion")
        token, certificate, key = (status.get(name) for name in ("token", "clientCertificateData", "clientKeyData"))
        expires = parse_time(status.get("expirationTimestamp"))
    except (ValueError, AttributeError, TypeError, RecursionError):
        raise CredentialsFailed("output", f"{program} does not print an ExecCredential in JSON", program) from None
    if actual_version != version:
        message = f"{program} prints an ExecCredential with apiVersion {str(actual_version)[:60]!r}, but the kubeconfig requests {version}"
        raise CredentialsFailed("output", message, program)
    if certificate and key:
        return Credentials(f"the client certificate of {program}", pems=(str(certificate), str(key)), expires=expires)
    if not isinstance(token, str) or not re.match(r"[!-~]{1,65536}\Z", token):
        raise CredentialsFailed("output", f"{program} prints an ExecCredential without a token", program)
    return Credentials(f"the token of {program}", token=token, expires=expires)


def _run(argv: list[str], environment: Mapping[str, str], timeout: float, name: str, secrets: Sequence[str]) -> str:
    """The output of a program. At the timeout it is killed, with all processes that it started."""
    try:
        result = programs.execute(argv, timeout, environment)
    except programs.ProgramTimedOut:
        raise CredentialsFailed("program", f"{name} does not end within {timeout:g} s", name) from None
    except OSError as error:
        # Other errors, such as a lack of memory or a program that is being installed, are temporary.
        outcome = "no_program" if error.errno in _NOT_A_PROGRAM else "program"
        raise CredentialsFailed(outcome, f"{argv[0]} cannot be run: {error.strerror or error}", argv[0]) from None
    if result.status:
        lines = _last_lines(result.errors, secrets)
        status = f"status {result.status}" if result.status > 0 else f"signal {-result.status}"
        raise CredentialsFailed("program", f"{name} fails ({status})" + (f": {lines}" if lines else " and prints no error"), name)
    return result.output[:_MAX_OUTPUT_LENGTH]


def _last_lines(text: str, secrets: Sequence[str]) -> str:
    """The last lines of an error output, printable and without secrets."""
    for secret in secrets:
        text = text.replace(secret, HIDDEN)
    lines = [to_plain_text(line, 400, is_document=True) for line in text[-20000:].splitlines()[-20:]]
    return " / ".join([line for line in lines if line][-3:])[-500:]


def decode_base64(text: object) -> str:
    """The text of a base64 field of a kubeconfig; empty if the field is not valid base64."""
    try:
        return base64.b64decode(str(text)).decode("utf-8", "replace")
    except ValueError:
        return ""


def parse_time(text: object) -> float | None:
    """Seconds since 1970 of an RFC 3339 time; None for anything else."""
    match = _TIME.match(text) if isinstance(text, str) else None
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    seconds = calendar.timegm((year, month, day, hour, minute, second, 0, 0, 0))
    if match.group(7):
        seconds -= (1 if match.group(7) == "+" else -1) * (int(match.group(8)) * 3600 + int(match.group(9)) * 60)
    return float(seconds)

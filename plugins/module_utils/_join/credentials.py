# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubelet's credentials as client-go gets them: a program, a token, or a client certificate. Standard library, Python 3.7 and newer.

What is got here is secret. It is never part of a message, and nothing that a program printed to its output is.
"""

from __future__ import annotations

import base64
import calendar
import contextlib
import errno
import json
import os
import re
import signal
import subprocess
import time
from typing import Any, NamedTuple

from .._node.redaction import HIDDEN
from .model import plain

LIMIT = 15.0
"""Seconds that the program may take. kubelet knows no limit, and waits with everything until it ends."""

AGAIN, RENEW = 2.0, 10.0
"""Seconds after which a program that failed runs again, and one whose token is refused."""

API_VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
_LARGEST_OUTPUT = 1024 * 1024
_NO_PROGRAM = (errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.ENOEXEC)
_TIME = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))\Z"
)


class Failed(Exception):
    """C(kind): no_program, program, output. C(said): words for the user. C(program): what was to be run."""

    def __init__(self, kind, said, program):
        super().__init__(said)
        self.kind = kind
        self.said = said
        self.program = program


class Credentials(NamedTuple):
    """C(token) or C(certificate) and C(key) (paths), or PEM texts in C(pems). C(expires): seconds since 1970, or None. C(how): in words."""

    how: str
    token: Any = None
    certificate: Any = None
    key: Any = None
    pems: Any = None
    expires: Any = None


class Source:
    """Gives the Credentials of one kubeconfig's user, and keeps them until they expire; a failure is kept for a moment, too."""

    def __init__(self, access, machine, environment, limit=LIMIT):
        self._access = access
        self._machine = machine
        self._environment = environment
        self._limit = limit
        self._kept = None
        self._failed = None
        self._since = 0.0

    def get(self):
        """Credentials; None when the kubeconfig names none. Raises Failed."""
        age = time.monotonic() - self._since
        if self._failed is not None and age < AGAIN:
            raise self._failed
        if self._kept is None or (self._kept.expires is not None and self._kept.expires <= time.time()):
            try:
                self._kept, self._failed = self._fresh(), None
            except Failed as failed:
                self._failed = failed
                raise
            finally:
                self._since = time.monotonic()
        return self._kept

    def refused(self):
        """The API server does not accept them: kubelet would get others, and so do we, but not at every look."""
        if time.monotonic() - self._since >= RENEW:
            self._kept = None

    def _fresh(self):
        user, access = self._access.user, self._access
        if isinstance(user.get("exec"), dict):
            return self._from_program(user["exec"])
        if user.get("client-certificate"):
            certificate = access.file(str(user["client-certificate"]))
            key = access.file(str(user.get("client-key") or user["client-certificate"]))
            return Credentials(f"the client certificate {certificate}", certificate=certificate, key=key)
        if user.get("client-certificate-data"):
            pems = tuple(decoded(user.get(f"client-{name}-data")) for name in ("certificate", "key"))
            return Credentials("the client certificate in the kubeconfig", pems=pems)
        token = self._machine.text(access.file(str(user["tokenFile"]))) if user.get("tokenFile") else user.get("token")
        return Credentials("the token of the kubeconfig", token=str(token).strip()) if token else None

    def _from_program(self, given):
        command = str(given.get("command") or "")
        words = [str(word) for word in given.get("args") or []]
        version = str(given.get("apiVersion") or "")
        shown = command.rpartition("/")[2] or command
        if version not in API_VERSIONS:
            raise Failed(
                "output", f"the kubeconfig asks for apiVersion {version[:60]!r}, and kubelet knows {' and '.join(API_VERSIONS)}", shown
            )
        environment = dict(self._environment)
        own = {str(item.get("name")): str(item.get("value")) for item in given.get("env") or [] if isinstance(item, dict)}
        environment.update(own)
        environment["KUBERNETES_EXEC_INFO"] = self._info(version, given.get("provideClusterInfo") is True)
        program = self._program(command, environment)
        if program is None:
            hint = str(given.get("installHint") or "").strip()
            where = "" if "/" in command else f" in the PATH of kubelet ({environment.get('PATH') or 'empty'})"
            raise Failed("no_program", f"there is no program {command}{where}" + (f" ({_clean(hint, ())})" if hint else ""), command)
        secrets = [value for value in own.values() if len(value) > 3 and value not in words]
        return self._credentials(_output([program, *words], environment, self._limit, shown, secrets), version, shown)

    def _info(self, version, with_cluster):
        spec = {"interactive": False}
        if with_cluster:
            names = ("server", "tls-server-name", "insecure-skip-tls-verify", "certificate-authority-data", "proxy-url")
            spec["cluster"] = {name: self._access.cluster[name] for name in names if self._access.cluster.get(name)}
        return json.dumps({"kind": "ExecCredential", "apiVersion": version, "spec": spec})

    def _program(self, command, environment):
        """The path of a command: as it stands, beside the kubeconfig, or in the PATH of kubelet."""
        if "/" in command:
            folders, command = [""], self._access.file(command)
        else:
            folders = [f"{folder}/" for folder in (environment.get("PATH") or "").split(":") if folder.startswith("/")]
        paths = [self._machine.path(folder + command) for folder in folders if command]
        return next((path for path in paths if os.path.isfile(path) and os.access(path, os.X_OK)), None)

    @staticmethod
    def _credentials(output, version, program):
        try:
            document = json.loads(output.decode("utf-8"))
            status = document.get("status") or {}
            said = document.get("apiVersion")
            token, certificate, key = (status.get(name) for name in ("token", "clientCertificateData", "clientKeyData"))
            expires = seconds(status.get("expirationTimestamp"))
        except (ValueError, AttributeError, TypeError, RecursionError):
            raise Failed("output", f"{program} prints no ExecCredential in JSON", program) from None
        if said != version:
            raise Failed(
                "output", f"{program} prints an ExecCredential of apiVersion {str(said)[:60]!r}, and the kubeconfig says {version}", program
            )
        if certificate and key:
            return Credentials(f"the client certificate of {program}", pems=(str(certificate), str(key)), expires=expires)
        if not isinstance(token, str) or not re.match(r"[!-~]{1,65536}\Z", token):
            raise Failed("output", f"{program} prints an ExecCredential without a token", program)
        return Credentials(f"the token of {program}", token=token, expires=expires)


def _output(argv, environment, limit, shown, secrets):
    """What the program prints. It and whatever it starts end when its time is over."""
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    try:
        # There is no module object here, and its run_command has no limit of time.
        # pylint: disable-next=ansible-bad-function
        running = subprocess.Popen(argv, env=environment, cwd="/", start_new_session=True, **pipes)
    except OSError as error:
        # Without memory or processes, or while it is being installed, it cannot be run now.
        kind = "no_program" if error.errno in _NO_PROGRAM else "program"
        raise Failed(kind, f"{argv[0]} cannot be run: {error.strerror or error}", argv[0]) from None
    with running:
        try:
            output, said = running.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            _kill(running)
            raise Failed("program", f"{shown} does not end within {limit:g} s", shown) from None
    if running.returncode:
        words = _clean(said.decode("utf-8", "replace"), secrets)
        status = f"status {running.returncode}" if running.returncode > 0 else f"signal {-running.returncode}"
        raise Failed("program", f"{shown} fails ({status})" + (f": {words}" if words else " and says nothing"), shown)
    return output[:_LARGEST_OUTPUT]


def _kill(running):
    """End a program and those that it started; a pipe that one of them keeps open must not hold us up."""
    with contextlib.suppress(OSError):
        os.killpg(running.pid, signal.SIGKILL)
    for pipe in (running.stdout, running.stderr):
        pipe.close()


def _clean(text, secrets):
    """The last lines of what a program said, printable and without secrets."""
    for secret in secrets:
        text = text.replace(secret, HIDDEN)
    lines = [plain(line, 400, whole=True) for line in text[-20000:].splitlines()[-20:]]
    return " / ".join([line for line in lines if line][-3:])[-500:]


def decoded(text):
    """The text that stands in a kubeconfig as base64; empty when it is none."""
    try:
        return base64.b64decode(str(text)).decode("utf-8", "replace")
    except ValueError:
        return ""


def seconds(text):
    """Seconds since 1970 of an RFC 3339 time; None where there is none."""
    match = _TIME.match(text) if isinstance(text, str) else None
    if match is None:
        return None
    parts = [int(part) for part in match.groups()[:6]]
    seconds = calendar.timegm((*parts, 0, 0, 0))
    if match.group(7):
        seconds -= (1 if match.group(7) == "+" else -1) * (int(match.group(8)) * 3600 + int(match.group(9)) * 60)
    return float(seconds)

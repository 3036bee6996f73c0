# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run Command of AWS Systems Manager: one script on one instance, with a bounded wait, and errors that say what to do.

Runs on the controller. There is no login: the agent on the instance fetches the script and returns its output.
"""

from __future__ import annotations

import time
from typing import Any, Callable

from ansible.module_utils.basic import missing_required_lib

from . import client

DOCUMENT = "AWS-RunShellScript"
LEAST_TIMEOUT = 30
"""Seconds: the shortest TimeoutSeconds that Systems Manager accepts."""

FIRST_PAUSE = 0.3
LONGEST_PAUSE = 2.0
LINE_EVERY = 10.0
GRACE = 10.0
"""Seconds between two requests (first and longest), between two progress messages, and for the timeout of Systems Manager itself."""

_UNDER_WAY = ("Pending", "InProgress", "Delayed", "Cancelling")
_NOT_CONNECTED = (
    "fix: check instance_id and region; the instance must be running, its profile needs AmazonSSMManagedInstanceCore, its control "
    "container must be on (settings.host-containers.control.enabled), and it must reach the endpoints ssm, ssmmessages and ec2messages"
)
_SENT = "the settings may have been changed: run again, a transaction is committed or discarded as a whole"


class Runner:
    """Runs scripts on one instance.

    options: those of C(_aws.OPTIONS), and C(instance_id), C(command_timeout) and C(cluster), whose region serves where no other is
    known. say: prints a progress message. C(run) raises C(client.AwsError).
    """

    def __init__(self, options: dict[str, Any], say: Callable[[str], None]) -> None:
        cluster = options["cluster"]
        self.options = {**options, "region": options["region"] or (cluster.get("region") if isinstance(cluster, dict) else None)}
        self.instance_id = options["instance_id"]
        self.timeout = max(LEAST_TIMEOUT, options["command_timeout"])
        self.say = say
        self.session: Any = None
        self.client: Any = None

    def run(self, purpose: str, script: str, changes: bool) -> tuple[int, str, str]:
        """Exit code, standard output and standard error of C(script). purpose: the comment in Systems Manager's history.

        changes: whether the script changes anything. If it does, an error says that the change may have happened.
        """
        if client.BOTO3_ERROR:
            raise client.AwsError(missing_required_lib("boto3"))
        with client.explained_errors(self.options, "Systems Manager"):
            self._connect()
            command = self._send(purpose, script)
        try:
            with client.explained_errors(self.options, "Systems Manager"):
                return self._wait(command, purpose)
        except client.AwsError as error:
            raise client.AwsError(f"{error}; {_SENT}" if changes else str(error)) from None

    def _connect(self) -> None:
        """Find credentials only for the first script: the input is valid by then."""
        if self.client is None:
            self.session = client.new_session(self.options)
            self.client = client.new_client(self.session, "ssm", self.options)

    def _send(self, purpose: str, script: str) -> str:
        answer = self._ask(
            "SendCommand",
            self.client.send_command,
            InstanceIds=[self.instance_id],
            DocumentName=DOCUMENT,
            Comment=f"nodebootstrap.eks: {purpose}",
            TimeoutSeconds=self.timeout,
            Parameters={"commands": [script], "executionTimeout": [str(self.timeout)]},
        )
        command = answer.get("Command", {}).get("CommandId")
        if not command:
            raise client.AwsError("the answer is not from Systems Manager; fix: check endpoint_url")
        return str(command)

    def _wait(self, command: str, purpose: str) -> tuple[int, str, str]:
        started = time.monotonic()
        pause, line = FIRST_PAUSE, LINE_EVERY
        while True:
            found = self._invocation(command)
            status = found.get("Status", "Pending")
            passed = time.monotonic() - started
            if status not in _UNDER_WAY:
                return self._ended(found, status, purpose)
            if passed > self.timeout + GRACE:
                self._cancel(command)
                raise client.AwsError(self._late(f"{purpose} is {status} after {passed:.0f} s"))
            if passed >= line:
                self.say(f"{purpose}: {status} ({passed:.0f} s of {self.timeout} s)")
                line += LINE_EVERY
            time.sleep(pause)
            pause = min(LONGEST_PAUSE, pause * 1.5)

    def _invocation(self, command: str) -> dict[str, Any]:
        """The state of the command, {} if Systems Manager does not have it yet or limits requests."""
        try:
            return dict(
                self._ask("GetCommandInvocation", self.client.get_command_invocation, CommandId=command, InstanceId=self.instance_id)
            )
        except _NotReady:
            return {}

    def _ended(self, found: dict[str, Any], status: str, purpose: str) -> tuple[int, str, str]:
        details = found.get("StatusDetails") or status
        if "delivery" in details.lower().replace(" ", "") or details in ("Undeliverable", "Terminated"):
            raise client.AwsError(f"the agent on {self.instance_id} did not fetch the command to {purpose} ({details}); {_NOT_CONNECTED}")
        if status in ("Success", "Failed"):
            code = found.get("ResponseCode", -1)
            return code, found.get("StandardOutputContent") or "", found.get("StandardErrorContent") or ""
        if status == "TimedOut":
            raise client.AwsError(self._late(f"{purpose} did not finish in time ({details})"))
        raise client.AwsError(
            f"the command to {purpose} on {self.instance_id} ended as {details}; fix: look at the command history of Systems Manager"
        )

    def _late(self, what: str) -> str:
        return f"{what} on {self.instance_id}; fix: find the reason in a session on the instance, or increase command_timeout"

    def _cancel(self, command: str) -> None:
        try:
            self._ask("CancelCommand", self.client.cancel_command, CommandId=command, InstanceIds=[self.instance_id])
        except (_NotReady, client.AwsError):
            self.say("the command could not be cancelled")

    def _ask(self, operation: str, function: Callable[..., Any], **parameters: Any) -> Any:
        try:
            return function(**parameters)
        except client.client_error() as error:
            code, text = client.parse_error(error)
            if operation == "GetCommandInvocation" and (code == "InvocationDoesNotExist" or code.startswith("Throttl")):
                raise _NotReady from None
            raise client.AwsError(self._refusal(operation, code, text)) from None
        except client.no_connection() as error:
            reason = client.explain_unreachable(self.client, self.session, self.options["endpoint_url"], "Systems Manager")
            raise client.AwsError(f"{reason} ({type(error).__name__})") from None
        except client.not_understood():
            raise client.AwsError("the answer is not from Systems Manager; fix: check endpoint_url") from None

    def _refusal(self, operation: str, code: str, text: str) -> str:
        where = f"{self.instance_id} in region {self.client.meta.region_name}"
        if code == "InvalidInstanceId":
            return f"Systems Manager is not connected with {where} ({code}); {_NOT_CONNECTED}"
        if client.is_access_denied(code):
            return (
                f"the credentials may not call ssm:{operation} for {where} and {DOCUMENT}; fix: allow it in their policy ({code}: {text})"
            )
        return client.explain_credentials(code, text) or f"Systems Manager refused {operation} for {where} ({code}: {text})"


class _NotReady(Exception):
    """Systems Manager has no answer yet."""

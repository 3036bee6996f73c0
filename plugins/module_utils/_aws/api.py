# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Calls of operations of one account and region, with errors that name the permission that is missing. Runs on the controller."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Callable, Collection, Dict, Iterator, List, Optional

from ansible.module_utils.basic import missing_required_lib

from . import client


class Api:
    """The API of one account and region. options: those of C(client.OPTIONS). The methods raise C(client.AwsError).

    session: that of boto3, None before the first client.
    """

    def __init__(self, options: Dict[str, Any]) -> None:
        self._options = options
        self.session: Any = None
        self._clients: Dict[str, Any] = {}

    def client(self, service: str) -> Any:
        """The boto3 client of a service, such as C(ec2)."""
        if client.BOTO3_ERROR:
            raise client.AwsError(missing_required_lib("boto3"))
        with client.explained_errors(self._options, _name(service)):
            if self.session is None:
                self.session = client.new_session(self._options)
            if service not in self._clients:
                self._clients[service] = client.new_client(self.session, service, self._options)
        return self._clients[service]

    def pages(self, service: str, operation: str, key: str, **arguments: Any) -> List[Any]:
        """All items of an operation with pages."""
        with self._explained(service, operation) as api:
            ask: Callable[..., Any] = api.get_paginator(operation).paginate
            return [item for page in ask(**arguments) for item in page.get(key, [])]

    def call(self, service: str, operation: str, absent: Collection[str] = (), **arguments: Any) -> Optional[Dict[str, Any]]:
        """The answer of an operation. absent: codes of errors that mean that the object does not exist; the answer is then None."""
        with self._explained(service, operation) as api:
            try:
                answer: Dict[str, Any] = getattr(api, operation)(**arguments)
            except client.client_error() as error:
                if client.parse_error(error)[0] in absent:
                    return None
                raise
            return answer

    @contextmanager
    def _explained(self, service: str, operation: str) -> Iterator[Any]:
        """A client of the service. Errors of the operation become C(client.AwsError)."""
        name = _name(service)
        action = "{0}:{1}".format(service, "".join(word.capitalize() for word in operation.split("_")))
        api = self.client(service)
        with client.explained_errors(self._options, name):
            try:
                yield api
            except client.client_error() as error:
                raise _refusal(action, error) from None
            except client.no_connection() as error:
                text = client.explain_unreachable(api, self.session, self._options["endpoint_url"], name)
                raise client.AwsTemporary("{0} ({1})".format(text, type(error).__name__)) from None
            except client.not_understood():
                raise client.AwsError("the answer is not from AWS; fix: check endpoint_url") from None


_NAMES = {"autoscaling": "Auto Scaling", "ssm": "Systems Manager"}
"""The usual names of services whose names are not abbreviations."""


def _name(service: str) -> str:
    return _NAMES.get(service, service.upper())


_TEMPORARY = (
    "InternalFailure", "RequestLimitExceeded", "RequestTimeout", "RequestTimeoutException", "ResourceContention", "ResourceInUse",
    "ResourceInUseException", "ScalingActivityInProgress", "ServiceUnavailable", "Unavailable",
)  # fmt: skip
"""Codes of errors that do not stay."""


def _refusal(action: str, error: Any) -> client.AwsError:
    code, text = client.parse_error(error)
    if client.is_access_denied(code):
        return client.AwsDenied("the credentials may not call {0}; fix: allow it in their policy ({1}: {2})".format(action, code, text))
    known = client.explain_credentials(code, text)
    is_temporary = not known and (code in _TEMPORARY or code.startswith("Throttl") or _status(error) >= 500)
    return (client.AwsTemporary if is_temporary else client.AwsError)(known or "AWS refused {0} ({1}: {2})".format(action, code, text))


def _status(error: Any) -> int:
    return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode") or 0)

# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One URL for all of AWS: EKS from this package, everything else from moto.

Injected errors and recorded calls work for every service. They name operations as IAM does: C(eks:CreateAccessEntry), C(ec2:RunInstances).
"""

from __future__ import annotations

import io
import logging
import re
import threading
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol
from urllib.parse import parse_qs
from urllib.request import Request, urlopen
from uuid import uuid4

from .eks import Eks
from .errors import ApiError
from .protocol import ModelError, RestJson

ACCOUNT = "123456789012"
REGION = "eu-west-1"

_Environ = dict[str, Any]
_StartResponse = Callable[..., Any]
_SCOPE = re.compile(r"Credential=(?P<key>[^/]+)/[^/]+/(?P<region>[^/]+)/(?P<service>[^/]+)/aws4_request")
_STATUS = {200: "OK", 400: "Bad Request", 403: "Forbidden", 404: "Not Found", 409: "Conflict", 429: "Too Many Requests"}


@dataclass(frozen=True)
class Call:
    """One call. operation: as IAM names it. request: its input, {} for services of moto. error: the code of the error, '' if it worked."""

    operation: str
    request: Mapping[str, Any]
    error: str = ""


class Overlay(Protocol):
    """Answers some operations of a service in place of moto. name: the operation. body: the decoded form of a query protocol.

    Returns (status, content type, body), or None if moto answers.
    """

    def __call__(self, name: str, body: Mapping[str, str]) -> tuple[int, str, bytes] | None: ...


class AwsStandIn:
    """The server, as a context manager. It listens on 127.0.0.1, and keeps its state until it ends.

    also: overlays of services of moto, by the name of the service. address, port: where it listens. account: of the clusters; that of the
    other services is always the default.
    """

    def __init__(
        self, also: Mapping[str, Overlay] | None = None, address: str = "127.0.0.1", port: int = 0, account: str = ACCOUNT
    ) -> None:
        self.region = REGION
        self.account = account
        self.eks = Eks(account, REGION)
        self.calls: list[Call] = []
        self._address = (address, port)
        self._also = dict(also or {})
        self._denied: set[str] = set()
        self._failures: dict[str, list[ApiError]] = {}
        self._broken: list[str] = []
        self._rest = RestJson("eks")
        self._lock = threading.RLock()
        self._moto: Any = None
        self._server: Any = None
        self._thread: threading.Thread | None = None

    # --- for tests ----------------------------------------------------------------------------------------------------------

    @property
    def url(self) -> str:
        """The value for endpoint_url."""
        host, port = self._server.server_address[:2]
        return f"http://{host}:{port}"

    def client(self, service: str, **options: Any) -> Any:
        """A client of boto3 for this server."""
        import boto3

        keys = {"aws_access_key_id": "AKIAIOSFODNN7EXAMPLE", "aws_secret_access_key": "test"}
        return boto3.client(service, **{"region_name": self.region, "endpoint_url": self.url, **keys, **options})

    def operations(self, *, changes_only: bool = False) -> list[str]:
        """The operations that were called, in order. changes_only: without Describe…, List… and Get…."""
        names = [call.operation for call in self.calls]
        return [name for name in names if not changes_only or not re.search(r":(?:Describe|List|Get)", name)]

    def deny(self, *operations: str) -> None:
        """Refuse these operations from now on, as IAM does without the permission."""
        self._denied.update(operations)

    def fail_once(self, operation: str, *errors: ApiError) -> None:
        """Let the next calls of this operation fail, one for each error."""
        self._failures.setdefault(operation, []).extend(errors)

    def reset(self) -> None:
        """Forget what moto was told: it keeps everything in the process, also from one stand-in to the next."""
        urlopen(Request(f"{self.url}/moto-api/reset", method="POST"), timeout=60).close()

    # --- life -----------------------------------------------------------------------------------------------------------------

    def __enter__(self) -> AwsStandIn:
        # Both take a second to import, and only here.
        from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
        from werkzeug.serving import make_server

        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        self._moto = DomainDispatcherApplication(create_backend_app)
        self._server = make_server(*self._address, self._answer, threaded=True, request_handler=MotoRequestHandler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()
        assert self._thread is not None
        self._thread.join()
        if self._broken and kind is None:
            raise AssertionError("the stand-in for AWS cannot answer:\n" + "\n".join(self._broken))

    # --- requests ---------------------------------------------------------------------------------------------------------------

    def _answer(self, environ: _Environ, start_response: _StartResponse) -> Iterable[bytes]:
        scope = _SCOPE.search(environ.get("HTTP_AUTHORIZATION", ""))
        service = scope["service"] if scope else ""
        if service == "eks":
            return self._eks(environ, start_response)
        return self._other(service, environ, start_response)

    def _eks(self, environ: _Environ, start_response: _StartResponse) -> Iterable[bytes]:
        path = environ.get("RAW_URI") or environ.get("REQUEST_URI") or environ["PATH_INFO"]
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        operation, request, status, answer, code = "", {}, 200, b"{}", ""
        with self._lock:
            try:
                operation, in_path = self._rest.find(environ["REQUEST_METHOD"], path.partition("?")[0])
                request = self._rest.parse(operation, in_path, parse_qs(environ.get("QUERY_STRING", "")), body)
                self._refuse(f"eks:{operation}")
                answer = self._rest.response(operation, self.eks.call(operation, request))
            except ApiError as error:
                status, code = error.status, error.code
                answer = self._error(operation, error)
            except Exception:
                # Werkzeug would print it, and boto3 would try again.
                self._broken.append(f"{operation} {request}: {traceback.format_exc()}")
                status, code, answer = 400, "StandInException", b'{"message": "the stand-in is broken"}'
            self.calls.append(Call(f"eks:{operation}", request, code))
        return _respond(start_response, status, "application/json", answer, code)

    def _error(self, operation: str, error: ApiError) -> bytes:
        try:
            return self._rest.error(operation, error) if operation else b'{"message": "unknown operation"}'
        except ModelError as problem:
            self._broken.append(str(problem))
            return b'{"message": "the stand-in is broken"}'

    def _other(self, service: str, environ: _Environ, start_response: _StartResponse) -> Iterable[bytes]:
        """A call of a service that moto answers, unless an overlay does."""
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"] = io.BytesIO(body)
        form = {name: values[0] for name, values in parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True).items()}
        name = form.get("Action") or environ.get("HTTP_X_AMZ_TARGET", "").rpartition(".")[2]
        operation = f"{service}:{name}"
        with self._lock:
            try:
                self._refuse(operation)
            except ApiError as error:
                self.calls.append(Call(operation, form, error.code))
                return _respond(start_response, error.status, "text/xml", _xml_error(service, error), error.code)
            self.calls.append(Call(operation, form))
            overlay = self._also.get(service)
            answer = overlay(name, form) if overlay else None
        if answer:
            return _respond(start_response, answer[0], answer[1], answer[2], "")
        answered: Iterable[bytes] = self._moto(environ, start_response)
        return answered

    def _refuse(self, operation: str) -> None:
        """Raise the error that a test wants."""
        if self._failures.get(operation):
            raise self._failures[operation].pop(0)
        if operation in self._denied:
            code = "AccessDeniedException" if operation.startswith("eks:") else "UnauthorizedOperation"
            raise ApiError(code, f"User: arn:aws:iam::{self.account}:user/test is not authorized to perform: {operation}", 403)


def _respond(start_response: _StartResponse, status: int, kind: str, body: bytes, code: str) -> list[bytes]:
    headers = [("Content-Type", kind), ("Content-Length", str(len(body))), ("x-amzn-RequestId", str(uuid4()))]
    if code:
        headers.append(("x-amzn-ErrorType", code))
    start_response(f"{status} {_STATUS.get(status, 'Error')}", headers)
    return [body]


def _xml_error(service: str, error: ApiError) -> bytes:
    """An error of the query protocols; EC2 has a form of its own."""
    inner = f"<Code>{error.code}</Code><Message>{error.message}</Message>"
    if service == "ec2":
        return f"<Response><Errors><Error>{inner}</Error></Errors><RequestID>1</RequestID></Response>".encode()
    return f"<ErrorResponse><Error><Type>Sender</Type>{inner}</Error><RequestId>1</RequestId></ErrorResponse>".encode()

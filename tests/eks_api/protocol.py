# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Between HTTP and the service model of botocore, for the protocol rest-json.

botocore's own validator checks required members and types, and refuses unknown members. It does not check enumerations, lengths and
ranges, because the service does: these are checked here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from functools import cache
from typing import Any
from urllib.parse import unquote

import botocore.session
from botocore.validate import ParamValidator

from .errors import ApiError


class ModelError(Exception):
    """A response of the stand-in does not match the model: an error of the stand-in, not of the code under test."""


class RestJson:
    """The operations of one service. name: as boto3 calls the service."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._model = _service_model(name)
        self._routes = [
            (http["method"], _pattern(http["requestUri"]), operation)
            for operation in self._model.operation_names
            for http in (self._model.operation_model(operation).http,)
        ]

    def find(self, method: str, path: str) -> tuple[str, dict[str, str]]:
        """The operation of a request, and the values in its path. path: as it was sent, with its percent signs."""
        for verb, pattern, operation in self._routes:
            match = pattern.fullmatch(path) if verb == method else None
            if match:
                return operation, {name: unquote(value) for name, value in match.groupdict().items()}
        raise ApiError("UnknownOperationException", f"no operation of {self.name} is {method} {path}", 404)

    def parse(self, operation: str, in_path: Mapping[str, str], query: Mapping[str, list[str]], body: bytes) -> dict[str, Any]:
        """The members of the operation's input. Raises C(ApiError) if the model does not accept them."""
        shape = self._model.operation_model(operation).input_shape
        known_queries = set()
        request = self._body(operation, body)
        for name, member in shape.members.items():
            location, sent_as = member.serialization.get("location"), member.serialization.get("name", name)
            if location is None:
                continue
            if name in request:
                raise _refused(f"{name} belongs to the {location} of {operation}, not to its body")
            if location == "uri":
                request[name] = in_path[sent_as]
            elif location == "querystring":
                known_queries.add(sent_as)
                if sent_as in query:
                    request[name] = _from_text(member, query[sent_as])
        unknown = set(query) - known_queries
        if unknown:
            raise _refused(f"{operation} has no query parameters {sorted(unknown)}")
        problems = list(_problems(request, shape, operation))
        if problems:
            raise _refused("; ".join(problems))
        return request

    def response(self, operation: str, response: Mapping[str, Any]) -> bytes:
        """The body of a response. Raises C(ModelError) if the model does not allow it."""
        shape = self._model.operation_model(operation).output_shape
        # AWS returns empty maps and lists, whatever the model says about their least length.
        members = {name: _without_empty(member) for name, member in response.items()}
        problems = list(_problems(members, shape, operation))
        if problems:
            raise ModelError("; ".join(problems))
        return json.dumps(response, default=_serialize).encode()

    def error(self, operation: str, error: ApiError) -> bytes:
        """The body of an error. Raises C(ModelError) for a code that the operation does not have; every operation has those of AWS."""
        shapes = {shape.name: shape for shape in self._model.operation_model(operation).error_shapes}
        if error.code not in shapes and error.code not in COMMON_ERRORS:
            raise ModelError(f"{operation} does not raise {error.code}")
        if error.code in shapes:
            unknown = set(error.fields) - set(shapes[error.code].members)
            if unknown:
                raise ModelError(f"{error.code} has no members {sorted(unknown)}")
        return json.dumps({"message": error.message, **error.fields}).encode()

    @staticmethod
    def _body(operation: str, body: bytes) -> dict[str, Any]:
        if not body:
            return {}
        try:
            document = json.loads(body)
        except ValueError as error:
            raise ApiError("SerializationException", f"the body of {operation} is not JSON: {error}") from None
        if not isinstance(document, dict):
            raise ApiError("SerializationException", f"the body of {operation} is not an object")
        return document


COMMON_ERRORS = {
    "AccessDeniedException", "ExpiredTokenException", "InternalFailure", "SerializationException", "ServiceUnavailable",
    "ThrottlingException", "UnknownOperationException", "UnrecognizedClientException", "ValidationException",
}  # fmt: skip
"""Errors that every operation can return."""


@cache
def _service_model(name: str) -> Any:
    return botocore.session.get_session().get_service_model(name)


def _pattern(uri: str) -> re.Pattern[str]:
    parts = re.split(r"\{(\w+)\}", uri)
    return re.compile("".join(f"(?P<{part}>[^/]+)" if index % 2 else re.escape(part) for index, part in enumerate(parts)))


def _refused(text: str) -> ApiError:
    return ApiError("InvalidParameterException", text)


def _from_text(shape: Any, values: list[str]) -> Any:
    if shape.type_name == "list":
        return values
    text = values[0]
    if shape.type_name == "integer":
        return int(text) if re.fullmatch(r"-?\d+", text) else text
    if shape.type_name == "boolean":
        return {"true": True, "false": False}.get(text, text)
    return text


def _problems(value: Any, shape: Any, where: str) -> Iterator[str]:
    """Why the model does not accept C(value)."""
    if shape is None:
        if value:
            yield f"{where} has no members, but got {sorted(value)}"
        return
    report = ParamValidator().validate(value, shape)
    if report.has_errors():
        yield report.generate_report()
        return
    yield from _limits(value, shape, where)


def _limits(value: Any, shape: Any, where: str) -> Iterator[str]:
    """What botocore does not check. C(value) has the right types."""
    kind = shape.type_name
    if kind == "structure":
        for name, member in value.items():
            if name not in shape.members:
                yield f"{where}: unknown member {name}"
            elif member is not None:
                yield from _limits(member, shape.members[name], f"{where}.{name}")
    elif kind == "map":
        for key, member in value.items():
            yield from _limits(key, shape.key, f"{where} key {key}")
            yield from _limits(member, shape.value, f"{where}.{key}")
    elif kind == "list":
        for index, member in enumerate(value):
            yield from _limits(member, shape.member, f"{where}[{index}]")
    if kind == "string" and getattr(shape, "enum", None) and value not in shape.enum:
        yield f"{where}: {value} is not one of {', '.join(shape.enum)}"
    size = len(value) if kind in ("string", "list", "map", "blob") else value
    least, most = shape.metadata.get("min"), shape.metadata.get("max")
    if kind in ("string", "list", "map", "blob", "integer", "long", "float", "double"):
        if least is not None and size < least:
            yield f"{where}: {size} is less than {least}"
        if most is not None and size > most:
            yield f"{where}: {size} is more than {most}"
    if kind == "string" and shape.metadata.get("pattern") and not re.search(shape.metadata["pattern"], value):
        yield f"{where}: {value} does not match {shape.metadata['pattern']}"


def _without_empty(value: Any) -> Any:
    """C(value) without members that are empty maps or lists."""
    if isinstance(value, Mapping):
        return {key: _without_empty(member) for key, member in value.items() if member != {} and member != []}
    return [_without_empty(member) for member in value] if isinstance(value, list) else value


def _serialize(value: Any) -> Any:
    """rest-json writes a time as seconds since 1970."""
    if isinstance(value, datetime):
        return value.astimezone(timezone.utc).timestamp()
    raise TypeError(f"{type(value).__name__} is not JSON")

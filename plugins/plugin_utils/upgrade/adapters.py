# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Adapts the clients of Kubernetes and AWS to an upgrade: which failures may pass, and which will not. The caller brings the clients."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

from .loop import RequestRefused, TemporaryError

_TEMPORARY = (0, 404, 408, 409, 410, 429)
"""Statuses after which an upgrade looks again: no answer, or the object has changed."""

_PERMANENT_REASONS = ("Credentials", "Refused", "TLS")


class KubernetesClient(Protocol):
    """The methods of the client of the API server."""

    def get(self, path: str, **query: Any) -> dict[str, Any]: ...
    def list(self, path: str, **query: Any) -> Iterator[dict[str, Any]]: ...
    def create(self, path: str, body: Mapping[str, Any], **query: Any) -> dict[str, Any]: ...
    def replace(self, path: str, body: Mapping[str, Any], **query: Any) -> dict[str, Any]: ...
    def patch(self, path: str, body: Any, kind: str = "merge", **query: Any) -> dict[str, Any]: ...
    def delete(self, path: str, *, uid: str = "", resource_version: str = "", **query: Any) -> dict[str, Any]: ...


class KubernetesApi:
    """The API server. error: the type of the errors of the client, with C(status) and C(reason)."""

    def __init__(self, client: KubernetesClient, error: type[Exception]) -> None:
        self._client, self._error = client, error

    def get(self, path: str) -> dict[str, Any] | None:
        """An object, None if it does not exist."""
        with self.explained():
            try:
                return self._client.get(path)
            except self._error as error:
                if _status(error) != 404:
                    raise
                return None

    def list(self, path: str, **query: Any) -> list[dict[str, Any]]:
        """The items of a list."""
        with self.explained():
            return list(self._client.list(path, **query))

    def patch(self, path: str, body: Mapping[str, Any]) -> None:
        """Change an object by a merge patch."""
        with self.explained():
            self._client.patch(path, body)

    def create(self, path: str, body: Mapping[str, Any]) -> dict[str, Any] | None:
        """Create an object. None if others created it meanwhile."""
        return self._unless_changed(lambda: self._client.create(path, body))

    def replace(self, path: str, body: Mapping[str, Any]) -> dict[str, Any] | None:
        """Replace an object. None if others changed or removed it meanwhile."""
        return self._unless_changed(lambda: self._client.replace(path, body))

    def delete(self, path: str, resource_version: str) -> None:
        """Delete an object, unless others changed it meanwhile."""
        self._unless_changed(lambda: self._client.delete(path, resource_version=resource_version))

    def _unless_changed(self, send: Any) -> dict[str, Any] | None:
        with self.explained():
            try:
                found: dict[str, Any] = send()
                return found
            except self._error as error:
                if _status(error) not in (404, 409):
                    raise
                return None

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Convert errors of the client to those of C(loop)."""
        try:
            yield
        except self._error as error:
            reason = getattr(error, "reason", "")
            is_temporary = _status(error) in _TEMPORARY or _status(error) >= 500
            raise (TemporaryError if is_temporary and reason not in _PERMANENT_REASONS else RequestRefused)(str(error)) from None


def _status(error: Exception) -> int:
    return int(getattr(error, "status", 0))


class AwsGroup:
    """An Auto Scaling group. temporary, error: the types of the errors of its client."""

    def __init__(self, client: Any, temporary: type[Exception], error: type[Exception]) -> None:
        self._client, self._temporary, self._error = client, temporary, error

    def describe(self) -> dict[str, Any]:
        """The group."""
        return dict(self._call("describe"))

    def numbers(self, group: Mapping[str, Any]) -> dict[str, str]:
        """The numbers that C($Latest) and C($Default) stand for."""
        return dict(self._call("numbers", group))

    def template(self, group: Mapping[str, Any]) -> Mapping[str, Any]:
        """Its launch template."""
        return dict(self._call("template", group))

    def image(self, group: Mapping[str, Any], version: str) -> str:
        """The image in a version of its launch template."""
        return str(self._call("image", group, version))

    def check(self, group: Mapping[str, Any]) -> None:
        """Refuse a group that cannot be upgraded."""
        self._call("check", group)

    def check_version(self, group: Mapping[str, Any], version: str) -> None:
        """Refuse a version that does not exist."""
        self._call("check_version", group, version)

    def change(self, group: Mapping[str, Any], desired: int | None, max_size: int | None, version: str) -> None:
        """Change sizes and version."""
        self._call("change", group, desired, max_size, version)

    def suspend(self, processes: Iterable[str]) -> None:
        """Suspend processes."""
        self._call("suspend", list(processes))

    def resume(self, processes: Iterable[str]) -> None:
        """Resume processes."""
        self._call("resume", list(processes))

    def terminate(self, instance: str, decrement: bool) -> None:
        """Terminate an instance."""
        self._call("terminate", instance, decrement)

    def write_tag(self, key: str, value: str) -> None:
        """Write a tag."""
        self._call("write_tag", key, value)

    def remove_tag(self, key: str) -> None:
        """Remove a tag."""
        self._call("remove_tag", key)

    def failures(self) -> list[str]:
        """Why the group did not launch or terminate instances, newest first."""
        return list(self._call("failures"))

    def _call(self, name: str, *arguments: Any) -> Any:
        try:
            return getattr(self._client, name)(*arguments)
        except self._temporary as error:
            raise TemporaryError(str(error)) from None
        except self._error as error:
            raise RequestRefused(str(error)) from None

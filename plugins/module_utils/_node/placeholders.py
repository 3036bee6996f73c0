# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fills in placeholders that only the node knows, with at most three requests to the metadata service (IPv4)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Callable, Mapping, TypeVar

from . import instance_identity
from .errors import ApplyRefused
from .instance_identity import Form, IdentityDocument, InvalidAnswer

if TYPE_CHECKING:
    from .imds import Client

_Value = TypeVar("_Value")

_VARIABLE = re.compile(r"\$\{([A-Z_]+)\}")
PLACEHOLDERS = {
    "instance_id": ("INSTANCE_ID", instance_identity.INSTANCE_ID.pattern),
    "instance_lifecycle": ("INSTANCE_LIFECYCLE", instance_identity.LIFE_CYCLE.pattern),
    "availability_zone": ("AVAILABILITY_ZONE", instance_identity.AVAILABILITY_ZONE.pattern),
}
"""Placeholder in a label value → its variable, and the form of its value."""
PLACEHOLDER = re.compile(r"\{(" + "|".join(PLACEHOLDERS) + r")\}")


class Identity:
    """The identity of the node. The metadata service is asked when a value is needed for the first time. Raises ApplyRefused."""

    def __init__(self, client: Client | None = None) -> None:
        self._client = client
        self._document: IdentityDocument | None = None

    def label(self, text: str) -> str:
        """A label value with its placeholders filled in."""
        return PLACEHOLDER.sub(lambda match: self._simple(PLACEHOLDERS[match.group(1)][0]), text)

    def setting(self, text: str, facts: Mapping[str, Any] | None) -> str:
        """A snap setting with its variables filled in. C(facts): C(snap_facts) of the plan."""
        return _VARIABLE.sub(lambda match: self._variable(match.group(1), facts), text)

    @staticmethod
    def of_user_data(client: Client | None = None) -> str | None:
        """The user data as text, C("") without user data. None when the service does not answer within seconds, or it is not text."""
        from . import imds

        try:
            return (client or imds.Client(timeout=2.0, retries=0)).get("user-data", missing_ok=True) or ""
        except imds.ImdsError:
            return None

    def _variable(self, name: str, facts: Mapping[str, Any] | None) -> str:
        if facts is None:
            raise ApplyRefused(f"the plan is damaged: it does not say how ${{{name}}} is found")
        if name == "NODE_IP":
            return self._ipv6() if facts["ipv6"] else self._field("privateIp")
        if name == "NODE_NAME":
            host = "ip-" + self._field("privateIp").replace(".", "-") if facts["by_address"] else self._field("instanceId")
            return f"{host}.{facts['domain']}"
        if name == "PROVIDER_ID":
            return f"aws:///{self._simple('AVAILABILITY_ZONE')}/{self._simple('INSTANCE_ID')}"
        return self._simple(name)

    def _simple(self, name: str) -> str:
        if name == "INSTANCE_ID":
            return self._field("instanceId")
        if name == "AVAILABILITY_ZONE":
            return self._field("availabilityZone")
        if name == "INSTANCE_LIFECYCLE":
            return self._checked("meta-data/instance-life-cycle", instance_identity.LIFE_CYCLE)
        raise ApplyRefused(f"the plan is damaged: ${{{name}}} is not a known variable")

    def _ipv6(self) -> str:
        mac = self._checked("meta-data/mac", instance_identity.MAC)
        path = f"meta-data/network/interfaces/macs/{mac}/ipv6s"
        return _refuse_invalid(lambda: instance_identity.checked(path, self._get(path).split("\n")[0].strip(), instance_identity.IPV6))

    def _field(self, name: str) -> str:
        if self._document is None:
            text = self._get(instance_identity.PATH)
            self._document = _refuse_invalid(lambda: instance_identity.parse(text))
        document = self._document
        return _refuse_invalid(lambda: document.text(name))

    def _checked(self, path: str, form: Form) -> str:
        return _refuse_invalid(lambda: instance_identity.checked(path, self._get(path), form))

    def _get(self, path: str) -> str:
        # Most runs make no request, and HTTP takes a third of the time of all imports.
        from . import imds

        if self._client is None:
            self._client = imds.Client()
        try:
            return self._client.get(path) or ""
        except imds.ImdsError as error:
            raise ApplyRefused(str(error)) from None


def _refuse_invalid(read: Callable[[], _Value]) -> _Value:
    """The result of C(read). An answer in the wrong form is refused."""
    try:
        return read()
    except InvalidAnswer as answer:
        raise ApplyRefused(f"the instance metadata service answers wrongly: {answer}") from None

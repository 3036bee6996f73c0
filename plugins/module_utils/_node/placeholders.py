# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fills in placeholders that only the node knows, with at most three requests to the metadata service (IPv4)."""

from __future__ import annotations

import ipaddress
import json
import re
from typing import TYPE_CHECKING, Any, Mapping

from .errors import ApplyRefused

if TYPE_CHECKING:
    from .imds import Client

_VARIABLE = re.compile(r"\$\{([A-Z_]+)\}")
PLACEHOLDERS = {
    "instance_id": ("INSTANCE_ID", "[0-9a-z-]+"),
    "instance_lifecycle": ("INSTANCE_LIFECYCLE", "[a-z-]+"),
    "availability_zone": ("AVAILABILITY_ZONE", "[0-9a-z-]+"),
}
"""Placeholder in a label value → its variable, and the form of its value."""
PLACEHOLDER = re.compile(r"\{(" + "|".join(PLACEHOLDERS) + r")\}")

_FORMS = {
    "instanceId": re.compile(r"i-[0-9a-z]+\Z"),
    "availabilityZone": re.compile(r"[a-z0-9-]+\Z"),
    "life cycle": re.compile(r"[a-z-]+\Z"),
    "mac": re.compile(r"[0-9a-f:]+\Z"),
}


class Identity:
    """The identity of the node. The metadata service is asked when a value is needed for the first time. Raises ApplyRefused."""

    def __init__(self, client: Client | None = None) -> None:
        self._client = client
        self._document: Any = None

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
            return self._ipv6() if facts["ipv6"] else self._ipv4()
        if name == "NODE_NAME":
            host = f"ip-{self._ipv4().replace('.', '-')}" if facts["by_address"] else self._simple("INSTANCE_ID")
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
            return self._formed("life cycle", self._get("meta-data/instance-life-cycle"))
        raise ApplyRefused(f"the plan is damaged: ${{{name}}} is not a known variable")

    def _ipv4(self) -> str:
        return self._address(self._document_field("privateIp"), 4)

    def _ipv6(self) -> str:
        mac = self._formed("mac", self._get("meta-data/mac"))
        return self._address(self._get(f"meta-data/network/interfaces/macs/{mac}/ipv6s").split("\n")[0].strip(), 6)

    def _address(self, text: str, version: int) -> str:
        try:
            if ipaddress.ip_address(text).version == version:
                return text
        except ValueError:
            pass
        raise ApplyRefused(f"the instance metadata service gives no IPv{version} address of this node: {ascii(text)[:60]}")

    def _field(self, name: str) -> str:
        return self._formed(name, self._document_field(name))

    def _document_field(self, name: str) -> str:
        if self._document is None:
            try:
                self._document = json.loads(self._get("dynamic/instance-identity/document"))
            except ValueError:
                self._document = None
        if not isinstance(self._document, dict):
            raise ApplyRefused("the instance metadata service gives no identity document: another program answers at its address")
        return str(self._document.get(name))

    def _formed(self, name: str, value: str) -> str:
        if not _FORMS[name].match(value):
            raise ApplyRefused(f"the instance metadata service gives no valid {name}: {ascii(value)[:60]}")
        return value

    def _get(self, path: str) -> str:
        # Most runs make no request, and HTTP takes a third of the time of all imports.
        from . import imds

        if self._client is None:
            self._client = imds.Client()
        try:
            return self._client.get(path) or ""
        except imds.ImdsError as error:
            raise ApplyRefused(str(error)) from None

# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The instance identity document, and the forms of its fields and of other instance metadata. Standard library, Python 3.7 and newer.

Every value is checked before it is used: it becomes part of a path, a label or an argument, and another program may answer in place of
the metadata service. Without HTTP, because most runs do not need that.
"""

from __future__ import annotations

import ipaddress
import json
import re
from typing import Any, List, Mapping, NamedTuple

PATH = "dynamic/instance-identity/document"


class InvalidAnswer(Exception):
    """A value of the metadata service does not have its form. The text says which value, and what it should be."""


class Form(NamedTuple):
    """C(kind): what a value is called in messages. C(pattern): matches the whole value. C(ip): 4 or 6 for an address."""

    kind: str
    pattern: str = ".*"
    ip: int = 0

    def accepts(self, value: str) -> bool:
        """Whether a value has this form."""
        if re.fullmatch(self.pattern, value, re.ASCII) is None:
            return False
        try:
            return not self.ip or ipaddress.ip_address(value).version == self.ip
        except ValueError:
            return False


INSTANCE_ID = Form("instance ID", r"i-[0-9a-f]{8,32}")
AVAILABILITY_ZONE = Form("availability zone", r"[a-z]{2,8}(?:-[a-z0-9]+)+")
LIFE_CYCLE = Form("life cycle", r"[a-z]+(?:-[a-z]+)*")
MAC = Form("MAC address", r"[0-9a-f]{2}(?::[0-9a-f]{2}){5}")
IPV4 = Form("IPv4 address", ip=4)
IPV6 = Form("IPv6 address", ip=6)

_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,62}[A-Za-z0-9])?"
HOSTNAME = Form("host name", rf"(?=.{{1,253}}$){_LABEL}(?:\.{_LABEL})*\.?")

_FIELDS = {
    "accountId": Form("account number", r"[0-9]{12}"),
    "architecture": Form("architecture", r"[a-z0-9_]{1,32}"),
    "availabilityZone": AVAILABILITY_ZONE,
    "imageId": Form("image ID", r"ami-[0-9a-f]{8,32}"),
    "instanceId": INSTANCE_ID,
    "instanceType": Form("instance type", r"[a-z0-9-]+\.[a-z0-9-]+"),
    "kernelId": Form("kernel ID", r"aki-[0-9a-f]{8,32}"),
    "pendingTime": Form("time in UTC", r"[0-9]{4}(?:-[0-9]{2}){2}T[0-9]{2}(?::[0-9]{2}){2}(?:\.[0-9]+)?Z"),
    "privateIp": IPV4,
    "ramdiskId": Form("RAM disk ID", r"ari-[0-9a-f]{8,32}"),
    "region": Form("region", r"[a-z]{2,8}(?:-[a-z]+)+-[0-9]{1,2}"),
    "version": Form("date", r"[0-9]{4}(?:-[0-9]{2}){2}"),
}
_CODE = Form("product code", r"[A-Za-z0-9_-]{1,64}")


class IdentityDocument(NamedTuple):
    """The document as the service returned it. A field is checked when it is read, so that a wrong one does not hide the others."""

    fields: Mapping[str, Any]

    def text(self, field: str) -> str:
        """A field that every instance has. Raises InvalidAnswer."""
        return checked(f"{field} of {PATH}", self.fields.get(field), _FIELDS[field])

    def optional(self, field: str) -> str | None:
        """A field that some instances lack: an instance in an IPv6-only subnet has no IPv4 address. Raises InvalidAnswer."""
        return self.text(field) if self.fields.get(field) else None

    def codes(self, field: str) -> List[str]:
        """A list of codes, which may be null. Raises InvalidAnswer."""
        given = self.fields.get(field) or []
        if not isinstance(given, list):
            raise InvalidAnswer(describe(f"{field} of {PATH}", given, "list"))
        return [checked(f"an item of {field} of {PATH}", code, _CODE) for code in given]


def parse(text: str | None) -> IdentityDocument:
    """The document in the answer of the service. Raises InvalidAnswer."""
    try:
        document = json.loads(text or "")
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise InvalidAnswer(describe(PATH, text, "JSON mapping"))
    return IdentityDocument(document)


def checked(what: str, value: object, form: Form) -> str:
    """A value that has its form. Raises InvalidAnswer."""
    if not isinstance(value, str) or not form.accepts(value):
        raise InvalidAnswer(describe(what, value, form.kind))
    return value


def describe(what: str, value: object, wanted: str) -> str:
    """The text of an InvalidAnswer."""
    return f"{what} is {shown(value)}, which is not a valid {wanted}"


def shown(value: object) -> str:
    """A value for an error message: short, printable."""
    text = ascii(value)
    return text if len(text) <= 60 else text[:57] + "..."

# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""No planted secret is left, whatever its form and place; what is needed for a diagnosis is."""

from __future__ import annotations

import base64
import json
import string
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.module_utils._anywhere_admin import redact
from ansible_collections.nodebootstrap.eks.plugins.module_utils._anywhere_admin.redact import Mask

SECRETS = (
    st.text(string.ascii_letters + string.digits + "/+&:@ \"\\'{}$%äß", min_size=8, max_size=40)
    .map(str.strip)
    .filter(lambda text: len(text) >= 8 and len(set(text)) > 4)
)
"""Values that do not occur in texts by chance."""

FORMS = {
    "plain": lambda secret: secret,
    "base64": lambda secret: base64.b64encode(secret.encode()).decode(),
    "URL": lambda secret: quote(secret, safe=""),
    "JSON": lambda secret: json.dumps(secret)[1:-1],
    "twice": lambda secret: f"{secret}{secret}",
}
PLACES = {
    "log": "I0101 00:00:00 reconcile machine dev-cp with {} done",
    "flag": "--unrelated={}",
    "yaml": "a:\n  b: {}\n",
    "unclosed": '{{"a": {}',
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("place", PLACES)
@given(secret=SECRETS)
def test_a_known_secret_is_removed_from_texts_in_every_form(form: str, place: str, secret: str) -> None:
    written = FORMS[form](secret)
    shown = Mask([secret]).text(PLACES[place].format(written))
    assert written not in shown and secret not in shown


@given(secret=SECRETS)
def test_a_known_secret_is_removed_from_objects_at_any_depth(secret: str) -> None:
    tree = {"items": [{"status": {"message": f"got {secret}!", secret: [{"note": base64.b64encode(secret.encode()).decode()}]}}]}
    shown = json.dumps(Mask([secret]).document(tree), ensure_ascii=False)
    assert all(form(secret) not in shown for form in FORMS.values())


PLANTED = "planted-Value-0123"
OBJECTS: dict[str, Any] = {
    "Secret": {"kind": "Secret", "data": {"value": PLANTED}, "stringData": {"a": PLANTED}},
    "ConfigMap": {"kind": "ConfigMap", "data": {"script": PLANTED}, "binaryData": {"a": PLANTED}},
    "last applied": {"kind": "A", "metadata": {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": PLANTED}}},
    "managed fields": {"kind": "A", "metadata": {"managedFields": [{"f": PLANTED}]}},
    "files of a machine": {"kind": "KubeadmConfig", "spec": {"files": [{"path": "/etc/a", "content": PLANTED}]}},
    "users": {"kind": "KubeadmConfig", "spec": {"users": [{"name": "a", "passwd": PLANTED}]}},
    "commands": {"kind": "KubeadmConfig", "spec": {"preKubeadmCommands": [f"curl {PLANTED}"], "postKubeadmCommands": [PLANTED]}},
    "environment": {"kind": "Pod", "spec": {"containers": [{"env": [{"name": "ANY", "value": PLANTED}]}]}},
    "proxy": {"kind": "Pod", "spec": {"containers": [{"env": [{"name": "HTTPS_PROXY", "value": f"http://u:{PLANTED}@p:1"}]}]}},
    "arguments": {"kind": "Pod", "spec": {"containers": [{"args": ["--token", PLANTED, f"--password={PLANTED}"]}]}},
    "join token": {"kind": "KubeadmConfig", "spec": {"joinConfiguration": {"discovery": {"bootstrapToken": {"token": PLANTED}}}}},
    "licence": {"kind": "Cluster", "spec": {"licenseToken": PLANTED}},
    "registry header": {"host": {"https://r/v2": {"header": {"Authorization": f"Basic {PLANTED}"}}}},
    "URL": {"status": {"message": f"GET https://user:{PLANTED}@registry.lan/v2/ failed"}},
}


@pytest.mark.parametrize("name", OBJECTS)
def test_a_secret_that_is_not_known_is_removed_by_its_place(name: str) -> None:
    shown = json.dumps(Mask([]).document({"items": [OBJECTS[name]]}))
    assert PLANTED not in shown


def test_what_a_diagnosis_needs_is_left() -> None:
    message = "container dev-cp: exit status 125, see https://172.18.0.3:6443/healthz"
    one = {"kind": "Machine", "metadata": {"name": "dev-cp"}, "status": {"conditions": [{"type": "Ready", "message": message}]}}
    assert Mask(["another-secret"]).document({"items": [one]}) == {"items": [one]}
    pod = {"env": [{"name": "NO_PROXY", "value": "10.0.0.0/8"}, {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "a"}}}]}
    assert redact.clean(pod) == pod


def test_secrets_are_found_where_they_are_kept() -> None:
    key = "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIBbH0123456789abcdef\n-----END EC PRIVATE KEY-----\n"
    text = f"users:\n- name: a\n  user:\n    client-key-data: {base64.b64encode(key.encode()).decode()}\n    token: abc.def-ghi\n"
    found = list(redact.kubeconfig_secrets(text))
    assert key in found and "abc.def-ghi" in found
    assert "MHcCAQEEIBbH0123456789abcdef" not in Mask(found).text("line MHcCAQEEIBbH0123456789abcdef of a key")
    secrets = {"items": [{"data": {"password": base64.b64encode(b"planted").decode(), "namespace": "ZGVmYXVsdA==", "bad": "%"}}, {}]}
    assert list(redact.secret_values(secrets)) == ["planted"]
    assert list(redact.secret_values([])) == []
    environment = {"REGISTRY_PASSWORD": "planted", "HTTPS_PROXY": "http://u:pl%40nted@p:1", "http_proxy": "http://[", "HOME": "/root"}
    assert list(redact.environment_secrets(environment)) == ["planted", "pl%40nted", "pl@nted"]

# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""ConfigMaps and nodes, as the access of nodes to a cluster needs them. Runs on the controller."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Union

from .client import KubernetesClient, KubernetesError

_CONFIG_MAPS = "/api/v1/namespaces/{0}/configmaps"


_WRONG_CLUSTER = "Refused"
"""The reason of errors after which nothing may continue: the credentials are for another cluster."""


def connect(options: Mapping[str, Any], cluster: Mapping[str, Any], is_needed: bool) -> ConfigMaps:
    """Connect to the API server of a cluster, and check that it answers. options: those of AWS and of C(client.OPTIONS).

    is_needed: whether a failure is raised as C(KubernetesError). Otherwise C(unreachable) says what failed, unless it is another cluster.
    """
    try:
        found = ConfigMaps(KubernetesClient(options, cluster))
        found.check()
    except KubernetesError as error:
        if is_needed or error.reason == _WRONG_CLUSTER:
            raise
        return ConfigMaps(None, str(error))
    return found


class ConfigMaps:
    """The ConfigMaps of one cluster. The methods raise C(KubernetesError). unreachable: why there is no connection, '' if there is one."""

    def __init__(self, api: Optional[KubernetesClient], unreachable: str = "") -> None:
        self._api: Any = api
        self.unreachable = unreachable

    def check(self) -> None:
        """Raise C(KubernetesError) if ConfigMaps of kube-system cannot be read."""
        self.find("kube-system", "aws-auth")

    def find(self, namespace: str, name: str) -> Dict[str, Any]:
        """A ConfigMap, {} if there is none."""
        try:
            found: Dict[str, Any] = self._api.get(f"{_CONFIG_MAPS.format(namespace)}/{name}")
        except KubernetesError as error:
            if error.status == 404:
                return {}
            raise
        return found

    def write(self, namespace: str, name: str, body: Mapping[str, Any], is_new: bool) -> bool:
        """Create a ConfigMap, or merge C(body) into it. False if another program was faster: then read it again.

        To merge, C(body) needs the C(resourceVersion) that was read.
        """
        path = _CONFIG_MAPS.format(namespace)
        try:
            if is_new:
                self._api.create(path, body)
            else:
                self._api.patch(f"{path}/{name}", body)
        except KubernetesError as error:
            if error.status == 409:
                return False
            raise
        return True

    def linux_nodes(self) -> Union[int, str]:
        """Whether there are Linux nodes (1) or not (0), or why that is not known."""
        try:
            found = self._api.get("/api/v1/nodes", labelSelector="kubernetes.io/os=linux", limit=1)
        except KubernetesError as error:
            return str(error)
        return len(found.get("items") or [])

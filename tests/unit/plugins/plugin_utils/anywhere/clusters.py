# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Complete files of clusters, one for each provider, without a problem; and changes of them."""

from __future__ import annotations

import copy
from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import yaml

API_VERSION = "anywhere.eks.amazonaws.com/v1alpha1"
CA = "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n"
KEY = "ssh-ed25519 AAAA user"
DELETE: Any = object()
"""The value of a change that removes a field."""

Documents = list[dict[str, Any]]
Change = tuple[str, str, Any]
"""Kind of the document, path of the field such as C(spec.workerNodeGroupConfigurations.0.count), and the value."""


def document(kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    """A document."""
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": name}, "spec": spec}


def _cluster(provider: str, machines: str | None, **spec: Any) -> dict[str, Any]:
    plane: dict[str, Any] = {"count": 3}
    workers: dict[str, Any] = {"name": "md-0", "count": 2}
    if machines:
        plane |= {"endpoint": {"host": "10.0.0.10"}, "machineGroupRef": {"kind": machines, "name": "cp"}}
        workers["machineGroupRef"] = {"kind": machines, "name": "md"}
    return document(
        "Cluster",
        "dev",
        {
            "kubernetesVersion": "1.34",
            "clusterNetwork": {
                "cniConfig": {"cilium": {}},
                "pods": {"cidrBlocks": ["192.168.0.0/16"]},
                "services": {"cidrBlocks": ["10.96.0.0/12"]},
            },
            "controlPlaneConfiguration": plane,
            "datacenterRef": {"kind": provider, "name": "dev"},
            "managementCluster": {"name": "dev"},
            "workerNodeGroupConfigurations": [workers],
            **spec,
        },
    )


def _vsphere() -> Documents:
    machine = {
        "datastore": "/dc/datastore/ds",
        "folder": "/dc/vm/dev",
        "resourcePool": "*/Resources",
        "template": "/dc/vm/ubuntu-1-34",
        "osFamily": "ubuntu",
        "diskGiB": 25,
        "numCPUs": 2,
        "memoryMiB": 8192,
        "users": [{"name": "capv", "sshAuthorizedKeys": [KEY]}],
    }
    etcd = {"count": 3, "machineGroupRef": {"kind": "VSphereMachineConfig", "name": "etcd"}}
    datacenter = {
        "datacenter": "dc",
        "network": "/dc/network/vms",
        "server": "vcenter.example.com",
        "thumbprint": "AA:BB",
        "insecure": False,
    }
    return [
        _cluster("VSphereDatacenterConfig", "VSphereMachineConfig", externalEtcdConfiguration=etcd),
        document("VSphereDatacenterConfig", "dev", datacenter),
        *(document("VSphereMachineConfig", name, copy.deepcopy(machine)) for name in ("cp", "md", "etcd")),
    ]


def _tinkerbell() -> Documents:
    def machine(label: str) -> dict[str, Any]:
        return {"hardwareSelector": {"type": label}, "osFamily": "ubuntu", "users": [{"name": "ec2-user", "sshAuthorizedKeys": [KEY]}]}

    datacenter = {"tinkerbellIP": "10.0.0.11", "osImageURL": "https://example.com/ubuntu-2204-1.34.gz"}
    return [
        _cluster("TinkerbellDatacenterConfig", "TinkerbellMachineConfig"),
        document("TinkerbellDatacenterConfig", "dev", datacenter),
        document("TinkerbellMachineConfig", "cp", machine("cp")),
        document("TinkerbellMachineConfig", "md", machine("worker")),
    ]


def _nutanix() -> Documents:
    machine = {
        "osFamily": "ubuntu",
        "vcpusPerSocket": 1,
        "vcpuSockets": 2,
        "memorySize": "8Gi",
        "systemDiskSize": "40Gi",
        "image": {"type": "name", "name": "ubuntu-1-34"},
        "cluster": {"type": "name", "name": "element"},
        "subnet": {"type": "uuid", "uuid": "f000-00"},
    }
    return [
        _cluster("NutanixDatacenterConfig", "NutanixMachineConfig"),
        document("NutanixDatacenterConfig", "dev", {"endpoint": "prism.example.com", "port": 9440}),
        *(document("NutanixMachineConfig", name, copy.deepcopy(machine)) for name in ("cp", "md")),
    ]


def _snow() -> Documents:
    def machine() -> dict[str, Any]:
        reference = {"kind": "SnowIPPool", "name": "pool"}
        interface = {"index": 1, "primary": True, "ipPoolRef": reference}
        return {"devices": ["10.0.0.50"], "osFamily": "ubuntu", "network": {"directNetworkInterfaces": [interface]}}

    pool = {"ipStart": "10.0.0.100", "ipEnd": "10.0.0.120", "subnet": "10.0.0.0/24", "gateway": "10.0.0.1"}
    return [
        _cluster("SnowDatacenterConfig", "SnowMachineConfig"),
        document("SnowDatacenterConfig", "dev", {"identityRef": {"kind": "Secret", "name": "snow"}}),
        *(document("SnowMachineConfig", name, machine()) for name in ("cp", "md")),
        document("SnowIPPool", "pool", {"pools": [pool]}),
    ]


def _docker() -> Documents:
    return [_cluster("DockerDatacenterConfig", None), document("DockerDatacenterConfig", "dev", {})]


def _cloudstack() -> Documents:
    zone = {
        "name": "zone",
        "credentialsRef": "global",
        "zone": {"name": "zone1", "network": {"name": "net1"}},
        "domain": "domain1",
        "managementApiEndpoint": "https://cloudstack.example.com/client/api",
    }
    machine = {"template": {"name": "rhel-1-34"}, "computeOffering": {"name": "large"}}
    return [
        _cluster("CloudStackDatacenterConfig", "CloudStackMachineConfig"),
        document("CloudStackDatacenterConfig", "dev", {"availabilityZones": [zone]}),
        *(document("CloudStackMachineConfig", name, copy.deepcopy(machine)) for name in ("cp", "md")),
    ]


_FILES = {
    "docker": _docker,
    "vsphere": _vsphere,
    "tinkerbell": _tinkerbell,
    "nutanix": _nutanix,
    "snow": _snow,
    "cloudstack": _cloudstack,
}
PROVIDERS = tuple(_FILES)


def documents(provider: str, *changes: Change) -> Documents:
    """The documents of a complete file, with changes."""
    found = _FILES[provider]()
    for kind, path, value in changes:
        change(next(one for one in found if one["kind"] == kind), path, value)
    return found


def change(tree: Any, path: str, value: Any) -> None:
    """Set or remove one field. Fields above it that are missing become mappings."""
    *above, last = path.split(".")
    for key in above:
        tree = tree[int(key)] if isinstance(tree, list) else tree.setdefault(key, {})
    key = int(last) if isinstance(tree, list) else last
    if value is DELETE:
        del tree[key]
    elif isinstance(tree, list) and key == len(tree):
        tree.append(value)
    else:
        tree[key] = value


def dump(found: Documents) -> str:
    """Documents as the text of a file."""
    return "---\n".join(yaml.dump(one) for one in found)


def file(provider: str, *changes: Change) -> str:
    """The text of a complete file, with changes."""
    return dump(documents(provider, *changes))


HARDWARE_HEADER = "hostname,bmc_ip,bmc_username,bmc_password,mac,ip_address,netmask,gateway,nameservers,labels,disk"


def hardware(count: int = 5, *, planes: int = 3, **cells: str) -> str:
    """A CSV file of hardware: first machines of the control plane, then workers. cells: replace cells of the first machine."""
    lines = [HARDWARE_HEADER]
    for number in range(1, count + 1):
        row = {
            "hostname": f"machine{number}",
            "bmc_ip": f"10.1.0.{number}",
            "bmc_username": "root",
            "bmc_password": "secret-of-bmc",
            "mac": f"CC:48:3A:00:00:{number:02X}",
            "ip_address": f"10.0.0.{100 + number}",
            "netmask": "255.255.255.0",
            "gateway": "10.0.0.1",
            "nameservers": "8.8.8.8|8.8.4.4",
            "labels": "type=cp" if number <= planes else "type=worker",
            "disk": "/dev/sda",
        }
        lines.append(",".join((row | (cells if number == 1 else {})).values()))
    return "\n".join(lines) + "\n"

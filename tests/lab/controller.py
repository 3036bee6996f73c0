# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What EKS runs beside the API server, as far as a joining node sees it.

    python -m ….lab.run controller LAB.json

Serving certificates: a request for kubernetes.io/kubelet-serving is approved when it comes from the node that it is for and every name and
address in it belongs to that node's EC2 instance; otherwise it stays pending, and this program's log says why. kube-controller-manager
signs what is approved.

Cloud provider: a Node with the taint node.cloudprovider.kubernetes.io/uninitialized gets the labels of its instance as from a real one, a
provider ID if kubelet gave none, and loses the taint. Addresses are left as kubelet set them.
"""

from __future__ import annotations

import base64
import http.client
import json
import threading
import time
from collections.abc import Callable
from pathlib import Path

from cryptography import x509
from cryptography.x509.oid import NameOID

from .api import Api, ApiError, Object
from .aws import Ec2
from .progress import LabError

CSRS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
NODES = "/api/v1/nodes"
SERVING = "kubernetes.io/kubelet-serving"
UNINITIALIZED = "node.cloudprovider.kubernetes.io/uninitialized"
USER = "system:node:"
USAGES = {"digital signature", "key encipherment", "server auth"}


def reason_against(spec: Object, ec2: Ec2) -> str:
    """The reason not to approve a kubelet-serving request, or ''. `spec` is that of the CSR object."""
    user = spec.get("username", "")
    if not user.startswith(USER) or "system:nodes" not in spec.get("groups", []):
        return f"{user!r} is not a node"
    if not USAGES.issuperset(spec["usages"]) or "server auth" not in spec["usages"]:
        return f"usages {spec['usages']}"
    asked = x509.load_pem_x509_csr(base64.b64decode(spec["request"]))
    subject = [(attribute.oid, attribute.value) for attribute in asked.subject]
    if sorted(subject, key=str) != sorted([(NameOID.COMMON_NAME, user), (NameOID.ORGANIZATION_NAME, "system:nodes")], key=str):
        return f"subject {asked.subject.rfc4514_string()} is not that of {user}"
    instance = ec2.find(user.removeprefix(USER))
    if instance is None:
        return f"no running instance has the private DNS name {user.removeprefix(USER)}"
    try:
        names = asked.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return "no names at all"
    allowed = {x509.DNSName: [instance["name"]], x509.IPAddress: [instance["address"], instance["address6"]]}
    wrong = [str(name.value) for name in names if str(name.value) not in allowed.get(type(name), ())]
    return f"not of instance {instance['id']}: {', '.join(wrong)}" if wrong else ""


def approve(api: Api, ec2: Ec2, request: Object) -> None:
    """Approve a valid request. Leave any other one pending and log the reason."""
    name, conditions = request["metadata"]["name"], request.get("status", {}).get("conditions", [])
    if request["spec"]["signerName"] != SERVING or conditions:
        return
    against = reason_against(request["spec"], ec2)
    if against:
        log(f"{name} stays pending: {against}")
        return
    condition = {"type": "Approved", "status": "True", "reason": "InstanceMatches", "message": "names and addresses are the instance's"}
    request.setdefault("status", {})["conditions"] = [condition]
    api.call("PUT", f"{CSRS}/{name}/approval", request)
    log(f"{name} approved for {request['spec']['username']}")


def initialize(api: Api, ec2: Ec2, node: Object) -> None:
    """Initialize a Node as the cloud provider does, if it still waits for that."""
    taints = node["spec"].get("taints", [])
    if not any(taint["key"] == UNINITIALIZED for taint in taints):
        return
    name = node["metadata"]["name"]
    instance = ec2.find(name)
    if instance is None:
        log(f"{name} is not an instance: it stays uninitialized")
        return
    labels = {
        "node.kubernetes.io/instance-type": instance["type"],
        "topology.kubernetes.io/zone": instance["zone"],
        "topology.kubernetes.io/region": ec2.region,
        # The cloud provider writes these older names too.
        "beta.kubernetes.io/instance-type": instance["type"],
        "failure-domain.beta.kubernetes.io/zone": instance["zone"],
        "failure-domain.beta.kubernetes.io/region": ec2.region,
    }
    remaining = [taint for taint in taints if taint["key"] != UNINITIALIZED]
    # With the resourceVersion, so that taints that are set meanwhile are not lost.
    metadata = {"labels": labels, "resourceVersion": node["metadata"]["resourceVersion"]}
    provider_id = node["spec"].get("providerID") or f"aws:///{instance['zone']}/{instance['id']}"
    api.patch(f"{NODES}/{name}", {"metadata": metadata, "spec": {"taints": remaining, "providerID": provider_id}})
    log(f"{name} initialized as {instance['id']}")


def follow(api: Api, path: str, act: Callable[[Object], None]) -> None:
    """Call `act` with every object that is added or changed, forever."""
    while True:
        try:
            for kind, found in api.watch(path):
                if kind != "DELETED":
                    _try(act, found)
        except (OSError, http.client.HTTPException, ApiError, LabError, ValueError) as error:
            log(f"{path}: {error}")
        time.sleep(0.2)


def _try(act: Callable[[Object], None], found: Object) -> None:
    try:
        act(found)
    except ApiError as error:
        # The object has changed meanwhile: the watch reports that change next.
        if error.status not in (404, 409):
            log(f"{found['metadata']['name']}: {error}")


def log(message: str) -> None:
    print(f"{time.time():.3f} {message}", flush=True)


def main(state: str) -> None:
    content = json.loads(Path(state).read_text())
    api = Api(content["endpoint"], content["authority"], content["token"])
    ec2 = Ec2(content["aws"], content["region"])
    threading.Thread(target=follow, args=(api, CSRS, lambda found: approve(api, ec2, found)), daemon=True).start()
    follow(api, NODES, lambda found: initialize(api, ec2, found))

# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubelet-config.json as the Amazon Linux 2 image keeps it: the base that the image ships, and the edits that its bootstrap script makes.

    kubelet_config.py base PATH                   write the base
    kubelet_config.py edit PATH key=json…         set top-level keys, every other key stays
    kubelet_config.py max-pods TYPE               from /etc/eks/eni-max-pods.txt; nothing when the type is unknown
    kubelet_config.py reserved MAX_PODS VCPUS     the kubeReserved mapping as JSON

Formulas: cpu 6 % of the first core, 1 % of the second, 0.5 % of the next two, 0.25 % of the rest; memory 11 MiB a pod + 255 MiB.
"""

import json
import sys

BASE = {
    "kind": "KubeletConfiguration",
    "apiVersion": "kubelet.config.k8s.io/v1beta1",
    "address": "0.0.0.0",
    "authentication": {
        "anonymous": {"enabled": False},
        "webhook": {"cacheTTL": "2m0s", "enabled": True},
        "x509": {"clientCAFile": "/etc/kubernetes/pki/ca.crt"},
    },
    "authorization": {"mode": "Webhook", "webhook": {"cacheAuthorizedTTL": "5m0s", "cacheUnauthorizedTTL": "30s"}},
    "clusterDomain": "cluster.local",
    "hairpinMode": "hairpin-veth",
    "readOnlyPort": 0,
    "cgroupDriver": "cgroupfs",
    "cgroupRoot": "/",
    "featureGates": {"RotateKubeletServerCertificate": True},
    "protectKernelDefaults": True,
    "serializeImagePulls": False,
    "serverTLSBootstrap": True,
    "tlsCipherSuites": [
        f"TLS_{exchange}_WITH_{cipher}"
        for exchange, ciphers in (
            ("ECDHE_ECDSA", ("AES_128_GCM_SHA256", "AES_256_GCM_SHA384", "CHACHA20_POLY1305")),
            ("ECDHE_RSA", ("AES_128_GCM_SHA256", "AES_256_GCM_SHA384", "CHACHA20_POLY1305")),
            ("RSA", ("AES_128_GCM_SHA256", "AES_256_GCM_SHA384")),
        )
        for cipher in ciphers
    ],
}


def write(path, document):
    with open(path, "w", encoding="utf-8") as handle:
        json.dump(document, handle, indent=2)
        handle.write("\n")


def cpu(cores):
    millis, left = 0, cores * 1000
    for width, share in ((1000, 600), (1000, 100), (2000, 50), (left, 25)):
        part = min(width, left)
        millis, left = millis + part * share // 10000, left - part
    return millis


def main(verb, *words):
    if verb == "base":
        write(words[0], BASE)
    elif verb == "edit":
        with open(words[0], encoding="utf-8") as handle:
            document = json.load(handle)
        for word in words[1:]:
            key, _unused, value = word.partition("=")
            document[key] = json.loads(value)
        write(words[0], document)
    elif verb == "max-pods":
        with open("/etc/eks/eni-max-pods.txt", encoding="utf-8") as handle:
            for line in handle:
                if line.startswith(words[0]) and not line.startswith("#"):
                    print(line.split()[1])
                    break
    elif verb == "reserved":
        pods, cores = (int(word) for word in words)
        print(json.dumps({"cpu": f"{cpu(cores)}m", "ephemeral-storage": "1Gi", "memory": f"{11 * pods + 255}Mi"}))


if __name__ == "__main__":
    main(*sys.argv[1:])

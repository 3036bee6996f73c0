# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A kubelet that only remembers: its words, its environment and what the files it was given hold. Then it stays until stopped.

Where /etc/nodelab/kubelet-healthy exists it also says ok at http://127.0.0.1:10248/healthz, as a kubelet that runs well does, and at
/configz what it was started with: its files, merged, and the flags for pods, DNS and labels.
"""

import os
import signal
import sys

sys.path.insert(0, "/opt/nodelab")
from recording import content, record

FILES = ("--config", "--kubeconfig", "--bootstrap-kubeconfig", "--image-credential-provider-config")


def named(flag, words):
    """The values of a flag in both spellings, --flag=value and --flag value."""
    for index, word in enumerate(words):
        if word.startswith(flag + "="):
            yield word[len(flag) + 1 :]
        elif word == flag and index + 1 < len(words):
            yield words[index + 1]


def merged(base, patch):
    """RFC 7396, as kubelet merges its drop-ins."""
    if not isinstance(patch, dict):
        return patch
    result = dict(base) if isinstance(base, dict) else {}
    for key, value in patch.items():
        result[key] = merged(result.get(key), value)
    return {key: value for key, value in result.items() if value is not None}


def configuration(words, paths):
    """The configuration in force. Labels are not part of it in a real kubelet."""
    import contextlib
    import json

    found = {}
    for path in paths:
        with contextlib.suppress(ValueError):
            found = merged(found, json.loads(content(path) or "{}"))
    for value in named("--max-pods", words):
        found["maxPods"] = int(value)
    for value in named("--cluster-dns", words):
        found["clusterDNS"] = value.split(",")
    for value in named("--node-labels", words):
        found["labels"] = dict(pair.split("=", 1) for pair in value.split(",") if "=" in pair)
    return json.dumps({"kubeletconfig": found}).encode()


def serve(config):
    """Say ok, until stopped."""
    # Two thirds of the time that a start would take otherwise, and most are without it.
    import http.server

    class Health(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            answer = {"/healthz": b"ok", "/configz": config}.get(self.path)
            self.send_response(404 if answer is None else 200)
            self.end_headers()
            self.wfile.write(answer or b"")

    http.server.HTTPServer(("127.0.0.1", 10248), Health).serve_forever()


def main():
    words = sys.argv[1:]
    if words == ["--version"]:
        print(f"Kubernetes {os.environ.get('KUBELET_VERSION') or (content('/etc/nodelab/kubelet-version') or 'v1.30.14').strip()}")
        return
    paths = [path for flag in FILES for path in named(flag, words)]
    for folder in named("--config-dir", words):
        if os.path.isdir(folder):
            paths += [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
    record("kubelet", argv=words, environment=dict(os.environ), files={path: content(path) for path in paths}, pid=os.getpid())
    if os.path.exists("/etc/nodelab/kubelet-healthy"):
        configs = [*named("--config", words)][:1] + [path for path in paths if os.path.dirname(path) in [*named("--config-dir", words)]]
        serve(configuration(words, configs))
    while True:
        signal.pause()


main()

# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of the instance metadata service that nodes ask for, version 2 only.

Imitated: a token comes from PUT /latest/api/token with a lifetime header (1..21600 s, else 400); every other request needs it (else 401);
unknown paths are 404. Every request is one JSON line in /run/nodelab/imds.jsonl: method, path, status.
What it answers is overridden key by key with /etc/nodelab/imds.json ({"meta-data/instance-id": "i-…"}).
User data is /etc/nodelab/user-data; 404 where that does not exist, as for an instance without any.
"""

import http.server
import json
import os
import secrets
import socket
import time

OWN = "/etc/nodelab/imds.json"
USER_DATA = "/etc/nodelab/user-data"
LOG = "/run/nodelab/imds.jsonl"
MAC = "0a:58:0a:00:00:05"

FACTS = {
    "meta-data/instance-id": "i-1234567890abcdef0",
    "meta-data/instance-type": "m5.large",
    "meta-data/instance-life-cycle": "on-demand",
    "meta-data/ami-id": "ami-0123456789abcdef0",
    "meta-data/hostname": "ip-10-0-0-5.eu-central-1.compute.internal",
    "meta-data/local-hostname": "ip-10-0-0-5.eu-central-1.compute.internal",
    "meta-data/local-ipv4": "10.0.0.5",
    "meta-data/mac": MAC,
    "meta-data/network/interfaces/macs/": MAC + "/",
    f"meta-data/network/interfaces/macs/{MAC}/ipv6s": "2001:db8::5",
    f"meta-data/network/interfaces/macs/{MAC}/vpc-ipv4-cidr-blocks": "10.0.0.0/16",
    "meta-data/placement/availability-zone": "eu-central-1a",
    "meta-data/placement/availability-zone-id": "euc1-az2",
    "meta-data/placement/region": "eu-central-1",
    "meta-data/services/domain": "amazonaws.com",
    "meta-data/services/partition": "aws",
}


def facts():
    known = dict(FACTS)
    if os.path.exists(OWN):
        with open(OWN, encoding="utf-8") as handle:
            known.update(json.load(handle))
    identity = {
        "accountId": "111122223333",
        "architecture": "x86_64",
        "availabilityZone": known["meta-data/placement/availability-zone"],
        "imageId": known["meta-data/ami-id"],
        "instanceId": known["meta-data/instance-id"],
        "instanceType": known["meta-data/instance-type"],
        "pendingTime": "2026-01-01T00:00:00Z",
        "privateIp": known["meta-data/local-ipv4"],
        "region": known["meta-data/placement/region"],
        "version": "2017-09-30",
    }
    known.setdefault("dynamic/instance-identity/document", json.dumps(identity, indent=2))
    return known


TOKENS = {}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def reply(self, status, body=b"", headers=()):
        # Recorded before it is sent: a test reads the records as soon as it has the answer.
        line = json.dumps({"method": self.command, "path": self.path, "status": status})
        with open(LOG, "a", encoding="utf-8") as handle:
            handle.write(line + "\n")
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_PUT(self):
        lifetime = self.headers.get("X-aws-ec2-metadata-token-ttl-seconds", "")
        if self.path != "/latest/api/token":
            return self.reply(404)
        if not (lifetime.isascii() and lifetime.isdigit() and 1 <= int(lifetime) <= 21600):
            return self.reply(400)
        token = secrets.token_urlsafe(40)
        TOKENS[token] = time.monotonic() + int(lifetime)
        return self.reply(200, token.encode(), [("X-aws-ec2-metadata-token-ttl-seconds", lifetime)])

    def do_GET(self):
        if TOKENS.get(self.headers.get("X-aws-ec2-metadata-token", ""), 0) < time.monotonic():
            return self.reply(401)
        version, _unused, wanted = self.path.lstrip("/").partition("/")
        if version not in ("latest", "2021-03-23", "2018-09-24"):
            return self.reply(404)
        if wanted == "user-data":
            if not os.path.exists(USER_DATA):
                return self.reply(404)
            with open(USER_DATA, "rb") as handle:
                return self.reply(200, handle.read())
        value = facts().get(wanted)
        return self.reply(404) if value is None else self.reply(200, value.encode())

    def log_message(self, *words):
        pass


def ready():
    address = os.environ.get("NOTIFY_SOCKET", "")
    if address:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
            notify.sendto(b"READY=1", "\0" + address[1:] if address.startswith("@") else address)


def main():
    os.makedirs(os.path.dirname(LOG), exist_ok=True)
    open(LOG, "a").close()
    server = http.server.ThreadingHTTPServer(("169.254.169.254", 80), Handler)
    ready()
    server.serve_forever()


main()

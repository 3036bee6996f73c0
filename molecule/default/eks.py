# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A stand-in for the EKS API: it answers every request with the DescribeCluster response of a cluster named demo."""

from __future__ import annotations

import http.server
import json
import os
import socket

CLUSTER = {
    "name": "demo",
    "status": "ACTIVE",
    "version": "1.32",
    "endpoint": "https://eks.example.com",
    "kubernetesNetworkConfig": {"serviceIpv4Cidr": "10.200.0.0/16", "ipFamily": "ipv4"},
    "certificateAuthority": {"data": "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUIKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo="},
}


class Handler(http.server.BaseHTTPRequestHandler):
    """GET /clusters/demo."""

    def do_GET(self) -> None:
        found = self.path == "/clusters/demo"
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps({"cluster": CLUSTER} if found else {}).encode())


server = http.server.ThreadingHTTPServer(("", 8080), Handler)
with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
    notify.sendto(b"READY=1", os.environ["NOTIFY_SOCKET"].replace("@", "\0", 1))
server.serve_forever()

# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A program for a node of nodelab: `nodeadm config check` over many documents, one process each.

    nodeadm_driver.py NODEADM < questions > answers

A question is a line of JSON [SOURCE, BASE64]: SOURCE is imds (the document is the user data that the node's metadata service answers with)
or file. An answer is a line of JSON: null where nodeadm takes it, else what it complains of.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys

USER_DATA = "/etc/nodelab/user-data"
FILE = "/run/nodeadm-document"


def complaint(done):
    if done.returncode == 0:
        return None
    for line in done.stderr.decode("utf-8", "replace").splitlines():
        if line.startswith("{"):
            said = json.loads(line)
            if said["level"] == "fatal":
                return said["error"]
    return f"exited {done.returncode}: {done.stderr[-500:]!r}"


def main(nodeadm):
    os.makedirs(os.path.dirname(USER_DATA), exist_ok=True)
    for line in sys.stdin:
        source, content = json.loads(line)
        path, url = (USER_DATA, "imds://user-data") if source == "imds" else (FILE, "file://" + FILE)
        # In one step: the metadata service reads whenever it is asked.
        with open(path + ".new", "wb") as handle:
            handle.write(base64.b64decode(content))
        os.replace(path + ".new", path)
        command = [nodeadm, "config", "check", "-c", url]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
        print(json.dumps(complaint(done)), flush=True)


main(sys.argv[1])

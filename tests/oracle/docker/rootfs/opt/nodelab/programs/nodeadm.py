# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""nodeadm as far as the order of a boot is concerned: it records when it ran, with which words, and what it could see.

It configures nothing. What its sources held at that moment is recorded: user data from the metadata service, files of /etc/eks/nodeadm.d.
"""

import os
import sys
import urllib.request

sys.path.insert(0, "/opt/nodelab")
from recording import content, record

IMDS = "http://169.254.169.254/latest/"
DROP_INS = "/etc/eks/nodeadm.d"


def user_data():
    try:
        ask = urllib.request.Request(IMDS + "api/token", method="PUT", headers={"X-aws-ec2-metadata-token-ttl-seconds": "60"})
        with urllib.request.urlopen(ask, timeout=5) as answer:
            token = answer.read().decode()
        ask = urllib.request.Request(IMDS + "user-data", headers={"X-aws-ec2-metadata-token": token})
        with urllib.request.urlopen(ask, timeout=5) as answer:
            return answer.read().decode("utf-8", "surrogateescape")
    except OSError as error:
        return f"error: {error}"


def main():
    words = sys.argv[1:]
    record(
        "nodeadm",
        argv=words,
        environment=dict(os.environ),
        user_data=user_data() if "imds://user-data" in words else None,
        drop_ins={name: content(f"{DROP_INS}/{name}") for name in sorted(os.listdir(DROP_INS))} if os.path.isdir(DROP_INS) else {},
        cloud_init_done=os.path.exists("/run/cloud-init/result.json"),
    )
    os.makedirs("/run/nodeadm", exist_ok=True)


main()

# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""nodeadm as far as files and units go; every call is recorded with what its sources held at that moment.

    init [--skip config|run] [--config-source SOURCE]... [--config-cache PATH]
    config check, config dump [-o FILE]

init: the config phase writes what the real one writes, and fails without a complete cluster; the run phase restarts containerd and
kubelet and waits for them. --skip config with a cache: the config phase runs after all when the merged spec is another one.
Left out: AWS calls (names come from the metadata service), an Outpost's lines in /etc/hosts, hybrid nodes, SOCI.
"""

import argparse
import json
import os
import subprocess
import sys

sys.path.insert(0, "/opt/nodelab")
import nodeadm_config
import nodeadm_files
from recording import content, record

DROP_INS = "/etc/eks/nodeadm.d"


def arguments(words):
    parser = argparse.ArgumentParser(prog="nodeadm")
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("boot-hook")
    config = verbs.add_parser("config")
    config.add_argument("action", choices=("check", "dump"))
    config.add_argument("-o", "--output")
    init = verbs.add_parser("init")
    init.add_argument("-s", "--skip", action="append", default=[], choices=("config", "run"))
    init.add_argument("-d", "--daemon", action="append", default=[])
    for command in (config, init):
        command.add_argument("-c", "--config-source", action="append", default=[])
        command.add_argument("--config-cache")
    return parser.parse_args(words)


def remember(words, sources):
    user_data = None
    if "imds://user-data" in sources:
        try:
            user_data = (nodeadm_config.imds("user-data") or b"").decode("utf-8", "surrogateescape")
        except OSError as error:
            user_data = f"error: {error}"
    record(
        "nodeadm",
        argv=words,
        environment=dict(os.environ),
        user_data=user_data,
        drop_ins={name: content(f"{DROP_INS}/{name}") for name in sorted(os.listdir(DROP_INS))} if os.path.isdir(DROP_INS) else {},
        cloud_init_done=os.path.exists("/run/cloud-init/result.json"),
    )


def cached(path):
    """The spec of the last config phase; None where there was none."""
    text = content(path) if path else None
    return json.loads(text)["spec"] if text else None


def init(options):
    before = cached(options.config_cache)
    spec = nodeadm_config.read(options.config_source)
    if spec is None:
        spec = before
    nodeadm_config.check(spec)
    if "config" not in options.skip or (before is not None and spec != before):
        nodeadm_files.write_all(spec)
        if options.config_cache:
            nodeadm_files.write(options.config_cache, json.dumps({"spec": spec}))
    if "run" not in options.skip:
        os.makedirs("/run/nodeadm", exist_ok=True)
        open("/run/nodeadm/init", "w").close()
        storage = (spec.get("instance") or {}).get("localStorage") or {}
        if storage.get("strategy"):
            folder = ["--dir", storage["mountPath"]] if storage.get("mountPath") else []
            subprocess.run(["setup-local-disks", storage["strategy"].lower(), *folder], check=True)
        for daemon in ("containerd", "kubelet"):
            if not options.daemon or daemon in options.daemon:
                subprocess.run(["systemctl", "restart", daemon], check=True)


def config(options):
    spec = nodeadm_config.read(options.config_source)
    if options.action == "check":
        nodeadm_config.check(spec)
        return
    document = json.dumps({"kind": "NodeConfig", "apiVersion": nodeadm_config.API_VERSION, "metadata": {}, "spec": spec or {}}, indent=4)
    if options.output:
        nodeadm_files.write(options.output, document)
    else:
        print(document)


def main():
    words = sys.argv[1:]
    options = arguments(words)
    if options.verb == "boot-hook":
        remember(words, [])
        os.makedirs("/run/nodeadm", exist_ok=True)
        return
    options.config_source = options.config_source or ["imds://user-data"]
    remember(words, options.config_source)
    try:
        init(options) if options.verb == "init" else config(options)
    except (nodeadm_config.ConfigError, ValueError, OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"nodeadm: {error}")


main()

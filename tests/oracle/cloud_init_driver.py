# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A program for a node of nodelab: what cloud-init makes of many documents, in one process.

    cloud_init_driver.py < questions > answers

A question is a line of JSON with the document as base64. An answer is a line of JSON: what the scripts and boothooks printed, then what
the script of runcmd printed. cloud-init takes the document apart, fills in templates, merges cloud-configs and writes the script of runcmd;
the kernel decides which scripts can run.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import tempfile

from cloudinit import handlers, helpers, settings, user_data, util
from cloudinit.handlers import jinja_template
from cloudinit.handlers.boot_hook import BootHookPartHandler
from cloudinit.handlers.cloud_config import CloudConfigPartHandler

BOOT_HOOK_PREFIX = BootHookPartHandler.prefixes[0]


class NoSource:
    def get_instance_id(self):
        return "i-1"


def answer(document, folder):
    paths = helpers.Paths({"cloud_dir": folder, "run_dir": folder}, NoSource())
    os.makedirs(paths.get_ipath(), exist_ok=True)
    said = []
    configs = CloudConfigPartHandler(paths)
    configs.handle_part(None, handlers.CONTENT_START, None, None, settings.PER_ALWAYS, {})

    def run(text):
        script = os.path.join(folder, "script")
        with open(script, "wb") as handle:
            handle.write(text.replace(b"\r\n", b"\n"))
        os.chmod(script, 0o700)
        try:
            done = subprocess.run([script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=20, check=False)
        except OSError:
            return
        said.extend(done.stdout.decode().split())

    def part(_data, filename, payload, headers):
        kind = headers["Content-Type"].split(";")[0].strip().lower() if "Content-Type" in headers else "text/plain"
        if kind == "text/jinja2":
            payload = jinja_template.render_jinja_payload(payload, filename, {"v1": {"word": "a"}})
            kind = handlers.type_from_starts_with(payload) or "text/plain"
        if kind == "text/x-shellscript":
            run(payload if isinstance(payload, bytes) else payload.encode())
        elif kind == "text/cloud-boothook":
            run(boothook(payload))
        elif kind == "text/cloud-config":
            configs.handle_part(None, kind, filename, payload, settings.PER_ALWAYS, headers)

    handlers.walk(user_data.UserDataProcessor(paths).process(document), part, None)
    configs.handle_part(None, handlers.CONTENT_END, None, None, settings.PER_ALWAYS, {})
    with open(paths.get_ipath("cloud_config")) as handle:
        config = util.load_yaml(handle.read()) or {}
    try:
        commands = util.shellify(config.get("runcmd", []))
    except TypeError:
        return said
    run(util.encode_text(commands))
    return said


def boothook(payload):
    """As the handler of boothooks writes it: without its first line, if that has only the mark of a boothook."""
    return util.encode_text(util.strip_prefix_suffix(payload, prefix=BOOT_HOOK_PREFIX).lstrip())


for line in sys.stdin:
    with tempfile.TemporaryDirectory() as place:
        print(json.dumps(answer(base64.b64decode(json.loads(line)), place)), flush=True)

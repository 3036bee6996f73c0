# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""nodelab's metadata service, made slow or unreliable on demand.

/etc/nodelab/imds-faults.json is a list of faults, read anew for every request; the first that fits is it:
  path    the request's path begins with it ("/latest/" is everything, "/latest/api/token" the token alone)
  method  GET or PUT; without it, both
  delay   seconds to wait before anything else
  status  answer with this HTTP status and nothing more; 0 closes the connection without an answer; without it, the true answer follows
  times   only for so many requests that fit; without it, for all of them

A client beyond the instance's hop limit gets no answer to PUT /latest/api/token, but answers to other requests: a long delay of the
token is that.
"""

from __future__ import annotations

import http.server
import json
import runpy
import threading
import time

FAULTS = "/etc/nodelab/imds-faults.json"
LOCK = threading.Lock()
USED = {}


def fault(method, path):
    """The fault that this request meets, or {}."""
    try:
        with open(FAULTS, encoding="utf-8") as handle:
            faults = json.load(handle)
    except FileNotFoundError:
        return {}
    with LOCK:
        for candidate in faults:
            if not path.startswith(candidate["path"]) or candidate.get("method", method) != method:
                continue
            key = json.dumps(candidate, sort_keys=True)
            if USED.get(key, 0) >= candidate.get("times", float("inf")):
                continue
            USED[key] = USED.get(key, 0) + 1
            return candidate
    return {}


def faulty(handler):
    """A request handler that looks for a fault first."""

    def wrap(method):
        def answer(self):
            found = fault(self.command, self.path)
            time.sleep(found.get("delay", 0))
            if found.get("status") == 0:
                self.close_connection = True
                return None
            if "status" in found:
                return self.reply(found["status"])
            return method(self)

        return answer

    return type("Faulty", (handler,), {name: wrap(getattr(handler, name)) for name in ("do_GET", "do_PUT")})


class Server(http.server.ThreadingHTTPServer):
    def __init__(self, address, handler):
        super().__init__(address, faulty(handler))


# The program starts its server when it is run; it meets ours.
http.server.ThreadingHTTPServer = Server
runpy.run_path("/opt/nodelab/imds.py", run_name="__main__")

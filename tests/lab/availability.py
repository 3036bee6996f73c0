# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What users of a workload see during an upgrade: a client that asks it every 100 ms, and the number of its healthy pods.

with Client(space, "web") as client, HealthyPods(space, "web") as healthy:
    …
assert client.failures == [] and healthy.least >= 1
"""

from __future__ import annotations

import http.client
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from urllib.parse import urlencode

from .api import ApiError, Object
from .progress import LabError
from .workloads import Namespace, is_healthy

#: Seconds between two requests, and for each of them. The second only tells an answer from none: a busy machine is slow.
EVERY, TIMEOUT = 0.1, 5.0


class Watch:
    """The current objects of a kind with a label. `changed` is called with every change."""

    def __init__(self, space: Namespace, kind: str, labels: str) -> None:
        self._api, self._path, self._labels = space.lab.api, space.path(kind), labels
        self._objects: dict[str, Object] = {}
        self._ended = threading.Event()

    def objects(self) -> list[Object]:
        return list(self._objects.values())

    def changed(self) -> None:
        """Look at the objects after a change."""

    def start(self) -> None:
        """Return when the existing objects are known."""
        version = self._list()
        self._thread = threading.Thread(target=self._follow, args=(version,), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End with the next event: nothing waits for it."""
        self._ended.set()

    def _list(self) -> str:
        found = self._api.get(f"{self._path}?{urlencode({'labelSelector': self._labels})}")
        self._objects = {one["metadata"]["name"]: one for one in found["items"]}
        self.changed()
        return str(found["metadata"]["resourceVersion"])

    def _follow(self, version: str) -> None:
        while not self._ended.is_set():
            try:
                for event, found in self._api.watch(self._path, labels=self._labels, version=version):
                    if self._ended.is_set():
                        return
                    # In one step: other threads see the objects before or after.
                    rest = {name: one for name, one in self._objects.items() if name != found["metadata"]["name"]}
                    self._objects = rest if event == "DELETED" else {**rest, found["metadata"]["name"]: found}
                    self.changed()
                version = self._list()
            except (OSError, http.client.HTTPException, ApiError, ValueError):
                time.sleep(0.1)


class HealthyPods(Watch):
    """The least number of healthy pods of an app, counted at every change as the disruption controller counts."""

    def __init__(self, space: Namespace, app: str) -> None:
        super().__init__(space, "Pod", f"app={app}")
        self.least = sys.maxsize

    def changed(self) -> None:
        self.least = min(self.least, sum(is_healthy(found) for found in self.objects()))

    def __enter__(self) -> HealthyPods:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()


class Client:
    """Asks the ready endpoints of a service in turn, as kube-proxy would choose them: one attempt each, and no retry."""

    def __init__(self, space: Namespace, service: str) -> None:
        self._endpoints = Watch(space, "EndpointSlice", f"kubernetes.io/service-name={service}")
        self._pool = ThreadPoolExecutor(64)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._ended = threading.Event()
        self._began = 0.0
        #: How many requests were sent.
        self.requests = 0
        #: Those without an answer: seconds since the beginning, endpoint, reason.
        self.failures: list[tuple[float, str, str]] = []
        #: The pods that answered.
        self.pods: set[str] = set()

    def ready(self) -> list[str]:
        """The ready endpoints: HOST:PORT."""
        return sorted(
            f"{address}:{slice_['ports'][0]['port']}"
            for slice_ in self._endpoints.objects()
            for endpoint in slice_.get("endpoints") or []
            if endpoint.get("conditions", {}).get("ready")
            for address in endpoint["addresses"]
        )

    def _run(self) -> None:
        due = time.monotonic()
        while not self._ended.is_set():
            endpoints = self.ready()
            chosen = endpoints[self.requests % len(endpoints)] if endpoints else ""
            self.requests += 1
            self._pool.submit(self._ask, chosen)
            due = max(due + EVERY, time.monotonic())
            time.sleep(max(0.0, due - time.monotonic()))

    def _ask(self, endpoint: str) -> None:
        when = time.monotonic() - self._began
        try:
            if not endpoint:
                raise ConnectionError("no endpoint is ready")
            connection = http.client.HTTPConnection(endpoint, timeout=TIMEOUT)
            connection.request("GET", "/")
            answer = connection.getresponse()
            name = answer.read().decode().strip()
            connection.close()
            if answer.status != 200:
                raise ConnectionError(f"status {answer.status}")
            self.pods.add(name)
        except (OSError, http.client.HTTPException) as error:
            self.failures.append((round(when, 1), endpoint, f"{type(error).__name__}: {error}"))

    def __enter__(self) -> Client:
        self._endpoints.start()
        limit = time.monotonic() + 60
        while not self.ready():
            if time.monotonic() > limit:
                raise LabError("the service has no ready endpoint")
            time.sleep(0.05)
        self._began = time.monotonic()
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._ended.set()
        self._thread.join()
        self._pool.shutdown()
        self._endpoints.stop()

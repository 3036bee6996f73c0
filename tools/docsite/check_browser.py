# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Open pages in Chromium, at the width of a desktop and of a phone.

    .cache/venv-docs/bin/python tools/docsite/check_browser.py [--site DIRECTORY] [--pictures DIRECTORY] [PAGE...]

By default, the pages are those of the documentation site, out/site. Reports what axe-core finds, pages that are wider than the window,
and requests to other machines. Needs chromium, and axe-core below .cache/npm; "tools/setup.sh browser" installs both.
"""

from __future__ import annotations

import argparse
import base64
import json
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

import websocket

TOP = Path(__file__).resolve().parents[2]
SITE = TOP / "out" / "site"
AXE = TOP / ".cache" / "npm" / "node_modules" / "axe-core" / "axe.min.js"
SIZES = {"desktop": (1280, 900), "phone": (390, 844)}
WAIT_SECONDS = 120

RUN_AXE = """
axe.run({resultTypes: ["violations"]}).then(found => found.violations.map(v => [v.id, v.help, v.nodes.map(n => n.target.join(" "))]))
"""


class Browser:
    """Chromium without a window, and a connection to one of its tabs."""

    def __init__(self, folder: str) -> None:
        options = ("--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", "--remote-allow-origins=*")
        command = ["chromium", *options, f"--user-data-dir={folder}", "about:blank"]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._count = 0
        self._requests: list[str] = []
        port = self._port(Path(folder, "DevToolsActivePort"))
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json") as answer:
            tab = next(tab for tab in json.load(answer) if tab["type"] == "page")
        self._socket = websocket.create_connection(tab["webSocketDebuggerUrl"], timeout=WAIT_SECONDS)
        for domain in ("Page", "Network"):
            self.call(f"{domain}.enable")

    def _port(self, file: Path) -> str:
        deadline = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < deadline:
            if file.exists() and (lines := file.read_text().splitlines()):
                return lines[0]
            time.sleep(0.1)
        raise SystemExit("chromium did not start")

    def _receive(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(self._socket.recv())
        if message.get("method") == "Network.requestWillBeSent":
            self._requests.append(message["params"]["request"]["url"])
        return message

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the browser and return its result."""
        self._count += 1
        self._socket.send(json.dumps({"id": self._count, "method": method, "params": parameters}))
        while (message := self._receive()).get("id") != self._count:
            pass
        if "error" in message:
            raise SystemExit(f"{method}: {message['error']['message']}")
        result: dict[str, Any] = message["result"]
        return result

    def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression or promise."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        return found["result"].get("value")

    def open(self, page: Path, width: int, height: int) -> list[str]:
        """Open a page, and return the addresses on other machines that it asks for."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self._requests.clear()
        self.call("Page.navigate", url=page.as_uri())
        while self._receive().get("method") != "Page.loadEventFired":
            pass
        return [url for url in self._requests if not url.startswith(("file:", "data:"))]

    def picture(self, file: Path) -> None:
        """Save what the window shows."""
        file.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def close(self) -> None:
        """End the browser."""
        self._socket.close()
        self._process.terminate()
        self._process.wait(30)


def problems(browser: Browser, page: Path, size: str, pictures: Path | None, site: Path) -> list[str]:
    """Return what is wrong with a page of a site at a size."""
    found = [f"asks for {url}" for url in browser.open(page, *SIZES[size])]
    wide = browser.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    if wide > 0:
        found.append(f"is {wide} px wider than the window")
    if pictures:
        browser.picture(pictures / f"{page.stem}-{size}.png")
    browser.evaluate(f"{AXE.read_text(encoding='utf-8')}; null")
    violations = browser.evaluate(RUN_AXE)
    if violations is None:
        found.append("axe-core did not end")
    found += [f"{rule}: {text}: {', '.join(targets[:3])} ({len(targets)})" for rule, text, targets in violations or ()]
    return [f"{page.relative_to(site)}, {size}: {problem}" for problem in found]


def main(arguments: list[str]) -> int:
    """Check the pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pictures", type=Path, metavar="DIRECTORY", help="save a picture of each page")
    parser.add_argument("--site", type=Path, default=SITE, metavar="DIRECTORY", help="the directory of the pages (default: out/site)")
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="paths below the directory (default: every page)")
    options = parser.parse_args(arguments)
    site = options.site.resolve()
    pages = [site / name for name in options.pages] or sorted(site.rglob("*.html"))
    if not pages:
        raise SystemExit(f"{site} has no pages; for the documentation site, run make docs")
    if options.pictures:
        options.pictures.mkdir(parents=True, exist_ok=True)
    found: list[str] = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(folder)
        try:
            for page in pages:
                for size in SIZES:
                    found += problems(browser, page, size, options.pictures, site)
        finally:
            browser.close()
    print("\n".join([*found, f"{len(pages)} pages at {len(SIZES)} sizes: {len(found)} problems"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

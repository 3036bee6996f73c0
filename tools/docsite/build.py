# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Build the documentation site: the pages of docs, the reference of all plugins and roles, and a landing page, in one tree.

    .cache/venv-docs/bin/python tools/docsite/build.py [DIRECTORY]     # by default out/site; "make docs" does the same

Every warning of Sphinx is an error. The build needs no network, and the site works from file://.
"""

from __future__ import annotations

import html
import os
import posixpath
import re
import shutil
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import yaml

TOP = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
SOURCES = TOP / ".cache" / "docs"
REPOSITORY = "https://github.com/nodebootstrap/eks"
COLLECTION = "nodebootstrap.eks"
CHANGELOG = "changelog.md"

FAMILIES = {
    "al2023": "Amazon Linux 2023",
    "al2": "Amazon Linux 2",
    "ubuntu": "Ubuntu",
    "bottlerocket": "Bottlerocket",
    "windows": "Windows Server",
}

#: Labels of Ansible's own documentation that the reference uses.
ANSIBLE_LABELS = {
    "action_plugins": "plugins/action.html#action-plugins",
    "ansible_configuration_settings": "reference_appendices/config.html#ansible-configuration-settings",
    "common_return_values": "reference_appendices/common_return_values.html#common-return-values",
}

#: The lists of plugins and roles: page, title, kinds.
LISTS = (
    ("modules", "Modules", ("module",)),
    ("filters", "Filters and tests", ("filter", "test")),
    ("roles", "Roles", ("role",)),
)

_LINK = re.compile(r"(\]\()([^)\s]+)(\))")
_MARKER = re.compile(r"^<!-- (?:file|run|not run|output)\b.*?-->\n", re.MULTILINE)


def rewrite_links(text: str, name: str) -> str:
    """Return the text of a page in docs, with links to files that are not pages of the site as links to the repository."""

    def rewrite(match: re.Match[str]) -> str:
        target = match[2]
        path, hash_sign, anchor = target.partition("#")
        if not path or re.match(r"[a-z]+:", target):
            return match[0]
        full = posixpath.normpath(posixpath.join("docs", posixpath.dirname(name), path))
        if full == "docs/README.md":
            return f"{match[1]}index.md{match[3]}"
        if full == "CHANGELOG.md":
            return f"{match[1]}{CHANGELOG}{match[3]}"
        if posixpath.dirname(full) == "docs" and full.endswith(".md"):
            return match[0]
        kind = "tree" if (TOP / full).is_dir() else "blob"
        return f"{match[1]}{REPOSITORY}/{kind}/main/{full}{hash_sign}{anchor}{match[3]}"

    return _LINK.sub(rewrite, text)


def write_inventory(path: Path) -> None:
    """Write a Sphinx inventory with the labels of Ansible's documentation, so that the build needs no network."""
    lines = "".join(f"{label} std:label -1 {target} {label.replace('_', ' ').title()}\n" for label, target in ANSIBLE_LABELS.items())
    head = b"# Sphinx inventory version 2\n# Project: Ansible\n# Version: devel\n# The remainder of this file is compressed using zlib.\n"
    path.write_bytes(head + zlib.compress(lines.encode()))


def write_pages() -> None:
    """Write the pages of docs and the changelog."""
    for page in sorted((TOP / "docs").glob("*.md")):
        if page.name != "README.md":
            text = rewrite_links(page.read_text(encoding="utf-8"), page.name)
            (SOURCES / page.name).write_text(_MARKER.sub("", text), encoding="utf-8")
    text = (TOP / "CHANGELOG.md").read_text(encoding="utf-8")
    # Without its title and its table of contents, which repeat those of the page.
    (SOURCES / CHANGELOG).write_text("# Release notes\n\n" + text[text.index("<a id=") :], encoding="utf-8")


def landing_outputs() -> Iterator[tuple[str, str]]:
    """Render the input of the landing page with each family."""
    sys.path.insert(0, str(TOP / ".cache"))
    from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render_text

    given = yaml.safe_load((HERE / "landing.yml").read_text(encoding="utf-8"))
    for family in FAMILIES:
        yield family, render_text(given["eks_node_cluster"], {**given["eks_node_groups"][0], "family": family})


def tabs() -> str:
    """Return the outputs as tabs that need no JavaScript."""
    rows = []
    for number, (family, text) in enumerate(landing_outputs()):
        checked = " checked" if number == 0 else ""
        rows.append(
            f'<input type="radio" name="family" id="family-{family}"{checked}><label for="family-{family}">{FAMILIES[family]}</label>'
            f'<pre tabindex="0" role="region" aria-label="User data for {FAMILIES[family]}">{html.escape(text.strip())}</pre>'
        )
    return '<fieldset class="families"><legend>User data for</legend>\n' + "\n".join(rows) + "\n</fieldset>"


def readme_block(marker: str) -> str:
    """The block of the README after a comment that begins with C(marker). Tests run these blocks."""
    text = (TOP / "README.md").read_text(encoding="utf-8")
    found = re.search(rf"^<!-- {re.escape(marker)}[^\n]* -->\n```[a-z]*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    if found is None:
        raise SystemExit(f"README.md has no block with {marker}")
    return found[1]


def write_landing_page() -> None:
    """Write the landing page from its template, the drawing, its input, and what is really rendered from this input."""
    page = (HERE / "index.md").read_text(encoding="utf-8")
    drawing = re.sub(r"<!--.*?-->\n", "", (TOP / "docs" / "flow.svg").read_text(encoding="utf-8"), flags=re.DOTALL)
    given = (HERE / "landing.yml").read_text(encoding="utf-8")
    shown = "".join(line for line in given.splitlines(keepends=True) if not line.startswith(("---", "# ")))
    findings = {"defects": readme_block("file: web.userdata"), "findings": readme_block("output from: web.userdata:")}
    for name, value in {"drawing": drawing, "input": shown, "outputs": tabs(), **findings}.items():
        page = page.replace(f"@{name}@", value.strip())
    (SOURCES / "index.md").write_text(page, encoding="utf-8")


def write_reference(environment: dict[str, str]) -> None:
    """Let antsibull-docs write a page for each plugin and role, and write the lists of them."""
    folder = SOURCES / "reference"
    folder.mkdir(mode=0o755)
    command = ("antsibull-docs", "collection", "--use-current", "--squash-hierarchy", "--no-breadcrumbs", "--fail-on-error")
    subprocess.run([*command, "--dest-dir", str(folder), COLLECTION], check=True, env=environment)
    # They repeat the landing page.
    (folder / "index.rst").unlink()
    shutil.rmtree(folder / "docsite")
    for name, title, kinds in LISTS:
        pages = {path.stem: path.stem.removesuffix(f"_{kind}") for kind in kinds for path in sorted(folder.glob(f"*_{kind}.rst"))}
        rows = "\n".join(f"| [{short}]({stem}.rst) | {purpose(folder / f'{stem}.rst')} |" for stem, short in pages.items())
        entries = "\n".join(f"{short} <{stem}>" for stem, short in pages.items())
        text = f"# {title}\n\n| Name | Purpose |\n| --- | --- |\n{rows}\n\n```{{toctree}}\n:hidden:\n\n{entries}\n```\n"
        (folder / f"{name}.md").write_text(text, encoding="utf-8")


def purpose(page: Path) -> str:
    """Return the short description of a plugin: what follows the dash in the title of its page."""
    title = next(line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith(f"{COLLECTION}."))
    return title.partition(" -- ")[2]


def main(arguments: list[str]) -> int:
    """Build the site."""
    target = Path(arguments[0] if arguments else TOP / "out" / "site").resolve()
    shutil.rmtree(SOURCES, ignore_errors=True)
    shutil.rmtree(target, ignore_errors=True)
    SOURCES.mkdir(mode=0o755, parents=True)
    environment = {**os.environ, "ANSIBLE_COLLECTIONS_PATH": str(TOP / ".cache")}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment.get('PATH', '')}"
    write_inventory(SOURCES / "ansible_devel.inv")
    write_pages()
    write_landing_page()
    write_reference(environment)
    shutil.copy(HERE / "conf.py", SOURCES / "conf.py")
    shutil.copytree(HERE / "static", SOURCES / "_static")
    shutil.copytree(HERE / "templates", SOURCES / "_templates")
    sphinx = ("sphinx-build", "--quiet", "-W", "--keep-going", "-b", "html", "-d", str(TOP / ".cache" / "docs-trees"))
    status = subprocess.run([*sphinx, str(SOURCES), str(target)], check=False, env=environment).returncode
    if status == 0:
        print(f"{len(list(target.rglob('*.html')))} pages: {target / 'index.html'}")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

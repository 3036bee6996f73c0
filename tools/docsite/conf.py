# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of Sphinx for the documentation site. tools/docsite/build.py prepares its sources."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "nodebootstrap.eks"
copyright = "2026, nodebootstrap.eks contributors"
author = "nodebootstrap.eks contributors"
language = "en"
html_title = "nodebootstrap.eks"
html_short_title = "nodebootstrap.eks"

extensions = ["myst_parser", "sphinx.ext.intersphinx", "sphinx_antsibull_ext"]
myst_heading_anchors = 4
nitpicky = True
highlight_language = "none"

# build.py writes this inventory: a build needs no network.
intersphinx_mapping = {"ansible_devel": ("https://docs.ansible.com/projects/ansible/devel/", "ansible_devel.inv")}

html_theme = "sphinx_ansible_theme"
html_theme_options = {
    "display_version": False,
    "navigation_depth": 3,
    "show_extranav": False,
    "show_rtd_ethical_ads": False,
    "titles_only": True,
}
templates_path = ["_templates"]
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
# Its colours have enough contrast; those of the theme do not.
pygments_style = "default"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_use_index = False

_CODE = re.compile(r'(?<=<span class="pre">)[^<]+(?=</span>)')


def _allow_breaks(_app: Sphinx, _page: str, _template: str, context: dict[str, Any], _doctree: object) -> None:
    """Let code wrap after the punctuation of names and paths, and not within a word."""
    if "body" in context:
        context["body"] = _CODE.sub(lambda found: re.sub(r"(?<=[\w*])([._/=,-]+)(?=[\w*])", r"\1<wbr>", found[0]), context["body"])


def setup(app: Sphinx) -> None:
    app.connect("html-page-context", _allow_breaks)

# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A call of the laboratory's /etc/eks/bootstrap.sh, for the tests of the laboratory itself."""

from __future__ import annotations

import base64
from typing import Any

from nodelab import Al2Node, UbuntuNode
from nodelab.node import Output

BOOTSTRAP = "/etc/eks/bootstrap.sh"
JOIN = ("--apiserver-endpoint", "https://API.example", "--b64-cluster-ca", base64.b64encode(b"a certificate").decode())


def bootstrap(node: Al2Node | UbuntuNode, *words: str | bytes, **options: Any) -> Output:
    return node.exec([BOOTSTRAP, *words], **options)

# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the kubelet-eks snap does at start: stored settings become kubelet's words, then it becomes kubelet.

Every setting is --key=value (sorted by key: nothing may depend on their order); `args` comes last, split on blanks and nothing else:
quotes in it reach kubelet as they stand.
"""

import json
import os

with open("/var/lib/nodelab/snap.json", encoding="utf-8") as handle:
    settings = json.load(handle)
extra = str(settings.pop("args", "")).split()
words = [f"--{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in sorted(settings.items())]
os.execv("/usr/bin/kubelet", ["kubelet", *words, *extra])

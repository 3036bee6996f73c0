# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Only the call matters: recorded, success."""

import os
import sys

sys.path.insert(0, "/opt/nodelab")
from recording import record

record("mount-bpf-fs", argv=sys.argv[1:], environment=dict(os.environ))

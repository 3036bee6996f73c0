# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The AWS command line on a machine without credentials: recorded, then the failure that it would be."""

import sys

sys.path.insert(0, "/opt/nodelab")
from recording import record

record("aws", argv=sys.argv[1:])
sys.exit("Unable to locate credentials.")

# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab's own programs: python -m ….lab.run supervisor | aws | controller WORDS…"""

from __future__ import annotations

import os
import sys

from . import aws, controller, supervisor

PROGRAMS = {"supervisor": supervisor.main, "aws": aws.main, "controller": controller.main}

if __name__ == "__main__":
    os.umask(0o077)
    PROGRAMS[sys.argv[1]](*sys.argv[2:])

# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A stand-in for the get-pip script that ansible-test would fetch from a host outside the package registries.

ansible-test runs it with the Python of a fresh virtual environment and the requirement that it wants (pip, setuptools, wheel).
"""

from __future__ import annotations

import subprocess
import sys

# A process of its own: inside this one, ensurepip would leave PIP_CONFIG_FILE=/dev/null behind, and with it pip
# would forget the certificate authority that /etc/pip.conf names.
subprocess.check_call([sys.executable, "-m", "ensurepip", "--default-pip"])
wanted = [word for word in sys.argv[1:] if word not in ("--no-setuptools", "--no-wheel")]
sys.exit(subprocess.call([sys.executable, "-m", "pip", "install", *wanted]))

# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Scans the container in which it runs with OpenSCAP: `scan.py before | remediate | after`. Writes REPORT.json, {rule: result}.

`scan.py settings` prints the network settings of /etc/sysctl.conf that this kernel has, one NAME=VALUE on each line.

The profile is CIS Level 2 for servers of Ubuntu 22.04, from Debian's package ssg-debderived. Debian has no profile for Debian 12, and in
those for Debian 10 and 11, no more than 24 rules can be remediated. Stand-ins, during a scan only:

* /etc/lsb-release says Ubuntu 22.04. Otherwise, no rule of the profile applies. The system remains Debian: its packages have other
  versions, and some other names than Ubuntu's (the rules for auditd look for a package that neither of them has).
* /.dockerenv is removed. In a container, half of the rules do not apply.

The profile demands both chrony and ntp, but only one of them can be installed. The rules about ntp are skipped: installing packages never
removes others, so that the role refuses to replace ntp by chrony.

systemd does not run: a remediation can enable a service, but not start it, and rules that ask systemd about a running service are in error.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

FOLDER = Path("/opt/hardening")
CONTENT = "/usr/share/xml/scap/ssg/content/ssg-ubuntu2204-ds.xml"
PROFILE = "xccdf_org.ssgproject.content_profile_cis_level2_server"
PREFIX = "xccdf_org.ssgproject.content_rule_"
SKIPPED = ("package_ntp_installed", "service_ntp_enabled")
RESULT = "{http://checklists.nist.gov/xccdf/1.2}"

IN_A_CONTAINER = Path("/.dockerenv")
RELEASE = Path("/etc/lsb-release")
SYSCTL = Path("/etc/sysctl.conf")

#: Exit statuses of oscap: every rule passed; at least one did not.
COMPLETE = (0, 2)


def scan(report: str) -> None:
    """Run OpenSCAP, and write the results of the selected rules."""
    xml = FOLDER / f"{report}.xml"
    remediate = ["--remediate"] if report == "remediate" else []
    skipped = [word for rule in SKIPPED for word in ("--skip-rule", f"{PREFIX}{rule}")]
    command = ["oscap", "xccdf", "eval", *remediate, *skipped, "--profile", PROFILE, "--results", str(xml), CONTENT]
    IN_A_CONTAINER.unlink()
    RELEASE.write_text("DISTRIB_ID=Ubuntu\nDISTRIB_CODENAME=jammy\n")
    try:
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    finally:
        RELEASE.unlink()
        IN_A_CONTAINER.touch()
    if done.returncode not in COMPLETE:
        sys.exit(f"oscap exited {done.returncode}:\n{done.stderr.decode(errors='replace')}")
    rules = ElementTree.parse(xml).getroot().iter(f"{RESULT}rule-result")
    results = {str(rule.get("idref")).replace(PREFIX, ""): rule.findtext(f"{RESULT}result") for rule in rules}
    selected = {name: result for name, result in sorted(results.items()) if result != "notselected"}
    (FOLDER / f"{report}.json").write_text(json.dumps(selected) + "\n")
    xml.unlink()


def settings() -> None:
    """Print the network settings of the file that this kernel has."""
    for line in SYSCTL.read_text().splitlines():
        name, equals, value = (part.strip() for part in line.partition("="))
        if equals and name.startswith("net.") and Path("/proc/sys", name.replace(".", "/")).exists():
            print(f"{name}={value}")


if __name__ == "__main__":
    if not IN_A_CONTAINER.exists():
        sys.exit("this runs in a Docker container only: it may change the whole system")
    if sys.argv[1] == "settings":
        settings()
    else:
        scan(sys.argv[1])

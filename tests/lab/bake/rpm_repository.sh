#!/bin/sh
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Build an empty package for each name, and a repository of them. The package of chrony has the unit that the role enables.
set -eu
cd /opt/bake
{
  printf 'Name: bake\nVersion: 1\nRelease: 1\nSummary: Stand-in\nLicense: GPL-3.0-or-later\nBuildArch: noarch\n'
  printf '%%description\nNothing.\n'
  printf '%%install\nmkdir -p %%{buildroot}/usr/lib/systemd/system\n'
  printf 'printf "[Service]\\nExecStart=/bin/sleep infinity\\n[Install]\\nWantedBy=multi-user.target\\n" > '
  printf '%%{buildroot}/usr/lib/systemd/system/chronyd.service\n'
  for name; do
    printf '%%package -n %s\nSummary: Stand-in\n%%description -n %s\nNothing.\n%%files -n %s\n' "$name" "$name" "$name"
    [ "$name" != chrony ] || echo /usr/lib/systemd/system/chronyd.service
  done
} > packages.spec
rpmbuild --quiet -bb --define '_topdir /opt/bake/rpmbuild' packages.spec
mkdir -p repository
mv rpmbuild/RPMS/noarch/*.rpm repository
rm -r rpmbuild packages.spec
createrepo_c --quiet repository

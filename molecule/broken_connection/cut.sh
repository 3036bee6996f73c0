#!/bin/sh
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# Waits until kubelet's start is held, then kills every SSH session with all that runs in it, as a node does that reaps sessions.
until [ -e /run/held ]; do sleep 0.05; done
main=$(systemctl show -p MainPID --value ssh.service)
while read -r process; do
  [ "$process" = "$main" ] || kill -9 "$process"
done < /sys/fs/cgroup/system.slice/ssh.service/cgroup.procs
touch /run/cut

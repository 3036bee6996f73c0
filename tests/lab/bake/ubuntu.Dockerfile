# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# The machine on which an image is baked (built by baking.py, never by hand): Debian's packages with the name of Ubuntu, and a repository
# of those packages of Debian that the role installs.
ARG BASE
FROM ${BASE}
ARG PACKAGES
RUN apt-get update -q \
 && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends apt-utils python3-apt \
 && apt-get clean \
 && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends --download-only ${PACKAGES} \
 && mkdir -p /opt/bake/repository && mv /var/cache/apt/archives/*.deb /opt/bake/repository \
 && cd /opt/bake/repository && apt-ftparchive packages . > Packages \
 && mkdir -p /etc/udev/rules.d \
 && rm -rf /var/lib/apt/lists/* /etc/apt/sources.list /etc/apt/sources.list.d/*
# Ubuntu 22.04, the release for Kubernetes 1.30. Stand-ins for programs of a finished image are not laid down: the role installs the programs.
RUN sed s/24.04/22.04/ /opt/nodelab/families/ubuntu/os-release > /usr/lib/os-release \
 && printf '#!/bin/sh\n' > /opt/nodelab/lay \
 && rm /etc/cloud/cloud.cfg.d/99-nodelab.cfg

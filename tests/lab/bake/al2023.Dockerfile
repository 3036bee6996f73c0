# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# The machine on which an image is baked (built by baking.py, never by hand): Debian's packages with the name of another system, dnf and
# createrepo_c of Debian, and a repository of empty packages with the names that the role installs. Packages of Amazon Linux are not here.
ARG BASE
FROM ${BASE}
RUN apt-get update -q \
 && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends \
    createrepo-c dnf dnf-plugins-core iptables pigz rpm \
 && apt-get clean && rm -rf /var/lib/apt/lists/*
# Debian's rpm has its database in the home directory.
RUN mkdir -p /etc/rpm && echo '%_dbpath /var/lib/rpm' > /etc/rpm/macros
COPY rpm_repository.sh /opt/bake/
ARG PACKAGES
RUN sh /opt/bake/rpm_repository.sh ${PACKAGES}
RUN mkdir -p /etc/udev/rules.d /etc/yum.repos.d
# Stand-ins for programs of a finished image are not laid down: the role installs the programs.
RUN cp /opt/nodelab/families/al2023/os-release /usr/lib/os-release \
 && printf '#!/bin/sh\n' > /opt/nodelab/lay \
 && rm /etc/cloud/cloud.cfg.d/99-nodelab.cfg

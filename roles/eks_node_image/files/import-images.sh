#!/bin/sh
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Imports the container images of FOLDER/images.list into containerd, if they are missing or from another archive:
#
#   import-images FOLDER ADDRESS
#
# A line of the list has the name, the file, the SHA-256 checksum and "pinned" or "-", separated by tabs. An image that cannot be imported
# does not stop the others. Layers are unpacked when the first container starts.
set -u
folder=$1
address=$2
archive=nodebootstrap.eks/archive
pinned=io.cri-containerd.pinned

images() { ctr --address "$address" --namespace k8s.io images "$@"; }

tries=0
until ctr --address "$address" version > /dev/null 2>&1; do
    tries=$((tries + 1))
    if [ "$tries" -ge 120 ]; then
        echo "containerd does not answer at $address" >&2
        exit 1
    fi
    sleep 1
done

local=
case $(ctr --version) in *containerd/v2\ *) local=--local ;; esac

failed=0
while IFS="$(printf '\t')" read -r name file checksum pin; do
    operator='==' value=pinned
    [ "$pin" = pinned ] || operator='!=' value=
    found=$(images ls -q "name==\"$name\",labels.\"$archive\"==\"$checksum\",labels.\"$pinned\"$operator\"pinned\"")
    [ -z "$found" ] || continue
    # shellcheck disable=SC2086 # $local is empty or one word
    if images import $local --no-unpack "$folder/$file" &&
        images label "$name" "$pinned=$value" "$archive=$checksum"; then
        echo "$name is imported"
    else
        echo "$name cannot be imported from $folder/$file" >&2
        failed=1
    fi
done < "$folder/images.list"
exit "$failed"

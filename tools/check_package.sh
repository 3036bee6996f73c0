#!/usr/bin/env bash
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# tools/check_package.sh [DIRECTORY]: builds the artifact, and uses the artifact as a user would.
#   1. every file in it is on the list below, and it stays small;
#   2. installed into an empty directory without network and without any other collection, and reduced to meta, plugins, roles and playbooks,
#      it shows the documentation of every plugin and role, and renders the example of every family (tests/package/smoke.yml);
#   3. its playbook bootstraps a node in a container, and a second run changes nothing (the inventory of "make demo");
#   4. its playbook bakes an image in a container (tests/package/bake.py);
#   5. galaxy-importer, which Galaxy and Automation Hub run, reports nothing, also not about tags.
# The artifact and its checksum are written to DIRECTORY only if all checks pass.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
top=$PWD
destination=$(realpath --canonicalize-missing "${1:-.cache/dist}")
work=$top/.cache/package
size_limit=$((2 * 1024 * 1024))

# An extended regular expression for each thing that may be shipped.
allowed='^(FILES\.json|MANIFEST\.json|README\.md|CHANGELOG\.md|CONTRIBUTING\.md|CODE_OF_CONDUCT\.md|SECURITY\.md)$
^LICENSES/[A-Za-z0-9.-]+\.txt$
^changelogs/(changelog|config)\.yaml$
^docs/[A-Za-z0-9_./-]+\.(md|rst|yml)$
^docs/flow\.svg$
^docs/schema/[a-z_]+\.schema\.json$
^examples/[A-Za-z0-9_./-]+\.(md|yml|yaml|json|mime|sh|toml|ps1|txt|service|timer|pkr\.hcl)$
^meta/(runtime\.yml|execution-environment\.yml|ee-requirements\.txt|ee-bindep\.txt)$
^playbooks/[A-Za-z0-9_./-]+\.(yml|md|j2)$
^plugins/(action|doc_fragments|filter|lookup|module_utils|modules|plugin_utils|test)/[A-Za-z0-9_./-]+\.(py|yml|j2)$
^plugins/plugin_utils/_data/[A-Za-z0-9_.-]+\.json$
^plugins/plugin_utils/_powershell/[a-z_]+\.ps1$
^roles/[a-z0-9_]+/(README\.md|(defaults|handlers|meta|tasks|templates|vars|files)/[A-Za-z0-9_./-]+)$'

trap 'printf "package: FAILED at line %s\n" "$LINENO" >&2' ERR
die() {
  printf 'package: FAILED: %s\n' "$*" >&2
  trap - ERR
  exit 1
}

# The collections of the Python package "ansible" are not in sight.
export PATH="$top/.venv/bin:$PATH" ANSIBLE_COLLECTIONS_PATH=$work/installed ANSIBLE_COLLECTIONS_SCAN_SYS_PATH=False ANSIBLE_LOCALHOST_WARNING=False ANSIBLE_NOCOLOR=True
rm -rf "$work"
mkdir -p "$work/dist" "$work/installed"

ansible-galaxy collection build --output-path "$work/dist" . >/dev/null
tarball=$(echo "$work"/dist/nodebootstrap-eks-*.tar.gz)
[ -f "$tarball" ] || die "no artifact was built"

strangers=$(tar --list --file="$tarball" | grep -v '/$' | grep -vE -f <(printf '%s\n' "$allowed") || true)
[ -z "$strangers" ] || die "these files must not be shipped (correct build_ignore in galaxy.yml, or the list here):
$strangers"
size=$(stat --format=%s "$tarball")
[ "$size" -le "$size_limit" ] || die "the artifact has $size bytes; the limit is $size_limit"
printf 'package: %s, %s bytes, %s files\n' "$(basename "$tarball")" "$size" "$(tar --list --file="$tarball" | grep -vc '/$')"

# Every server is out of reach: an installation that asks for another collection fails, and so does one that asks for an index.
HTTP_PROXY=http://127.0.0.1:1 HTTPS_PROXY=http://127.0.0.1:1 ANSIBLE_GALAXY_SERVER=https://galaxy.invalid \
  ansible-galaxy collection install "$tarball" --collections-path "$work/installed" >/dev/null
found=$(cd "$work/installed/ansible_collections" && echo */*)
[ "$found" = nodebootstrap/eks ] || die "the installation brought $found"
printf 'package: installed without network and without another collection\n'
ansible-galaxy collection verify nodebootstrap.eks --offline --collections-path "$work/installed" >/dev/null
installed=$work/installed/ansible_collections/nodebootstrap/eks
for entry in "$installed"/* "$installed"/.[!.]*; do
  case $(basename "$entry") in
    meta | plugins | roles | playbooks | MANIFEST.json | FILES.json) ;;
    *) rm -rf "$entry" ;;
  esac
done

# From a folder outside the checkout, so that nothing is found by accident.
cp tests/package/smoke.yml "$work/smoke.yml"
cd "$work"
documented=0
for kind in filter test module lookup role; do
  mapfile -t names < <(ansible-doc --type "$kind" --list --json nodebootstrap.eks 2>/dev/null |
    python3 -c 'import json, sys; print(*(name for name in json.load(sys.stdin) if name.startswith("nodebootstrap.eks.")), sep="\n", end="")')
  [ "${#names[@]}" -gt 0 ] || continue
  # All pages at once: a start of ansible-doc takes longer than a page.
  pages=$(ansible-doc --type "$kind" "${names[@]}" 2>&1) || die "ansible-doc --type $kind: $pages"
  shown=$(grep -c '^> ' <<<"$pages" || true) examples=$(grep -c '^EXAMPLES:' <<<"$pages" || true)
  [ "$shown" -eq "${#names[@]}" ] || die "ansible-doc --type $kind shows $shown of ${names[*]}: $pages"
  [ "$kind" = role ] || [ "$examples" -eq "${#names[@]}" ] || die "ansible-doc --type $kind shows examples of $examples of ${names[*]}"
  documented=$((documented + shown))
done
expected=$(cd "$installed" && find . -regextype posix-extended -regex '\./(plugins/(filter|test|modules|lookup)/[a-z][^/]*\.py|roles/[^/]+)' | wc -l)
[ "$documented" -eq "$expected" ] || die "ansible-doc knows $documented plugins and roles, the artifact has $expected"
printf 'package: ansible-doc answers for %s plugins and roles\n' "$documented"

ansible-playbook smoke.yml >smoke.log 2>&1 || { cat smoke.log; die "the smoke playbook"; }
printf 'package: the smoke playbook ran from the installed artifact\n'

# The connection to a container needs community.docker. The packages of .venv have it, and have no other nodebootstrap.eks.
node=nodebootstrap-package-$$
nodelab() { python3 "$top/tests/oracle/docker/nodelab" "$@"; }
trap 'nodelab stop "$node"' EXIT
printf '[{"name": "%s", "family": "al2023", "files": {"/etc/nodelab/kubelet-healthy": "", "/etc/nodelab/kubelet-version": "v1.32.9"}}]' "$node" |
  nodelab start >start.log 2>&1 || { cat start.log; die "a node in a container (is the Docker daemon running?)"; }
packages=$(echo "$top"/.venv/lib/python3.*/site-packages)
for run in first second; do
  ANSIBLE_COLLECTIONS_PATH=$work/installed:$packages ansible-playbook nodebootstrap.eks.bootstrap -i "$top/tools/demo-inventory.yml" \
    -e ansible_host="$node" >"$run.log" 2>&1 || { cat "$run.log"; die "the $run run of the playbook bootstrap"; }
done
grep -q 'changed=1 ' first.log || { cat first.log; die "the first bootstrap changed nothing"; }
grep -q 'changed=0 ' second.log || { cat second.log; die "the second bootstrap changed something"; }
printf 'package: the playbook bootstrap configured a node, and changed nothing in a second run\n'

ANSIBLE_COLLECTIONS_PATH=$work/installed:$packages PYTHONPATH=$top/.cache:$top/tests/oracle/docker \
  python3 "$top/tests/package/bake.py" >bake.log 2>&1 || { cat bake.log; die "the playbook bake"; }
printf 'package: the playbook bake made an image\n'

cd "$work"
if ! env -u ANSIBLE_COLLECTIONS_PATH PATH="$top/.cache/venv-importer/bin:$PATH" GALAXY_IMPORTER_CONFIG="$top/tools/galaxy-importer.cfg" \
  "$top/.cache/venv-importer/bin/python" -m galaxy_importer.main "$tarball" >importer.log 2>&1; then
  cat importer.log
  die "galaxy-importer"
fi
complaints=$(grep -E '^(WARNING|ERROR)' importer.log || true)
[ -z "$complaints" ] || die "galaxy-importer says:
$complaints"
printf 'package: galaxy-importer reports nothing\n'

cd "$work/dist"
sha256sum "$(basename "$tarball")" >"$(basename "$tarball").sha256"
sha256sum --check --quiet "$(basename "$tarball").sha256"
rm -rf "$destination"
mkdir -p "$destination"
cp "$tarball" "$tarball.sha256" "$destination/"
printf 'package: %s\n' "$(cat "$tarball.sha256")"

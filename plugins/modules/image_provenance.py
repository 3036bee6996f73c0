#!/usr/bin/python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records in an image what it was built from."""

from __future__ import annotations

DOCUMENTATION = r"""
module: image_provenance
short_description: Record in an image what it was built from
version_added: 0.1.0
description:
  - Writes C(/etc/eks/image-provenance.json). It contains the version of this collection, the digest of the lock, the programs, packages and
    container images with their versions and digests, and a list of all files that the build wrote, with their modes and digests.
  - Writes the same as a software bill of materials, C(/etc/eks/image-sbom.cdx.json), in the format CycloneDX 1.5. It describes what the
    build put into the image, not the base image.
  - The same inputs give the same files. They contain no time, and no paths of the controller.
  - The role C(nodebootstrap.eks.eks_node_image) uses this module as the last step of the installation. M(nodebootstrap.eks.image_seal)
    refuses machines without this file.
author:
  - nodebootstrap.eks contributors (@nodebootstrap)
options:
  root:
    description: The directory with the files of the image. V(/) is the machine itself.
    type: path
    required: true
  plan:
    description: The result of the filter P(nodebootstrap.eks.image_plan#filter).
    type: dict
    required: true
  lock:
    description:
      - C(inputs.lock) in Base64, so that templates keep every byte. Without it, only the packages of the plan are listed, without their
        dependencies.
    type: str
requirements:
  - Python 3.7 or newer on the machine
seealso:
  - module: nodebootstrap.eks.image_seal
attributes:
  check_mode:
    description: Can run in check mode and return changed status without writing a file.
    support: full
  diff_mode:
    description: Returns the difference of both files.
    support: full
"""

EXAMPLES = r"""
- name: Record what the image was built from
  nodebootstrap.eks.image_provenance:
    root: /
    plan: "{{ image | nodebootstrap.eks.image_plan(builder) }}"
  vars:
    image:
      family: al2023
      kubernetes_version: "1.34"
    builder:
      id: amzn
      version_id: "2023"
      architecture: x86_64
  become: true
"""

RETURN = r"""
provenance:
  description: The content of C(/etc/eks/image-provenance.json).
  returned: success
  type: dict
  sample:
    format: 1
    collection:
      name: nodebootstrap.eks
      version: 0.1.0
"""

import base64
import os

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._node.zip_imports import compile_once

compile_once()

from ..module_utils._image import provenance, sbom
from ..module_utils._image.tree import real_root
from ..module_utils._node.errors import ApplyRefused
from ..module_utils._node.host import Host


def main():
    """Write both files."""
    module = AnsibleModule(
        argument_spec={
            "root": {"type": "path", "required": True},
            "plan": {"type": "dict", "required": True},
            "lock": {"type": "str"},
        },
        supports_check_mode=True,
    )
    given = module.params["lock"]
    try:
        root = real_root(module.params["root"])
        host = Host(60.0, "" if root == "/" else root)
        lock = base64.b64decode(given, validate=True).decode("utf-8") if given else None
        found = provenance.document(host, module.params["plan"], lock, provenance.read(host))
    except ApplyRefused as error:
        module.fail_json(msg=str(error))
    except (ValueError, KeyError, TypeError) as error:
        module.fail_json(msg=f"plan or lock does not have the expected form: {error.__class__.__name__}: {error}")
    texts = {provenance.PROVENANCE: provenance.text(found), provenance.SBOM: provenance.text(sbom.document(found))}
    before = {path: _current(host.path(path)) for path in texts}
    changed = [path for path in texts if texts[path] != before[path]]
    if not module.check_mode:
        for path in changed:
            _write(module, host.path(path), texts[path])
    diff = [{"before_header": path, "after_header": path, "before": before[path], "after": texts[path]} for path in changed]
    module.exit_json(changed=bool(changed), provenance=found, diff=diff)


def _current(path):
    # Host reads files up to a limit, which a list of files may exceed.
    if not os.path.isfile(path):
        return ""
    with open(path, encoding="utf-8", errors="replace") as stream:
        return stream.read()


def _write(module, path, text):
    os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
    new = os.path.join(module.tmpdir, os.path.basename(path))
    with open(new, "w", encoding="utf-8") as stream:
        stream.write(text)
    module.atomic_move(new, path)
    # Whatever the umask.
    os.chmod(path, 0o644)


if __name__ == "__main__":
    main()

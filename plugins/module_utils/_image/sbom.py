# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The software bill of materials (SBOM) of a build, as CycloneDX 1.5. Standard library, Python 3.7 and newer."""

from __future__ import annotations

import hashlib
import json
import uuid
from typing import Any, Dict, Iterator, Mapping
from urllib.parse import quote

Entry = Dict[str, Any]

_OS = "os"


def document(provenance: Mapping[str, Any]) -> Entry:
    """The SBOM of the content of the provenance file. It has no time, and its serial number depends on the content only."""
    components = [*_programs(provenance), *_packages(provenance), *_images(provenance), *_files(provenance)]
    collection, system = provenance["collection"], provenance["system"]
    tool = {"type": "application", "name": collection["name"], "version": collection["version"]}
    content = hashlib.sha256(json.dumps(provenance, sort_keys=True).encode("utf-8")).hexdigest()
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, content)}",
        "version": 1,
        "metadata": {
            "tools": {"components": [tool]},
            "component": {"type": "operating-system", "bom-ref": _OS, "name": system["id"], "version": system["version_id"]},
        },
        "components": components,
        "dependencies": [{"ref": _OS, "dependsOn": [component["bom-ref"] for component in components]}],
    }


def _programs(provenance: Mapping[str, Any]) -> Iterator[Entry]:
    for program in provenance["programs"]:
        found = _component("application", f"program:{program['name']}", program["name"], program["sha256"])
        found.update({"version": program["version"]} if program["version"] else {})
        if program["url"]:
            found.update({"externalReferences": [{"type": "distribution", "url": program["url"]}]})
        yield found


def _packages(provenance: Mapping[str, Any]) -> Iterator[Entry]:
    system = provenance["system"]["id"]
    kind, vendor = ("deb", system) if provenance["family"] == "ubuntu" else ("rpm", "amazon" if system == "amzn" else system)
    for package in provenance["packages"]:
        name, version, architecture = (quote(package[field], safe="") for field in ("name", "version", "architecture"))
        url = f"pkg:{kind}/{vendor}/{name}@{version}?arch={architecture}"
        yield {"type": "library", "bom-ref": url, "name": package["name"], "version": package["version"], "purl": url}


def _images(provenance: Mapping[str, Any]) -> Iterator[Entry]:
    for image in provenance["container_images"]:
        # The digest is that of the archive.
        yield _component("container", f"image:{image['name']}", image["name"], image["sha256"])


def _files(provenance: Mapping[str, Any]) -> Iterator[Entry]:
    for file in provenance["files"]:
        if "sha256" in file:
            yield _component("file", f"file:{file['path']}", file["path"], file["sha256"])


def _component(kind: str, reference: str, name: str, digest: str) -> Entry:
    return {"type": kind, "bom-ref": reference, "name": name, "hashes": [{"alg": "SHA-256", "content": digest}]}

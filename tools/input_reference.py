#!/usr/bin/env python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Generates the reference of C(cluster) and C(node_group) from the declaration of the fields (plugin_utils/model/fields.py).

It writes the documentation fragment for ansible-doc, the list of fields in the description of the role eks_node, the tables in
docs/input.md, and the JSON Schema files in docs/schema. The README of the role eks_node_image gets the fields of an image. C(make golden)
runs it, and a test checks that the files are up to date.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

TOP = Path(__file__).resolve().parents[1]
FRAGMENT = "plugins/doc_fragments/fields.py"
ROLE = "roles/eks_node/meta/argument_specs.yml"
PAGE = "docs/input.md"
IMAGE_PAGE = "roles/eks_node_image/README.md"
SCHEMAS = "docs/schema"
RAW_URL = "https://raw.githubusercontent.com/nodebootstrap/eks/main/docs/schema"
WIDTH = 118

Schema = Mapping[str, Any]

_TEMPLATE = r"\{\{"
"""Every value can be a Jinja2 template, which a schema cannot check."""

_ANSIBLE_TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "object": "dict", "array": "list"}
_WORDS = {"string": "text", "integer": "integer", "number": "number", "boolean": "boolean", "object": "mapping", "array": "list"}


def declarations() -> dict[str, Schema]:
    """Return the schemas of C(cluster) and C(node_group), as declared."""
    from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model import fields

    return {"cluster": fields.CLUSTER_KIND.schema, "node_group": fields.NODE_GROUP_KIND.schema}


def types(schema: Schema) -> list[str]:
    """Return the types that a schema names."""
    named = schema.get("type", [])
    return [named] if isinstance(named, str) else list(named)


def all_fields(schema: Schema, prefix: str = "") -> Iterator[tuple[str, Schema]]:
    """Yield every field below C(schema) with its dotted path; a list of mappings adds C([])."""
    inner = schema.get("items", {}) if "properties" not in schema else schema
    mark = "" if inner is schema or not prefix else "[]"
    for name, field in inner.get("properties", {}).items():
        path = f"{prefix}{mark}.{name}" if prefix else name
        yield path, field
        yield from all_fields(field, path)


# JSON Schema


def json_schema(schema: Schema) -> dict[str, Any]:
    """Return C(schema) as JSON Schema 2020-12 for files: templates, null for "not given", and spellings that the checks accept."""
    if "enum" in schema:
        return _enumeration(schema)
    own = dict(schema)
    named = types(schema)
    result: dict[str, Any] = {
        key: own[key] for key in ("description", "default", "minimum", "maximum", "required", "minItems") if key in own
    }
    if "items" in own:
        result["items"] = json_schema(own["items"])
    if "properties" in own:
        result["properties"] = {name: {"title": name, **json_schema(field)} for name, field in own["properties"].items()}
    if "additionalProperties" in own:
        more = own["additionalProperties"]
        result["additionalProperties"] = more if isinstance(more, bool) else json_schema(more)
    if not named:
        return result
    if "integer" in named or "boolean" in named or "string" not in named:
        patterns = [own["pattern"]] if "pattern" in own else ["^-?[0-9]+$"] if "integer" in named else []
        patterns += [f"^({'|'.join(own['enum_text'])})$"] if "enum_text" in own else []
        if not own.get("single"):
            result["pattern"] = "|".join([*patterns, _TEMPLATE])
        named = [*named, "string"]
    elif "enum_text" in own:
        result["pattern"] = f"^({'|'.join(own['enum_text'])})$|{_TEMPLATE}"
    return {"type": list(dict.fromkeys([*named, "null"])), **result}


def _enumeration(schema: Schema) -> dict[str, Any]:
    """A choice: its words, aliases, numbers that YAML reads without quotes, and templates."""
    words = [*schema["enum"], *schema.get("aliases", [])]
    numbers = [yaml.safe_load(word) for word in schema["enum"] if re.fullmatch(r"[0-9]+(\.[0-9]+)?", word)]
    result = {key: schema[key] for key in ("description", "default") if key in schema}
    return {**result, "anyOf": [{"enum": [*words, *numbers, None]}, {"type": "string", "pattern": _TEMPLATE}]}


def schema_files() -> dict[str, str]:
    """Return the JSON Schema files by name."""
    titles = {"cluster": "Cluster of nodebootstrap.eks", "node_group": "Node group of nodebootstrap.eks"}
    files = {}
    for name, schema in declarations().items():
        body = {key: value for key, value in json_schema(schema).items() if key != "pattern"} | {"type": "object"}
        if name == "cluster":
            body = cluster_schema(body)
        files[f"{name}.schema.json"] = {**_head(f"{name}.schema.json", titles[name]), **body}
    template = {"type": "string", "pattern": _TEMPLATE}
    files["variables.schema.json"] = {
        **_head("variables.schema.json", "Variables files that contain eks_node_cluster, eks_node_group or eks_node_groups"),
        "type": ["object", "null"],
        "properties": {
            "eks_node_cluster": {"if": {"type": "object"}, "then": {"$ref": "cluster.schema.json"}, "else": template},
            "eks_node_group": {"if": {"type": "object"}, "then": {"$ref": "node_group.schema.json"}, "else": template},
            "eks_node_groups": {
                "if": {"type": "array"},
                "then": {"items": {"if": {"type": "object"}, "then": {"$ref": "node_group.schema.json"}, "else": template}},
                "else": template,
            },
        },
    }
    return {name: json.dumps(schema, indent=2, ensure_ascii=False) + "\n" for name, schema in files.items()}


def cluster_schema(own: Mapping[str, Any]) -> dict[str, Any]:
    """JSON Schema of the input C(cluster): our fields, or a response, alone or as C(cluster) of a mapping.

    own: the schema of our fields. Other keys of a response are allowed: EKS adds new ones.
    """
    from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model.described_cluster import OWN_FIELDS

    added = {name: own["properties"][name] for name in OWN_FIELDS}
    wrapped = {"properties": {"cluster": {"allOf": [_IS_RESPONSE, {"$ref": "#/$defs/response"}]}, **added}}
    is_wrapped = {"required": ["cluster"], "properties": {"cluster": {"type": "object"}}}
    ours_or_response = {"if": _IS_RESPONSE, "then": {"$ref": "#/$defs/response"}, "else": {"$ref": "#/$defs/fields"}}
    response = {"description": "The result of `aws eks describe-cluster`.", "properties": {**_spellings(_READ), **added}}
    definitions = {"fields": dict(own), "response": response}
    return {"type": "object", "if": is_wrapped, "then": wrapped, "else": ours_or_response, "$defs": definitions}


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": ["object", "null"], "properties": _spellings(properties)}


def _spellings(properties: Mapping[str, Any]) -> dict[str, Any]:
    """The same properties in camelCase and in snake_case."""
    snake_case = {re.sub("[A-Z]", lambda found: f"_{found[0].lower()}", name): schema for name, schema in properties.items()}
    return {**properties, **snake_case}


_TEXT = {"type": ["string", "null"]}
_READ: Mapping[str, Any] = {
    "arn": _TEXT,
    "name": _TEXT,
    "endpoint": _TEXT,
    "version": _TEXT,
    "id": _TEXT,
    "certificateAuthority": _object(data=_TEXT),
    "kubernetesNetworkConfig": _object(serviceIpv4Cidr=_TEXT, serviceIpv6Cidr=_TEXT, ipFamily=_TEXT),
    "outpostConfig": {"type": ["object", "null"]},
}
"""What is read of a response."""


def _has(name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"required": [name], "properties": {name: schema}}


_AUTHORITY = tuple(_spellings({"certificateAuthority": {}}))
_IS_RESPONSE: Mapping[str, Any] = {
    "anyOf": [
        *(_has(name, {"type": "object"}) for name in _AUTHORITY),
        {**_has("arn", {"type": "string"}), "not": {"anyOf": [_has(name, {"not": {"type": "null"}}) for name in _AUTHORITY]}},
    ]
}
"""Whether the reader (C(described_cluster)) takes a mapping for a response."""


def _head(name: str, title: str) -> dict[str, str]:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"{RAW_URL}/{name}",
        "$comment": "Generated by tools/input_reference.py from plugins/plugin_utils/model/fields.py: make golden",
        "title": title,
    }


# Ansible documentation


def ansible_markup(text: str) -> str:
    """Return Markdown code spans as Ansible markup."""
    return re.sub(r"`([^`]+)`", lambda match: f"C({match[1]})", text)


def ansible_options(schema: Schema) -> dict[str, Any]:
    """Return the fields of C(schema) as C(suboptions) of Ansible documentation."""
    options = {}
    for name, field in schema["properties"].items():
        named = types(field)
        option: dict[str, Any] = {"description": ansible_markup(field.get("description", "")).split("\n")}
        option["type"] = _ANSIBLE_TYPES[named[0]] if len(named) == 1 else "raw"
        if named == ["array"]:
            option["elements"] = _ANSIBLE_TYPES[types(field["items"])[0]]
        for key, keyword in (("choices", "enum"), ("default", "default")):
            if keyword in field:
                option[key] = field[keyword]
        if name in schema.get("required", ()):
            option["required"] = True
        nested = field if "properties" in field else field.get("items", {})
        if "properties" in nested:
            option["suboptions"] = ansible_options(nested)
        options[name] = option
    return options


def to_yaml(value: Any, indent: int) -> str:
    """Return C(value) as YAML, indented by C(indent)."""
    text = yaml.safe_dump(value, sort_keys=False, width=WIDTH - indent, allow_unicode=True)
    return "".join(f"{' ' * indent}{line}\n" for line in text.splitlines())


def fragment() -> str:
    """Return the file with the documentation fragments."""
    blocks = {name: to_yaml(ansible_options(schema), 6) for name, schema in declarations().items()}
    return f'''# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fields of cluster and node_group. Generated by tools/input_reference.py from plugin_utils/model/fields.py: make golden."""

from __future__ import annotations

_CLUSTER = r"""
    suboptions:
{blocks["cluster"]}"""

_NODE_GROUP = r"""
    suboptions:
{blocks["node_group"]}"""


class ModuleDocFragment:
    """The fields below C(cluster), C(node_group), C(node_groups) and the input of filters. Nothing validates input with them."""

    # Annotated, because the yamllint check of ansible-test reads every plain assignment here and accepts only literals.
    DOCUMENTATION: str = f"""
options:
  cluster:{{_CLUSTER}}"""

    NODE_GROUP: str = f"""
options:
  node_group:{{_NODE_GROUP}}"""

    NODE_GROUPS: str = f"""
options:
  node_groups:{{_NODE_GROUP}}"""

    FILTER: str = f"""
options:
  _input:{{_NODE_GROUP}}"""
'''


def role_description(schema: Schema) -> list[str]:
    """Return one line for each field.

    An argument spec with C(options) would validate the fields. Ansible prints the description of an option when the validation fails.
    The lines are therefore in the description of the role.
    """
    lines = []
    for path, field in all_fields(schema):
        allowed = f" One of {', '.join(f'V({word})' for word in field['enum'])}." if "enum" in field else ""
        default = f" The default is V({json.dumps(field['default']).strip(chr(34))})." if field.get("default") not in (None, "") else ""
        lines.append(f"C({path}) - {ansible_markup(field.get('description', ''))}{allowed}{default}")
    return lines


# The page docs/input.md


def type_in_words(schema: Schema) -> str:
    """Return the type of a field for the reference table."""
    named = types(schema)
    if named == ["array"]:
        items = [_WORDS[name] for name in types(schema["items"])] or ["value"]
        # A mapping can be an item, but does not stand for a list of one item.
        single = [item for item in items if item != "mapping"] if schema.get("single") else []
        return f"list of {' or '.join(items)}" + (f", or one {' or '.join(single)}" if single else "")
    return " or ".join(_WORDS[name] for name in named)


def table(schema: Schema) -> str:
    """Return the reference table of C(schema) in Markdown."""
    rows = ["| Field | Type | Description |", "| --- | --- | --- |"]
    for path, field in all_fields(schema):
        text = field.get("description", "").replace("|", "\\|")
        if "enum" in field:
            text += f" One of {', '.join(f'`{word}`' for word in field['enum'])}."
        if field.get("default") not in (None, ""):
            text += f" Default: `{json.dumps(field['default']).strip(chr(34))}`."
        required = " Required." if path in schema.get("required", ()) else ""
        rows.append(f"| `{path}` | {type_in_words(field)} | {text}{required} |")
    return "\n".join(rows) + "\n"


def between_markers(text: str, name: str, content: str, comment: tuple[str, str]) -> str:
    """Replace what is between the markers C(name) in C(text)."""
    begin, end = (f"{comment[0]} {word} {name} (make golden){comment[1]}\n" for word in ("begin generated", "end generated"))
    before, found, rest = text.partition(begin)
    _unused, closed, after = rest.partition(end)
    if not found or not closed:
        raise SystemExit(f"no markers for {name}: {begin!r} … {end!r}")
    indent = re.search(r"[ ]*$", rest[: len(rest) - len(closed) - len(after)])
    return before + begin + content + (indent[0] if indent else "") + end + after


def files() -> dict[str, str]:
    """Return every generated file: path below the collection → text."""
    found = {FRAGMENT: fragment()}
    found |= {f"{SCHEMAS}/{name}": text for name, text in schema_files().items()}
    page = (TOP / PAGE).read_text(encoding="utf-8")
    role = (TOP / ROLE).read_text(encoding="utf-8")
    for name, schema in declarations().items():
        page = between_markers(page, name, f"\n{table(schema)}\n", ("<!--", " -->"))
        role = between_markers(role, name, to_yaml(role_description(schema), 6), ("#", ""))
    return {**found, PAGE: page, ROLE: role, IMAGE_PAGE: image_page()}


def image_page() -> str:
    """Return the README of the role that builds images, with the fields of their description."""
    from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.image import fields

    text = (TOP / IMAGE_PAGE).read_text(encoding="utf-8")
    return between_markers(text, "image", f"\n{table(fields.IMAGE_KIND.schema)}\n", ("<!--", " -->"))


def main() -> int:
    """Write the files."""
    for path, text in files().items():
        (TOP / path).parent.mkdir(parents=True, exist_ok=True)
        (TOP / path).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(TOP / ".cache"))
    sys.exit(main())

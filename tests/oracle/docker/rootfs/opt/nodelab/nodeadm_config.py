# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration of the stand-in nodeadm: where it is read from, and how several documents become one.

As the real one does: sources in the order given, the later wins; user data that does not decode is passed over, a broken file is fatal;
MIME parts of type application/node.eks.aws in the order of the document; of a folder *.yaml, *.yml and *.json in lexical order.
Merging: empty text and empty lists never clear; kubelet.flags are joined; maps of settings merge key by key, other lists are replaced.
"""

import base64
import contextlib
import email
import gzip
import json
import os
import urllib.error
import urllib.request
import zlib

import nodeadm_yaml

IMDS = "http://169.254.169.254/latest/"
API_VERSION = "node.eks.aws/v1alpha1"
PART = "application/node.eks.aws"


class ConfigError(Exception):
    """What nodeadm would say before it exits with 1."""


def imds(path):
    """The answer of the metadata service as bytes; None where it has none."""
    ask = urllib.request.Request(IMDS + "api/token", method="PUT", headers={"X-aws-ec2-metadata-token-ttl-seconds": "60"})
    with urllib.request.urlopen(ask, timeout=60) as answer:
        token = answer.read().decode()
    try:
        with urllib.request.urlopen(urllib.request.Request(IMDS + path, headers={"X-aws-ec2-metadata-token": token}), timeout=60) as answer:
            return answer.read()
    except urllib.error.HTTPError as error:
        if error.code == 404:
            return None
        raise


def unpacked(content):
    """Base64 and gzip taken off, in this order, where they are on."""
    with contextlib.suppress(ValueError):
        content = base64.b64decode(content.replace(b"\r", b"").replace(b"\n", b""), validate=True)
    try:
        return gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content
    except (EOFError, OSError, zlib.error) as error:
        raise ConfigError(f"failed to decompress: {error}") from error


def decoded(content):
    """One document as a mapping."""
    try:
        document = nodeadm_yaml.load(content)
    except ValueError as error:
        raise ConfigError(f"could not decode: {error}") from error
    if (document.get("apiVersion"), document.get("kind")) != (API_VERSION, "NodeConfig"):
        raise ConfigError("no kind NodeConfig of " + API_VERSION)
    return document["spec"]


def documents(content):
    """The specs that one text holds: a document, or the NodeConfig parts of MIME."""
    message = email.message_from_bytes(content)
    if not message.is_multipart():
        return [decoded(content)]
    if message.defects:
        raise ConfigError(f"broken MIME: {message.defects}")
    # Not what is nested in a part.
    parts = [part for part in message.get_payload() if part.get_content_type() == PART]
    return [decoded(unpacked(part.get_payload(decode=True))) for part in parts]


def from_user_data():
    raw = imds("user-data")
    if raw is None:
        return []
    try:
        return documents(unpacked(raw))
    except ConfigError:
        return []


def from_files(path):
    if os.path.isdir(path):
        names = sorted(name for name in os.listdir(path) if name.lower().endswith((".yaml", ".yml", ".json")))
        paths = [os.path.join(path, name) for name in names]
    else:
        paths = [path]
    found = []
    for name in paths:
        with open(name, "rb") as handle:
            found += documents(handle.read())
    return found


def read(sources):
    """The merged spec of all sources; None where none has one."""
    found = []
    for source in sources:
        if source == "imds://user-data":
            found += from_user_data()
        elif source.startswith("file://"):
            found += from_files(source[len("file://") :])
        else:
            raise ConfigError("unknown config source " + source)
    if not found:
        return None
    result = {}
    for spec in found:
        result = merged(result, spec)
    return result


#: Sections whose maps merge with everything in them, empty values included.
_FREE = (("kubelet", "config"), ("containerd", "baseRuntimeSpec"), ("instance", "environment"), ("featureGates",))


def merged(old, new, path=()):
    """`new` over `old`, as nodeadm merges two specs."""
    result = dict(old)
    for key, value in new.items():
        here = (*path, key)
        before = result.get(key)
        free = any(here[: len(prefix)] == prefix for prefix in _FREE)
        if here == ("containerd", "config"):
            result[key] = merged_toml(before or "", value or "")
        elif here == ("kubelet", "flags"):
            result[key] = [*(before or []), *(value or [])]
        elif isinstance(value, dict) and isinstance(before, dict):
            result[key] = merged(before, value, here)
        elif free or value or key not in result:
            result[key] = value
    return result


def merged_toml(old, new):
    if not old or not new:
        return old or new
    # Python 3.11 brings a reader; nothing on the node brings a writer.
    import tomllib

    try:
        return toml(deep(tomllib.loads(old), tomllib.loads(new)))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"containerd.config: {error}") from error


def deep(old, new):
    result = dict(old)
    for key, value in new.items():
        both = isinstance(value, dict) and isinstance(result.get(key), dict)
        result[key] = deep(result[key], value) if both else value
    return result


def toml(tree, path=()):
    """TOML text of a tree of maps, lists and scalars; JSON's spelling of a scalar is TOML's."""
    scalars = {key: value for key, value in sorted(tree.items()) if not isinstance(value, dict)}
    lines = ["[" + ".".join(map(json.dumps, path)) + "]"] if path and (scalars or not tree) else []
    lines += [f"{json.dumps(key)} = {json.dumps(value)}" for key, value in scalars.items()]
    text = "".join(line + "\n" for line in lines)
    return text + "".join(toml(value, (*path, key)) for key, value in sorted(tree.items()) if isinstance(value, dict))


def check(spec):
    """What `nodeadm config check` looks for, and nothing else."""
    cluster = (spec or {}).get("cluster") or {}
    for field in ("name", "apiServerEndpoint", "certificateAuthority", "cidr"):
        # A certificate authority of no bytes is one.
        if field not in cluster if field == "certificateAuthority" else not cluster.get(field):
            raise ConfigError(f"cluster.{field} is missing")
    if cluster.get("enableOutpost") and not cluster.get("id"):
        raise ConfigError("cluster.id is missing")

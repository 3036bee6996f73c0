# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the instance metadata service says of the instance, whoever answers in its place."""

from __future__ import annotations

import json

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._join import instance
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import imds


class Metadata:
    """Answers by path; an exception for what it does not know at all."""

    def __init__(self, **answers: str) -> None:
        self.answers = answers

    def get(self, path: str, missing_ok: bool = False) -> str | None:
        if not self.answers:
            raise imds.ImdsError("nobody there")
        return self.answers.get(path)


def test_facts_of_the_instance() -> None:
    document = json.dumps({"accountId": "111122223333", "instanceId": "i-1", "region": "eu-central-1"})
    tags = {
        "": "Name\naws:eks:cluster-name\nkubernetes.io/cluster/prod\neks:nodegroup-name\nKubernetesCluster",
        "aws:eks:cluster-name": "prod",
    }
    answers = {"dynamic/instance-identity/document": document, "meta-data/iam/security-credentials/": "node-role\n"}
    answers.update({f"meta-data/tags/instance/{key}": value for key, value in tags.items()})
    found = instance.facts(Metadata(**answers))
    clusters = {"aws:eks:cluster-name": "prod", "kubernetes.io/cluster/NAME": "prod"}
    assert found == {"account": "111122223333", "instance": "i-1", "region": "eu-central-1", "role": "node-role", "clusters": clusters}


@pytest.mark.parametrize("text", ["<html>\n<body>", "[" * 100000, "5", "\x1b[31m"])
def test_somebody_else_answers_for_the_metadata_service(text: str) -> None:
    paths = ("dynamic/instance-identity/document", "meta-data/iam/security-credentials/", "meta-data/tags/instance/")
    found = instance.facts(Metadata(**dict.fromkeys(paths, text), **{"meta-data/tags/instance/KubernetesCluster": text}))
    assert found["clusters"] == {} and found["account"] is None and found["role"] in (None, "5")
    assert instance.facts(Metadata())["clusters"] == {}

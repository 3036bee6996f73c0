# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action publish without Ansible: its options, and what one task does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..errors import Problem, Problems, SpecError, nearest
from ..publish import decision, defaults, fields, image, requirements
from ..publish.decision import NOTHING
from ..publish.entries import Entry, entries
from ..publish.model import Cloud, Image, Region, Template
from ..rules import catalogue
from . import batch, certificate_dates, folder, publish_report
from .batch import Output
from .publish_report import Publication
from .render_task import SOURCES

OPTIONS: dict[str, Any] = {
    **SOURCES,
    "templates": {"type": "list", "elements": "raw", "required": True},
    "encoding": {"type": "str", "default": "plain", "choices": ["plain", "gzip"]},
    "files_dir": {"type": "path", "default": "."},
    "set_default": {"type": "bool", "default": False},
}
ONE_INPUT = [("node_groups", "eksctl_config", "sources")]

_MADE_BY_EKS = "eks:nodegroup-name"
"""A tag of the launch templates that EKS makes, and manages, itself."""


def publish_task(
    options: Mapping[str, Any], cloud: Cloud, *, check_mode: bool, diff: bool, say: Callable[[str], None], now: float
) -> dict[str, Any]:
    """Render, compare with the latest versions, and create what is needed unless C(check_mode) is set.

    Nothing is written before everything has been read and checked. say: prints progress. now: seconds since the epoch, for the validity
    of certificates. Raises C(SpecError).
    """
    problems = Problems()
    wanted = entries(options["templates"], problems)
    outputs = _rendered(options, problems)
    pairs = list(_pairs(wanted, outputs, problems)) if outputs is not None else []
    problems.raise_any()
    plans = []
    for entry, output in pairs:
        region = cloud.in_region(entry.region or output.rendered.spec.cluster.region)
        say(f"{region.region}: reading launch template {entry.launch_template}")
        plans.append(_plan(entry, output, region, options["set_default"], problems))
    found = [plan for plan in plans if plan is not None]
    _check_unique(found, problems)
    problems.raise_any()
    published = found if check_mode else [_write(plan, say) for plan in found]
    expiring = certificate_dates.warnings((plan.output.rendered.spec for plan in published), now)
    return {
        "changed": any(plan.changes for plan in published),
        "templates": [publish_report.row(plan) for plan in published],
        "not_published": _not_published(outputs or (), pairs),
        "table": publish_report.table(published, _not_published(outputs or (), pairs), check_mode=check_mode),
        **({"warnings": [str(one) for one in expiring]} if expiring else {}),
        **({"diff": [item for plan in published for item in publish_report.diffs(plan)]} if diff else {}),
    }


def _rendered(options: Mapping[str, Any], problems: Problems) -> list[Output] | None:
    """The user data of all groups, None if it cannot be rendered."""
    try:
        sources = [folder.source(source, options["files_dir"]) for source in options["sources"] or [options]]
        outputs, _not_ours = batch.render_sources(sources, options["encoding"])
    except SpecError as error:
        problems.extend(error.problems)
        return None
    return outputs


def _pairs(wanted: Iterable[Entry], outputs: Sequence[Output], problems: Problems) -> Iterator[tuple[Entry, Output]]:
    """Each entry with its node group."""
    for entry in wanted:
        clusters = {str(output.rendered.spec.cluster.name or "") for output in outputs}
        found = [one for one in outputs if one.group == entry.group and entry.cluster in (None, one.rendered.spec.cluster.name)]
        if entry.cluster is not None and entry.cluster not in clusters:
            guess = nearest(entry.cluster, clusters)
            message, known = "is not a cluster here", ", ".join(sorted(clusters))
            problems.add("input.unknown_value", f"{entry.path}.cluster", message, value=entry.cluster, allowed=known, nearest=guess)
        elif not found:
            names = sorted({output.group for output in outputs})
            guess = nearest(entry.group, names)
            message = "is not a node group here"
            problems.add("input.unknown_value", f"{entry.path}.group", message, value=entry.group, allowed=", ".join(names), nearest=guess)
        elif len(found) > 1:
            message = f"is a node group of several clusters ({', '.join(str(one.rendered.spec.cluster.name) for one in found)})"
            problems.add("input.conflict", f"{entry.path}.group", message, value=entry.group, fix=f"add cluster to {entry.path}")
        elif found[0].rendered.spec.mode == "karpenter":
            message = "has mode: karpenter, and Karpenter makes its own launch templates"
            fix = "remove this entry; the filter karpenter_manifests makes the EC2NodeClass"
            problems.add("launch_template.karpenter", f"{entry.path}.group", message, value=entry.group, fix=fix)
        else:
            yield entry, found[0]


def _plan(entry: Entry, output: Output, region: Region, sets_default: bool, problems: Problems) -> Publication | None:
    """What to do for one entry, None if something is wrong with it."""
    template, before = region.read(entry.launch_template), len(problems)
    problems.extend(_template_problems(entry, template, region))
    tree, spec = region.fields(), output.rendered.spec
    given = fields.checked(entry.fields, tree, f"{entry.path}.fields", problems)
    if len(problems) > before:
        return None
    found, unchecked = _image(entry, given, template, region)
    new = defaults.fields(spec.family, spec.mode, spec.cluster.name, found) if template is None else {}
    wanted = fields.merged(new or decision.base_fields(template, tree)[0], given) or {}
    checks = [*requirements.problems_of(entry, spec.mode, wanted), *_image_problems(entry, output, wanted, found, unchecked)]
    checks += _node_group_problems(entry, output, wanted, template, region)
    stored = output.rendered.stored if output.file_name else b""
    made = decision.decide(entry, template, wanted, stored, spec.family, tree)
    lost = decision.lost_fields(entry, template, made, tree) if template is not None else None
    checks += [lost] if lost is not None else []
    problems.extend(one for one in checks if catalogue()[one.rule].severity == "error")
    notes = tuple(one for one in checks if catalogue()[one.rule].severity != "error")
    moves = sets_default if entry.set_default is None else entry.set_default
    return Publication(entry, output, region, template, made, notes, moves)


def _template_problems(entry: Entry, template: Template | None, region: Region) -> Iterator[Problem]:
    path = f"{entry.path}.launch_template"
    if template is None and not entry.create:
        fix = "correct the name or the region" if entry.launch_template.startswith("lt-") else "correct it, or set create: true"
        message = f"does not exist in region {region.region}"
        yield Problem("launch_template.absent", path, message, value=entry.launch_template, fix=fix)
    elif template is not None and _MADE_BY_EKS in template.tags:
        message = f"belongs to the node group {template.tags[_MADE_BY_EKS]} of EKS, which does not use versions that others create"
        fix = "name the launch template with which the node group was created; if there is none, create a new node group with one"
        yield Problem("launch_template.made_by_eks", path, message, value=template.name, fix=fix)


def _image(entry: Entry, given: Mapping[str, Any], template: Template | None, region: Region) -> tuple[Image | None, str]:
    """The image that the launch template will have, and why it could not be read."""
    before = template.data if template is not None else {}
    name = given["ImageId"] if "ImageId" in given else before.get("ImageId")
    return region.image(str(name)) if name and not image.is_known_parameter(str(name)) else (None, "")


def _image_problems(entry: Entry, output: Output, wanted: Mapping[str, Any], found: Image | None, unchecked: str) -> Iterator[Problem]:
    name, path, spec = str(wanted.get("ImageId") or ""), entry.field_path("ImageId"), output.rendered.spec
    if not name:
        return
    node = image.node_of(name, found)
    if unchecked:
        yield Problem("launch_template.not_checked", path, f"could not be read: {unchecked}", value=name)
    elif found is None and node.family is None:
        message = "does not exist in this region, or belongs to another account that does not share it"
        yield Problem("launch_template.wrong_image", path, message, value=name, fix="use the ID of an image of this region")
    elif node.family is None:
        message = f"has a name that does not tell its family ({found.name if found else name}), so it was not compared with {spec.family}"
        yield Problem("launch_template.not_checked", path, message)
    yield from image.problems_of(node, found, spec.family, spec.cluster.kubernetes_version, str(wanted.get("InstanceType", "")), path)


def _node_group_problems(
    entry: Entry, output: Output, wanted: Mapping[str, Any], template: Template | None, region: Region
) -> Iterator[Problem]:
    """What a managed node group that exists cannot use."""
    spec = output.rendered.spec
    if spec.mode not in requirements.MANAGED or spec.cluster.name is None:
        return
    group, unchecked = region.node_group(spec.cluster.name, entry.group)
    if unchecked:
        yield Problem("launch_template.not_checked", f"{entry.path}.group", f"the node group of EKS could not be read: {unchecked}")
    elif group is not None:
        yield from requirements.node_group_problems(entry, spec.mode, spec.family, wanted, template, group)


def _check_unique(plans: Iterable[Publication], problems: Problems) -> None:
    """Report a launch template that two entries name, also by its name and its ID."""
    first: dict[tuple[str, str], Entry] = {}
    for plan in plans:
        name = plan.template.id if plan.template is not None else plan.entry.launch_template
        other = first.setdefault((plan.region.region, name), plan.entry)
        if other is not plan.entry:
            message = f"is the launch template of {other.path} (group {other.group}), too, and has the user data of one group only"
            fix = "use a launch template for each group"
            problems.add("launch_template.shared", f"{plan.entry.path}.launch_template", message, value=plan.entry.launch_template, fix=fix)


def _write(plan: Publication, say: Callable[[str], None]) -> Publication:
    """Make the changes. Returns the publication with the number of the version."""
    where, made, template = f"{plan.region.region}: launch template {plan.name}", plan.decision, plan.template
    number, warnings = plan.number, list[str]()
    if template is None:
        warnings = plan.region.create(plan.name, made.sent, plan.description, plan.entry.tags)
        number = 1
        say(f"{where}: created")
    elif made.creates != NOTHING:
        number, warnings = plan.region.create_version(template, made.sent, plan.description, inherit=made.inherit)
        say(f"{where}: created version {number} ({', '.join(made.reasons)})")
    after = plan.region.read(plan.name) if made.creates != NOTHING else template
    if made.creates != NOTHING and after is not None:
        tree = plan.region.fields()
        warnings += [f"EC2 does not show {path} as it was sent" for path in decision.missing(made, after, tree)]
    if template is not None and plan.moves_default:
        plan.region.set_default(template, number or template.latest)
        say(f"{where}: version {number} is the default one")
    return plan.written(after, number, tuple(warnings))


def _not_published(outputs: Iterable[Output], pairs: Iterable[tuple[Entry, Output]]) -> list[dict[str, str]]:
    """The groups without an entry. Those of Karpenter need none."""
    have = {output.place for _entry, output in pairs}
    rest = [one for one in outputs if one.place not in have and one.rendered.spec.mode != "karpenter"]
    return [{"cluster": one.rendered.spec.cluster.name or "", "group": one.group} for one in rest]

# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Shows what the tests notice: small faults ("mutants") are put into the code one at a time, and something must fail.

    python3 tools/mutants.py choose --seed N [--also TREE]...    write tools/mutation/mutants.json: 60 mutants, at least five per layer
    python3 tools/mutants.py check [--tree TREE]                 print the mutants that cannot be found; nothing is run
    python3 tools/mutants.py run RESULTS [--tree TREE] [--only ID]... [--stages NAME,...] [--before COMMAND]
    python3 tools/mutants.py table RESULTS [RESULTS_AFTER]       print the results; with two files, also what is no longer killed

"run" works on a copy of a tree (this one, as a rule), so that the tree can be used meanwhile. It applies a mutant, runs the stages that
tools/mutation/stages.py lists, cheapest first, and stops at the first failure: the mutant is killed, if the same succeeds without it.
It writes RESULTS after every mutant, and continues where an earlier run stopped. --before is put before the commands of a mutant's own
layer, which may use containers.

A mutant names the file, the symbol and the text of a statement. When you rewrite such a statement, give the mutant `after_refactoring`:
{"file", "symbol", "before", "after"}, the same fault in the new code (a field that did not change may be left out). Do not choose other
mutants to show that a change of the tests loses nothing: the sample must be older than the change.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import tempfile
from pathlib import Path
from typing import Any

from mutation import choose, stages, trees

TOP = Path(__file__).resolve().parents[1]
MUTANTS = TOP / "tools" / "mutation" / "mutants.json"
COMMENT = "Chosen by tools/mutants.py, which explains them."


def load() -> list[dict[str, Any]]:
    content: dict[str, list[dict[str, Any]]] = json.loads(MUTANTS.read_text(encoding="utf-8"))
    return content["mutants"]


def choose_mutants(seed: str, others: list[Path]) -> None:
    content = {"comment": COMMENT, "seed": seed, "mutants": choose.choose(TOP, seed, others)}
    MUTANTS.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{len(content['mutants'])} mutants in {MUTANTS.relative_to(TOP)}")


def check(tree: Path) -> int:
    """Print the mutants that cannot be found."""
    lost = [mutant for mutant in load() if trees.locate(mutant, tree) is None]
    for mutant in lost:
        print(f"{mutant['id']}: {mutant['file']} {mutant['symbol']}: this is not there exactly once: {mutant['before']}")
    return len(lost)


def run(results: Path, tree: Path, only: list[str], names: list[str], prefix: tuple[str, ...]) -> None:
    """Run the stages against the mutants that have no verdict yet."""
    known: dict[str, dict[str, Any]] = json.loads(results.read_text(encoding="utf-8")) if results.exists() else {}
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = trees.copy(tree, Path(folder, "tree"), TOP)
        for mutant in load():
            if only and mutant["id"] not in only:
                continue
            record = known.setdefault(mutant["id"], {"killed_by": "", "stages": {}})
            if not record["killed_by"]:
                _run_one(mutant, record, copy, names, prefix)
                results.write_text(json.dumps(known, indent=2) + "\n", encoding="utf-8")
                print(f"{mutant['id']:<16} {_verdict(record)}", flush=True)


def _run_one(mutant: dict[str, Any], record: dict[str, Any], copy: Path, names: list[str], prefix: tuple[str, ...]) -> None:
    place = trees.locate(mutant, copy)
    record["found"] = place is not None
    if place is None:
        return
    trees.write(place.path, place.mutated)
    try:
        for stage in stages.stages(mutant, copy, place.path):
            if stage.name in record["stages"] or (names and stage.name.split()[0] not in names):
                continue
            result = stages.run(stage, copy, prefix)
            record["stages"][stage.name] = round(result.seconds)
            if result.code:
                trees.write(place.path, place.original)
                if stages.run(stages.confirmation(stage, result), copy, prefix).code == 0:
                    record["killed_by"] = f"{stage.name}: {stages.failed_test(result)}"
                    break
                record.setdefault("fails_without", []).append(f"{stage.name}: {stages.failed_test(result)}")
                trees.write(place.path, place.mutated)
    finally:
        trees.write(place.path, place.original)


def _verdict(record: dict[str, Any]) -> str:
    seconds = f"{sum(record['stages'].values())} s"
    if not record.get("found", True):
        return "NOT FOUND"
    return f"killed in {seconds} by {record['killed_by']}" if record["killed_by"] else f"survived {', '.join(record['stages'])} ({seconds})"


def table(before: Path, after: Path | None) -> int:
    """Print the results; the number of mutants that were killed before and are not killed after."""
    first = json.loads(before.read_text(encoding="utf-8"))
    second = json.loads(after.read_text(encoding="utf-8")) if after else {}
    lost = []
    print("| mutant | file | operator | " + ("before | after |" if after else "result |"))
    print("| --- | --- | --- | --- |" + (" --- |" if after else ""))
    for mutant in load():
        results = [one.get(mutant["id"]) for one in ([first, second] if after else [first])]
        shown = " | ".join(_verdict(result).replace("|", "/") if result else "not run" for result in results)
        print(f"| {mutant['id']} | {mutant['file']} | {mutant['operator']} | {shown} |")
        if after and (results[0] or {}).get("killed_by") and not (results[1] or {}).get("killed_by"):
            lost.append(mutant["id"])
    killed = [sum(bool(one["killed_by"]) for one in results.values()) for results in (first, second)]
    print(f"\n{killed[0]} of {len(first)} killed" + (f" before, {killed[1]} of {len(second)} after" if after else ""))
    if lost:
        print(f"killed before and not after: {', '.join(lost)}")
    return len(lost)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    one = verbs.add_parser("choose")
    one.add_argument("--seed", required=True)
    one.add_argument("--also", type=Path, action="append", default=[], metavar="TREE")
    one = verbs.add_parser("check")
    one.add_argument("--tree", type=Path, default=TOP)
    one = verbs.add_parser("run")
    one.add_argument("results", type=Path)
    one.add_argument("--tree", type=Path, default=TOP)
    one.add_argument("--only", action="append", default=[], metavar="ID")
    one.add_argument("--stages", default="", metavar="NAME,...", help=f"{', '.join(stages.NAMES)}; all of them as a rule")
    one.add_argument("--before", default="", metavar="COMMAND")
    one = verbs.add_parser("table")
    one.add_argument("before", type=Path)
    one.add_argument("after", type=Path, nargs="?")
    given = parser.parse_args()
    if given.verb == "choose":
        choose_mutants(given.seed, [path.resolve() for path in given.also])
        return 0
    if given.verb == "check":
        return min(check(given.tree.resolve()), 1)
    if given.verb == "run":
        names = [name for name in given.stages.split(",") if name]
        run(given.results, given.tree.resolve(), given.only, names, tuple(shlex.split(given.before)))
        return 0
    return min(table(given.before, given.after), 1)


if __name__ == "__main__":
    sys.exit(main())

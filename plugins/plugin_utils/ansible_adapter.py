# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Connects Ansible to the library: converts lazy, tagged values to plain data, and library errors to Ansible errors.

The only file of the library that imports Ansible.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property, wraps
from importlib.util import find_spec
from inspect import Parameter, Signature, signature
from typing import Any, ParamSpec, TypeVar

from ansible.errors import AnsibleConnectionFailure, AnsibleError, AnsibleFilterError
from ansible.release import __version__

from .ansible_imports import cache_compiled_modules

cache_compiled_modules()

from .errors import Problem, Problems, SpecError, nearest, rename

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def _too_deep() -> SpecError:
    return SpecError([Problem("input.too_deep", "input", "is nested too deeply or contains itself")])


def to_plain(value: Any) -> Any:
    """Convert C(value) to plain containers and built-in scalars. Anything else is passed through, and the library rejects it."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if getattr(value, "__ENCRYPTED__", False):
        # A vaulted value before ansible-core 2.19: a sequence of characters that is decrypted when it is converted to text.
        return str(value)
    for kind in (int, float):
        if isinstance(value, kind):
            return kind(value)
    if isinstance(value, Mapping):
        # A key that is not a scalar is passed through: converted to a list or mapping, it would not be hashable.
        return {to_plain(key) if isinstance(key, (str, int, float)) else key: to_plain(value[key]) for key in value}
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return [to_plain(item) for item in value]
    return value


def whole(value: Any) -> Any:
    """Convert text of digits, which templates produce before ansible-core 2.19, to an integer."""
    return int(value) if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 10 else value


def node_group_of(value: Any, files_dir: str | None = None) -> Any:
    """A node group as plain data, with the files that it names."""
    return _with_files(to_plain(value), files_dir)


def _with_files(value: Any, files_dir: str | None = None) -> Any:
    if not isinstance(value, dict) or "user_data_files" not in value:
        return value
    # Few node groups need it.
    from .outputs.named_files import with_files

    return with_files(value, files_dir)


def as_filter(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Decorate a filter: it gets plain data, and a C(SpecError) becomes an C(AnsibleFilterError) that lists every problem.

    A filter imports the library when it is called, not at the top: Ansible loads every filter file of a collection as soon as
    one filter is used, and compiles the imports of a collection again in every run.
    """

    parameters = signature(function)

    @wraps(function)
    def envelope(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        name = function.__name__
        try:
            parameters.bind(*args, **kwargs)
        except TypeError:
            raise AnsibleFilterError(message(name, SpecError(_wrong_arguments(name, parameters, args, kwargs)))) from None
        try:
            plain = [_with_files(to_plain(arg)) for arg in args], {key: to_plain(value) for key, value in kwargs.items()}
        except RecursionError:
            raise AnsibleFilterError(message(name, _too_deep())) from None
        with _without_collector():
            return call(name, AnsibleFilterError, function, *plain[0], **plain[1])

    return envelope


@contextmanager
def _without_collector() -> Iterator[None]:
    """Pause Python's garbage collector, which looks at all objects of Ansible again and again while a few new ones are made.

    That takes a fifth of the first call of a filter, and nearly half of the time in which Ansible builds a module.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def _wrong_arguments(name: str, parameters: Signature, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Problems:
    """What is wrong with the arguments of a filter, for users who do not know Python."""
    _input, *options = parameters.parameters.values()
    names = [option.name for option in options]
    problems = Problems()
    given = {*names[: len(args) - 1], *kwargs}
    for twice in sorted({*kwargs} & {*names[: len(args) - 1]}):
        problems.add("input.conflict", twice, "is given twice", fix="remove one of the two")
    if len(args) - 1 > len(names):
        problems.add("input.unknown_field", "arguments", "are too many", value=len(args) - 1, allowed=", ".join(names) or "none")
    for unknown in sorted({*kwargs} - {*names}):
        guess = nearest(unknown, {*names} - given)
        given |= {guess} if guess else set()
        allowed = ", ".join(names) or "none"
        problems.add("input.unknown_field", unknown, "is not an argument", allowed=allowed, nearest=guess, fix=rename(guess))
    for option in options:
        if option.default is Parameter.empty and option.name not in given:
            problems.add("input.missing_field", option.name, "is required", fix=f"pass it, as in nodebootstrap.eks.{name}({option.name})")
    return problems


def run_live_action(
    action: Any,
    facts: Mapping[str, Any],
    options: Mapping[str, Any],
    work: Callable[..., dict[str, Any]],
    collections: Sequence[str] = (),
    **rules: Any,
) -> dict[str, Any]:
    """Run an action on a live node and return its result; an input problem becomes a failed task that states it.

    action: the C(ActionModule). facts: the variables of the task. options, rules: the argument spec and its rules.
    work: is called with the options as plain data, and with the phases that the options or the tags of the run select.
    collections: other collections that the action needs on the controller.
    Raises C(AnsibleConnectionFailure) when the node cannot be reached.
    """
    # Filters do not need this import.
    from .live.options import check_collections, choose_phases, with_missing_fields_together

    def run() -> dict[str, Any]:
        _unused, validated = action.validate_argument_spec(options, **rules)
        given = to_plain(validated)
        given["node_group"] = _with_files(given["node_group"], given["files_dir"])
        # Only our roles patch the Node object. In other plays, the user decides how.
        patches = ["kubernetes.core"] if given["reconcile"] and _is_in_our_role(action) else []
        check_collections([*collections, *patches], _is_installed)
        tags = [to_plain(facts.get(f"ansible_{kind}_tags", [])) for kind in ("run", "skip")]
        try:
            return work(given, choose_phases(given["phases"], *tags))
        except SpecError as error:
            raised = with_missing_fields_together(error) if _is_in_our_role(action) else error
            raise raised.in_group(given["node_group"]) from None

    return run_action(action, facts, run)


def _is_in_our_role(action: Any) -> bool:
    role = getattr(action._task, "_role", None)
    return role is not None and str(role.get_name()).rpartition(".")[2].startswith("eks_node")


def _is_installed(collection: str) -> bool:
    try:
        return find_spec(f"ansible_collections.{collection}") is not None
    except ImportError:
        return False


def run_action(action: Any, facts: Mapping[str, Any], work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Call C(work) and return the result of the action; an input problem becomes a failed task that lists every problem.

    Raises C(AnsibleConnectionFailure) when the node cannot be reached.
    """
    name = action._task.action.rpartition(".")[2]
    try:
        # The result goes to another process, which does not know the classes of the library. It would wait for it forever.
        result: dict[str, Any] = to_plain(work())
    except SpecError as error:
        result = _failed(name, error)
    except RecursionError:
        result = _failed(name, _too_deep())
    except AnsibleConnectionFailure:
        raise
    except AnsibleError as error:
        # If this is raised again, ansible-core 2.16 shows a traceback, and newer versions change the text.
        result = {"failed": True, "msg": error.message}
    _show_lines(action, facts, result)
    return result


def _show_lines(action: Any, facts: Mapping[str, Any], result: Mapping[str, Any]) -> None:
    """Print a failure message of several lines if Ansible does not: before ansible-core 2.19, it shows results as JSON only."""
    text = str(result.get("msg") or "")
    if result.get("failed") and "\n" in text and not action._task.no_log and _core_version() < (2, 19):
        from ansible import constants
        from ansible.utils.display import Display

        line = f"[ERROR]: {facts.get('inventory_hostname', 'node')}: {text}"
        Display().display(line, color=constants.COLOR_ERROR)


def _core_version() -> tuple[int, ...]:
    return tuple(int(part) for part in __version__.split(".")[:2])


def host_variables(facts: Mapping[str, Any], names: Sequence[str], loader: Any) -> list[tuple[str, dict[str, Any]]]:
    """The values of some variables of every host of the inventory, or of the hosts that C(--limit) selects.

    facts: the variables of the task. A variable that a host does not have is None. Raises C(AnsibleError) for a template that
    cannot be resolved.
    """
    hostvars = facts["hostvars"]
    return [(host, {name: _variable(host, hostvars[host], name) for name in names}) for host in _selected_hosts(facts, loader)]


def _variable(host: str, variables: Mapping[str, Any], name: str) -> Any:
    try:
        return to_plain(variables[name]) if name in variables else None
    except AnsibleError as error:
        raise AnsibleError(f"{name} of {host}: {error.message}") from None


def _selected_hosts(facts: Mapping[str, Any], loader: Any) -> list[str]:
    limit = facts.get("ansible_limit")
    if not limit:
        return [to_plain(host) for host in facts["hostvars"]]
    # Ansible has no variable with the hosts of --limit: facts such as groups and hostvars always contain every host.
    manager = _inventory_manager(facts, loader)
    manager.subset(limit)
    return [to_plain(host.name) for host in manager.get_hosts()]


def _inventory_manager(facts: Mapping[str, Any], loader: Any) -> Any:
    """Ansible's inventory with the groups and the hosts of the variables of a task."""
    from ansible.inventory.manager import InventoryManager

    manager = InventoryManager(loader=loader, parse=False)
    for group, hosts in facts["groups"].items():
        manager.add_group(group)
        for host in hosts:
            manager.add_host(host, group=group)
    return manager


class InventoryOfTask:
    """The hosts of the inventory. Hosts that C(--limit) leaves out are among them, because tasks with C(delegate_to) run on them, too."""

    def __init__(self, facts: Mapping[str, Any], loader: Any) -> None:
        self._facts, self._loader = facts, loader

    def select(self, pattern: str) -> list[str]:
        """The names of the hosts that a host, a group or a pattern names."""
        return [to_plain(host.name) for host in self._manager.get_hosts(pattern)]

    def names(self) -> list[str]:
        """The names of all hosts and groups."""
        return [to_plain(name) for name in (*self._facts["groups"], *self._facts["hostvars"])]

    @cached_property
    def _manager(self) -> Any:
        return _inventory_manager(self._facts, self._loader)


def node_runner(action: Any, facts: Mapping[str, Any]) -> Callable[..., Any]:
    """Return a function that runs a module, by name and options, on the node of an action.

    With C(may_be_gone), a node that cannot be reached gives a result with C(unreachable), and the next call reconnects.
    """

    def run(module: str, options: Mapping[str, Any], may_be_gone: bool = False) -> Any:
        try:
            with _without_collector():
                return action._execute_module(module_name=module, module_args=dict(options), task_vars=facts)
        except AnsibleConnectionFailure as error:
            if not may_be_gone:
                raise
            # Some connections reconnect in reset(), which fails while the node is down. The next call connects again.
            with suppress(Exception):
                action._connection.reset()
            return {"unreachable": True, "msg": error.message}

    return run


def call(name: str, error_type: type[Exception], function: Callable[..., Result], *args: Any, **kwargs: Any) -> Result:
    """Call C(function) and convert the errors of the library to C(error_type). The first argument may be a node group."""
    try:
        return function(*args, **kwargs)
    except SpecError as error:
        # The message is complete. With a cause, Ansible would append the messages of the whole chain.
        raise error_type(message(name, error.in_group(args[0] if args else None))) from None
    except RecursionError:
        raise error_type(message(name, _too_deep())) from None


def failure(action: Any, error: SpecError) -> dict[str, Any]:
    """The result of an action that fails with these problems."""
    return _failed(action._task.action.rpartition(".")[2], error)


def _failed(name: str, error: SpecError) -> dict[str, Any]:
    return {"failed": True, "msg": message(name, error), "problems": [problem.plain() for problem in error.problems]}


def message(name: str, error: SpecError) -> str:
    """Format the message for the user: the number of problems and the node group, then one line for each problem.

    With C(-v), the lines end with the ids of the rules.
    """
    # Needed only when something fails.
    from ansible.utils.display import Display

    count = len(error.problems)
    lines = error.with_rules() if Display().verbosity else str(error)
    # Paths in a list of groups contain the name already.
    groups = {problem.group for problem in error.problems if problem.group and problem.where == problem.path}
    place = f" in node group {groups.pop()}" if len(groups) == 1 else ""
    return f"{name}: {count} problem{'s' if count > 1 else ''}{place}\n{lines}"

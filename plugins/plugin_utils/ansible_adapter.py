# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The border between Ansible and the library: lazy, tagged values in, plain data and readable errors out.

The only file of the library that knows Ansible.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from ansible.errors import AnsibleConnectionFailure, AnsibleError, AnsibleFilterError

from .errors import Problem, SpecError

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

_RECURSIVE = SpecError([Problem("input", "is nested too deeply, or contains itself")])


def untagged(value: Any) -> Any:
    """C(value) as plain containers and exact built-in scalars; what is neither stays as it is, for the library to refuse."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if getattr(value, "__ENCRYPTED__", False):
        # A vaulted value before ansible-core 2.19: a sequence of characters that decrypts itself when it is asked for its text.
        return str(value)
    for kind in (int, float):
        if isinstance(value, kind):
            return kind(value)
    if isinstance(value, Mapping):
        # A key that is no scalar stays as it is: it must be hashable.
        return {untagged(key) if isinstance(key, (str, int, float)) else key: untagged(value[key]) for key in value}
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return [untagged(item) for item in value]
    return value


def whole(value: Any) -> Any:
    """C(value) as an integer where it is digits in text, as templates produce them before ansible-core 2.19."""
    return int(value) if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 10 else value


def as_filter(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Decorator of a filter: plain data in, C(AnsibleFilterError) with every problem out.

    The filter imports what it needs of the library when it is called: Ansible reads every filter file of a collection when
    one is used, and compiles what a collection imports anew in every run.
    """

    @wraps(function)
    def envelope(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        name = function.__name__
        try:
            plain = [untagged(arg) for arg in args], {key: untagged(value) for key, value in kwargs.items()}
        except RecursionError:
            raise AnsibleFilterError(message(name, _RECURSIVE)) from None
        collects = gc.isenabled()
        # What is imported and rendered stays or goes without the collector. Its one pass over all that Ansible holds would
        # be a fifth of what the first use of a filter takes (benchmarks/filter_cost.py).
        gc.disable()
        try:
            return call(name, AnsibleFilterError, function, *plain[0], **plain[1])
        finally:
            if collects:
                gc.enable()

    return envelope


def on_node(
    action: Any, facts: Mapping[str, Any], options: Mapping[str, Any], work: Callable[..., dict[str, Any]], **rules: Any
) -> dict[str, Any]:
    """What an action returns that brings a live node to its node group; what it refuses is a failed task with its reason.

    action: the C(ActionModule). facts: the variables of the task. options, rules: as Ansible checks options.
    work: is given the options, plain, and the phases that they or the tags of the run choose. A node that cannot be reached is raised on.
    """
    # Filters need none of it.
    from .live.phases import chosen

    try:
        _unused, given = action.validate_argument_spec(options, **rules)
        given = untagged(given)
        tags = [untagged(facts.get(f"ansible_{kind}_tags", [])) for kind in ("run", "skip")]
        name = action._task.action.rpartition(".")[2]
        return call(name, AnsibleError, work, given, chosen(given["phases"], *tags))
    except AnsibleConnectionFailure:
        raise
    except AnsibleError as error:
        # Raised on, ansible-core 2.16 would show a traceback with it, and newer ones another text.
        return {"failed": True, "msg": error.message}


def node_runner(action: Any, facts: Mapping[str, Any]) -> Callable[..., Any]:
    """A function that calls a module on the node of an action, by name and options.

    Where it is told that the node C(may_be_gone), one that cannot be reached is a result with C(unreachable), and the next call
    connects anew.
    """

    def run(module: str, options: Mapping[str, Any], may_be_gone: bool = False) -> Any:
        try:
            return action._execute_module(module_name=module, module_args=dict(options), task_vars=facts)
        except AnsibleConnectionFailure as error:
            if not may_be_gone:
                raise
            # Some connections are made anew at once, which fails as long as the node is gone. The next call makes them.
            with suppress(Exception):
                action._connection.reset()
            return {"unreachable": True, "msg": error.message}

    return run


def call(name: str, error_type: type[Exception], function: Callable[..., Result], *args: Any, **kwargs: Any) -> Result:
    """Call C(function) and turn the library's errors into C(error_type)."""
    try:
        return function(*args, **kwargs)
    except SpecError as error:
        # The message says all. Ansible would append that of the cause, and of its cause.
        raise error_type(message(name, error)) from None
    except RecursionError:
        raise error_type(message(name, _RECURSIVE)) from None


def message(name: str, error: SpecError) -> str:
    """The text a user sees: how many problems, then one line each."""
    count = len(error.problems)
    return f"{name}: {count} problem{'s' if count > 1 else ''}\n{error}"

"""Every action of a service, by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from .action import Action

AnyAction = Action[Any, Any]


class ActionRegistry:
    """The operator actions of a service. A name stands for one action: a second one of the same name is refused."""

    def __init__(self, actions: Iterable[AnyAction]) -> None:
        self._by_name: dict[str, AnyAction] = {}
        for action in actions:
            if self._by_name.setdefault(action.name, action) is not action:
                raise ValueError(f"two operator actions are named {action.name!r}: rename one")

    def __iter__(self) -> Iterator[AnyAction]:
        return iter(self._by_name.values())

    def named(self, name: str) -> AnyAction:
        """The action of this name. Raises KeyError."""
        return self._by_name[name]

    def with_own(self, *actions: AnyAction) -> ActionRegistry:
        """These and a service's own ones."""
        return ActionRegistry([*self, *actions])

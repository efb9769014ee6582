"""Choices of a kernel's own options, by range: ``twl.register_tunable("split", PowerOfTwoFragment(1, 64))``. A list of choices
says the same."""

from __future__ import annotations

from typing import Sequence


class _Fragment:
    is_pure = True  # a kernel's host part may make one

    def __init__(self, values: Sequence[int], default: int | None):
        values = list(values)
        if not values:
            raise ValueError("no choices")
        if default is not None and default not in values:
            raise ValueError(f"the default, {default}, is none of the choices {values}")
        self._values = values
        self.default = values[0] if default is None else default

    def choices(self) -> list[int]:
        """The default first."""
        return [self.default, *(value for value in self._values if value != self.default)]


class PowerOfTwoFragment(_Fragment):
    """Powers of two from ``low`` to ``high``."""

    def __init__(self, low: int, high: int, default: int | None = None):
        super().__init__([1 << i for i in range(64) if low <= 1 << i <= high], default)


class IntegerFragment(_Fragment):
    """Whole numbers from ``low`` to ``high``, both included."""

    def __init__(self, low: int, high: int, default: int | None = None):
        super().__init__(range(low, high + 1), default)


class EnumFragment(_Fragment):
    """Any of these; the first one is the default."""

    def __init__(self, choices: Sequence[int]):
        super().__init__(choices, None)


class BooleanFragment(_Fragment):
    """False or True, as 0 and 1."""

    def __init__(self):
        super().__init__([0, 1], None)

"""Lists of Python in the loops of a kernel."""

from __future__ import annotations

from .loops import Cell, CellTuple, _kind, is_number


class ValueList(list):
    """A list that a kernel makes in a loop on the device. What it holds are variables, as names hold them, so that loops and
    branches carry on what they assign to an element: acc[i] = acc[i] + x[tile]. Its length changes only in the body of the
    loop or branch that it was made in, which is all that recording a body once can mean.

    To Python's own functions it looks like the list of its values.
    """

    def __init__(self, reader, values):
        super().__init__(reader.stored(None, value) for value in values)
        self.reader = reader
        self.depth = reader.depth

    def promote(self) -> None:
        """Makes values of the device of its numbers: a loop or a branch assigns to elements."""
        for i, held in enumerate(super().__iter__()):
            if isinstance(held, ValueList):
                held.promote()
            elif is_number(held) or isinstance(held, CellTuple):
                super().__setitem__(i, self.reader.promoted(held))

    def _loaded(self, held):
        return self.reader.loaded(held, "an element of a list")

    def _replace(self, values) -> None:
        self._refuse_outside()
        super().__setitem__(slice(None), [self.reader.stored(None, value) for value in values])

    def _refuse_outside(self) -> None:
        if self.depth < self.reader.depth:
            raise self.reader.error("a list that was made outside of a loop or branch of the device changes in it, and the body is recorded "
                                    "once for every time that it runs: make it as long as it gets before, and assign to its elements")

    # Reading

    def __iter__(self):
        return map(self._loaded, super().__iter__())

    def __reversed__(self):
        return reversed(list(self))

    def __getitem__(self, index):
        if isinstance(index, slice):
            return ValueList(self.reader, list(self)[index])
        return self._loaded(super().__getitem__(index))

    def __add__(self, other):
        return ValueList(self.reader, [*self, *other])

    def __radd__(self, other):
        return ValueList(self.reader, [*other, *self])

    def __mul__(self, count):
        return ValueList(self.reader, list(self) * count)

    __rmul__ = __mul__

    def __contains__(self, value):
        return value in list(self)

    def __eq__(self, other):
        return list(self) == other

    __hash__ = None

    def copy(self):
        return ValueList(self.reader, self)

    def index(self, *args):
        return list(self).index(*args)

    def count(self, value):
        return list(self).count(value)

    def __repr__(self):
        return repr(list(self))

    # Changing

    def __setitem__(self, index, value):
        if isinstance(index, slice):
            values = list(self)
            values[index] = value
            return self._replace(values)
        before = super().__getitem__(index)
        after = self.reader.stored(before, value)
        if after is not before:
            if not isinstance(after, type(before)) or not isinstance(after, (Cell, CellTuple)):
                self._refuse_other(before)
            super().__setitem__(index, after)

    def _refuse_other(self, before) -> None:
        if self.depth < self.reader.depth:
            what = "a number" if is_number(before) else _kind(before)
            raise self.reader.error(f"an element that is {what} becomes something else in a loop or a branch of the device; give it a value "
                                    f"of the device before, such as twl.zeros([])")

    def _changed(name):
        def method(self, *args, **kwargs):
            values = list(self)
            result = getattr(values, name)(*args, **kwargs)
            self._replace(values)
            return self if name.startswith("__i") else result

        method.__name__ = name
        return method

    for _name in ("append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse", "__delitem__", "__iadd__", "__imul__"):
        locals()[_name] = _changed(_name)
    del _name, _changed

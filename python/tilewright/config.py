"""Configs: which implementation of a kernel to take."""

from __future__ import annotations

import os
from collections.abc import Mapping

from . import _core


class Config(Mapping):
    """Options by name, as in ``tw.Config(block_sizes=[64, 64, 32], num_threads=4)``; equality and hash are by content.

    Values are None, bool, int, float, str, or lists of these. What is not named has its default.
    """

    def __init__(self, options: Mapping | None = None, /, **named):
        self._options = {**dict(options or {}), **named}
        self.core = _core.Config({key: list(value) if isinstance(value, tuple) else value for key, value in self._options.items()})

    @classmethod
    def from_core(cls, core: _core.Config) -> Config:
        return cls(core.to_dict())

    @property
    def config(self) -> dict:
        return dict(self._options)

    def to_json(self) -> str:
        return self.core.to_json()

    @classmethod
    def from_json(cls, text: str) -> Config:
        """Raises Error on what is no config."""
        return cls.from_core(_core.Config.from_json(text))

    def save(self, path: str | os.PathLike) -> None:
        """As JSON."""
        with open(path, "w") as file:
            file.write(self.to_json() + "\n")

    @classmethod
    def load(cls, path: str | os.PathLike) -> Config:
        with open(path) as file:
            return cls.from_json(file.read())

    @classmethod
    def from_dict(cls, options: Mapping) -> Config:
        return cls(options)

    def to_dict(self) -> dict:
        return dict(self._options)

    def __getitem__(self, name):
        return self._options[name]

    def __iter__(self):
        return iter(self._options)

    def __len__(self):
        return len(self._options)

    def __getattr__(self, name):
        try:
            return self.__dict__["_options"][name]
        except KeyError:
            raise AttributeError(f"the config does not say {name}") from None

    def __eq__(self, other):
        return self.core == other.core if isinstance(other, Config) else NotImplemented

    def __hash__(self):
        return hash(self.core)

    def __repr__(self):
        return f"tw.Config({', '.join(f'{key}={value!r}' for key, value in self._options.items())})"

    def __reduce__(self):
        return Config, (self._options,)


def as_config(config) -> Config:
    if isinstance(config, Config):
        return config
    if isinstance(config, _core.Config):
        return Config.from_core(config)
    if isinstance(config, Mapping):
        return Config(config)
    raise TypeError(f"a config is a tw.Config or a dict, found a {type(config).__name__}")

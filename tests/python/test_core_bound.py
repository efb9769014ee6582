"""Bound kernels: spec, configs, code, tuning."""

import json

import pytest
import torch
from core_kernels import add, call, equal, here, kernel
from tilewright import _core


@pytest.fixture
def bound():
    return add().bind(torch.randn(1000), torch.randn(1000))


def test_description_and_spec(bound):
    assert bound.description == "add(x: float32[1000], y: float32[1000])"
    spec = json.loads(bound.spec)
    assert "block_sizes" in json.dumps(spec)
    assert "block_sizes" in bound.default_config


def test_code_of_each_stage(bound):
    assert _core.stages() == ["tile", "program", "loops", "llvm", "asm"]
    for stage in _core.stages():
        assert len(bound.to_code(bound.default_config, stage)) > 100
    assert "tile.kernel" in bound.to_code(bound.default_config, "tile")
    with pytest.raises(_core.Error, match="there is no stage"):
        bound.to_code(bound.default_config, "ptx")


def test_tuning_finds_a_config_that_calls_use(bound):
    config, microseconds = bound.tune("quick", 0.3)
    assert microseconds > 0 and bound.complete(config) == config
    assert bound.known_config == config
    x = torch.randn(1000)
    bound.set_config(config)
    equal(bound(x, x), 2 * x)


def test_other_arguments_are_refused(bound):
    with pytest.raises(_core.Error, match="was bound to other arguments"):
        bound(torch.randn(10), torch.randn(10))


def test_illegal_configs_are_refused(bound):
    with pytest.raises(_core.Error, match="block_sizes"):
        bound.complete(_core.Config({"block_sizes": ["x"]}))
    with pytest.raises(_core.Error, match="quick or full"):
        bound.tune("a lot")


def test_returned_and_written():
    def record(x, y):
        out = _core.empty([x.sizes[0], 3], "int32", location=here())
        with _core.loop(None, [x.sizes[0]], location=here()) as (tile,):
            value = _core.load(x, [tile], location=here())
            _core.store(y, [tile], value, location=here())
            _core.store(out, [tile, 1], call("to", value, dtype="int32"), location=here())
        return _core.Recorded([y, out], "tuple")

    bound = kernel(record, ["x", "y"]).bind(torch.ones(5), torch.ones(5))
    assert bound.written_arguments == [1]
    (kind, place, *_), new = bound.returned
    assert (kind, place) == ("argument", 1) and new == ("new", 0, [5, 3], [3, 1], "int32")


class TestConfigs:
    def test_json(self):
        config = _core.Config({"block_sizes": [64, None], "pid_type": "flat", "flatten_loops": [True]})
        assert _core.Config.from_json(config.to_json()) == config
        assert hash(_core.Config.from_json(config.to_json())) == hash(config)
        assert config.to_dict() == {"block_sizes": [64, None], "pid_type": "flat", "flatten_loops": [True]}
        assert config["pid_type"] == "flat" and "num_warps" not in config and config != {"pid_type": "flat"}
        with pytest.raises(KeyError):
            config["num_warps"]

    def test_refuses_what_is_no_config(self):
        with pytest.raises(_core.Error, match="config option block_sizes is a float"):
            _core.Config({"block_sizes": 1.5})
        with pytest.raises(_core.Error):
            _core.Config.from_json("{")

    def test_settings(self):
        settings = _core.Settings(autotune_effort="full", autotune_budget_seconds=2)
        assert (settings.config, settings.autotune_effort, settings.autotune_budget_seconds) == (None, "full", 2.0)
        with pytest.raises(_core.Error, match="none, quick or full"):
            _core.Settings(autotune_effort="much")

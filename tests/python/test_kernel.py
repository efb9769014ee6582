"""Kernels as objects: configs, settings, bound kernels, tuning, specialisations."""

import sys
import copy
import pickle

import pytest
import torch

import tilewright as tw
import tilewright.language as twl


def add(x, y):
    out = torch.empty_like(x)
    for tile in twl.tile(x.size(0)):
        out[tile] = x[tile] + y[tile]
    return out


X, Y = torch.randn(100), torch.randn(100)


def test_a_config_is_a_mapping_that_can_be_kept(tmp_path):
    config = tw.Config(block_sizes=[64, 32], num_threads=2)
    assert config["block_sizes"] == [64, 32] and config.num_threads == 2 and len(config) == 2
    assert dict(config) == {"block_sizes": [64, 32], "num_threads": 2}
    config.save(tmp_path / "config.json")
    assert tw.Config.load(tmp_path / "config.json") == config
    assert tw.Config.from_json(config.to_json()) == config == tw.Config({"num_threads": 2, "block_sizes": (64, 32)})
    assert hash(tw.Config.from_json(config.to_json())) == hash(config)
    assert eval(repr(config)) == config == pickle.loads(pickle.dumps(config)) == copy.deepcopy(config)
    assert config != tw.Config(block_sizes=[64, 64])
    with pytest.raises(AttributeError, match="does not say indexing"):
        config.indexing


def test_a_bound_kernel_shows_its_options_and_code():
    bound = tw.kernel(add).bind((X, Y))
    default = bound.config_spec.default_config()
    assert set(default) >= {"block_sizes", "num_threads"}
    assert "block_sizes" in bound.config_spec.to_dict()
    assert bound.config_spec.normalize({"block_sizes": [16]})["block_sizes"] == [16]
    for stage in tw.stages():
        assert bound.to_code({"block_sizes": [16]}, stage=stage)
    assert "tile.kernel" in bound.to_code(stage="tile")
    with pytest.raises(tw.Error, match="no_such_stage"):
        bound.to_code(stage="no_such_stage")
    with pytest.raises(tw.Error):
        bound.set_config({"block_sizes": [0]})


def test_a_bound_kernel_runs_with_the_config_it_is_given():
    bound = tw.kernel(add).bind((X, Y))
    torch.testing.assert_close(bound(X, Y), X + Y)
    torch.testing.assert_close(bound.compile_config({"block_sizes": [8]})(X, Y), X + Y)
    bound.set_config(tw.Config(block_sizes=[32]))
    assert bound.config["block_sizes"] == [32]
    torch.testing.assert_close(bound(X, Y), X + Y)
    assert bound.format_kernel_decorator({"block_sizes": [8]}) == "@tw.kernel(config=tw.Config(block_sizes=[8]))"


def test_autotune_gives_a_config_that_works():
    kernel = tw.kernel(add)
    config = kernel.autotune((X, Y), budget_seconds=0.2)
    assert "block_sizes" in config
    torch.testing.assert_close(kernel.with_config(config)(X, Y), X + Y)
    assert kernel.bind((X, Y)).autotune((X, Y), force=False) == config


def test_the_fastest_of_several_configs(capfd):
    kernel = tw.kernel(add, configs=[{"block_sizes": [1]}, tw.Config(block_sizes=[64])])
    for _ in range(2):
        torch.testing.assert_close(kernel(X, Y), X + Y)
    assert capfd.readouterr().err.count("is the fastest of 2 configs") == 1
    broken = tw.kernel(add, configs=[{"block_sizes": [0]}, {"block_sizes": [-1]}])
    with pytest.raises(tw.Error, match="none of its 2 configs works"):
        broken(X, Y)


def test_reset_reads_the_kernel_again():
    kernel = tw.kernel(add)
    kernel(X, Y)
    kernel.reset()
    torch.testing.assert_close(kernel(X, Y), X + Y)


def test_what_tells_specialisations_apart():
    kernel = tw.kernel(add)
    key = kernel.specialization_key
    assert key((X, Y)) == key((Y, X))
    assert key((X, Y)) != key((X[:50], Y[:50])) != key((X.double(), Y.double()))

    def scaled(x, factor, name="a"):
        pass

    key = tw.kernel(scaled).specialization_key
    assert key((X, 1.0)) == key((X, 2.0, "a")) != key((X, 1)) != key((X, 1, "b"))


def test_a_key_of_the_user_s_own():
    seen = []

    def bucket(x):
        seen.append(1)
        return x.size(0) // 64

    def double(x):
        for tile in twl.tile(x.size(0)):
            x[tile] = x[tile] * 2

    kernel = tw.kernel(double, key=bucket)
    x = torch.ones(10)
    kernel(x)
    kernel(x)
    assert (x == 4).all() and seen


def test_interpret_from_the_environment(monkeypatch, capsys):
    monkeypatch.setenv("TILEWRIGHT_INTERPRET", "1")

    @tw.kernel()
    def printing(x):
        for tile in twl.tile(x.size(0)):
            print("tile", tile.begin.item(), "sum", x[tile].sum().item())
            x[tile] += 1

    x = torch.ones(3)
    printing(x)
    assert (x == 2).all()
    assert capsys.readouterr().out == "tile 0 sum 3.0\n"


def test_the_interpreter_sees_what_is_out_of_range():
    def past(x):
        for tile in twl.tile(2 * x.size(0)):
            x[tile] = 1

    with pytest.raises(tw.Error, match="out of range for dimension 0"):
        tw.kernel(past, interpret=True)(torch.ones(4))


def test_print_on_the_device(capfd):
    @tw.kernel()
    def printing(x, name):
        for i in twl.grid(2):
            print("value of", name, x[i])

    printing(torch.tensor([1.5, 2.5]), "x")
    out, err = capfd.readouterr()
    assert "value of x" in out + err and "1.5" in out + err and "2.5" in out + err


def test_default_settings():
    with tw.set_default_settings(autotune_effort="full"):
        assert tw.kernel(add).settings.autotune_effort == "full"
        assert tw.kernel(add, autotune_effort="none").settings.autotune_effort == "none"
    assert tw.kernel(add).settings.autotune_effort is None


def test_numbers():
    assert tw.cdiv(7, 2) == 4 and tw.cdiv(8, 2) == 4 and tw.cdiv(0, 5) == 0
    assert [tw.next_power_of_2(n) for n in (0, 1, 2, 3, 5, 64, 65)] == [1, 1, 2, 4, 8, 64, 128]


def test_kernels_keep_the_function_s_name_and_documentation():
    @tw.kernel()
    def documented(x: torch.Tensor) -> None:
        """What it does."""

    assert documented.__name__ == "documented" and documented.__doc__ == "What it does."
    assert repr(documented) == "<tilewright kernel documented>"


def test_settings_that_look_at_each_specialisation(capfd):
    kernel = tw.kernel(add, print_output_code=True)
    for _ in range(2):
        torch.testing.assert_close(kernel(X, Y), X + Y)
    kernel(X[:50], Y[:50])
    assert capfd.readouterr().err.count("tilewright: <add(") == 2
    forced = tw.kernel(add, force_autotune=True, autotune_budget_seconds=0.1)
    torch.testing.assert_close(forced(X, Y), X + Y)
    assert "tun" in capfd.readouterr().err


@pytest.mark.parametrize("setting", [{"fast_math": True}, {"print_repro": True}, {"backend": "tpu"}, {"dot_precision": "low"},
                                     {"autotune_baseline_fn": print}, {"index_dtype": torch.int8}])
def test_settings_that_are_not_there_are_refused(setting):
    with pytest.raises(tw.Error, match=next(iter(setting)).partition("_")[0]):
        tw.kernel(add, **setting)


def test_static_shapes_false_says_that_it_has_no_effect():
    with pytest.warns(UserWarning, match="static_shapes=False has no effect yet"):
        kernel = tw.kernel(add, static_shapes=False)
    torch.testing.assert_close(kernel(X, Y), X + Y)


FACTOR = 2.0


def scaled(value):
    return value * FACTOR


def test_values_from_outside_that_change_are_compiled_anew(monkeypatch):
    offset = 1

    @tw.kernel(autotune_effort="none")
    def k(x):
        out = torch.empty_like(x)
        for tile in twl.tile(x.size(0)):
            out[tile] = scaled(x[tile]) + offset
        return out

    x = torch.arange(5.0)
    for _ in range(2):
        torch.testing.assert_close(k(x), 2 * x + 1)
    monkeypatch.setattr(sys.modules[__name__], "FACTOR", 3.0)  # of a function that it calls
    torch.testing.assert_close(k(x), 3 * x + 1)
    offset = 5  # of a closure
    torch.testing.assert_close(k(x), 3 * x + 5)
    monkeypatch.setattr(sys.modules[__name__], "scaled", lambda value: -value)
    for _ in range(2):
        torch.testing.assert_close(k(x), 5 - x)


@tw.kernel()
def incremented(x):
    out = torch.empty_like(x)
    for tile in twl.tile(x.size(0)):
        out[tile] = x[tile] + 1
    return out


def test_kernels_are_copied_and_pickled_as_functions_are():
    assert copy.copy(incremented) is copy.deepcopy(incremented) is pickle.loads(pickle.dumps(incremented)) is incremented
    configured = pickle.loads(pickle.dumps(incremented.with_config({"block_sizes": [8]})))
    assert configured.only_config == tw.Config(block_sizes=[8])
    torch.testing.assert_close(configured(X), X + 1)
    of_a_function = pickle.loads(pickle.dumps(tw.kernel(add)))
    torch.testing.assert_close(of_a_function(X, Y), X + Y)

    @tw.kernel()
    def local(x):
        pass

    assert copy.deepcopy(local) is local
    with pytest.raises(pickle.PicklingError, match="kernel local cannot be pickled"):
        pickle.dumps(local)


def test_a_module_that_holds_a_kernel_is_copied_and_saved(tmp_path):
    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.function = incremented

        def forward(self, x):
            return self.function(x)

    layer = copy.deepcopy(Layer())
    torch.testing.assert_close(layer(X), X + 1)
    torch.save({"function": layer.function}, tmp_path / "saved.pt")
    assert torch.load(tmp_path / "saved.pt", weights_only=False)["function"] is incremented


def test_python_files_beside_another_core_are_noticed(monkeypatch):
    import tilewright._interface as interface

    interface.check_interface()
    monkeypatch.setattr(interface._core, "interface", "of another build")
    with pytest.raises(ImportError, match="not of the same version as its Python files; build it anew"):
        interface.check_interface()


def test_what_is_said_of_a_config_is_said_once(capfd):
    def adds_once(x, y):
        out = torch.empty_like(x)
        for tile in twl.tile(x.size(0)):
            out[tile] = x[tile] + y[tile]
        return out

    kernel = tw.kernel(adds_once, config={"num_warps": 4})
    for size in (5, 6, 7):
        torch.testing.assert_close(kernel(X[:size], Y[:size]), X[:size] + Y[:size])
    kernel.bind((X, Y)).set_config({"num_warps": 4})
    assert capfd.readouterr().err.count("'num_warps' is left out") == 1


def test_a_kernel_on_the_cpu_shows_what_a_gpu_would_run():
    bound = tw.kernel(add).bind((X, Y))
    assert "@triton.jit" in bound.to_code(stage="triton")

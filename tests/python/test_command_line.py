"""python -m tilewright"""

import json
import textwrap

import pytest
import torch

from tilewright.command_line import UsageError, main, parse_argument

FILE = '''
import torch
import tilewright as tw
import tilewright.language as twl

@tw.kernel()
def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The sum."""
    out = torch.empty_like(x)
    for tile in twl.tile(x.size(0)):
        out[tile] = x[tile] + y[tile]
    return out

@tw.kernel()
def scale(x: torch.Tensor, factor: float) -> torch.Tensor:
    out = torch.empty_like(x)
    for tile in twl.tile(x.size(0)):
        out[tile] = x[tile] * factor
    return out

if __name__ == "__main__":
    raise SystemExit("the main program ran")
'''


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "command_line_kernels.py"
    path.write_text(textwrap.dedent(FILE))
    return str(path)


def test_arguments():
    assert parse_argument("3") == 3 and parse_argument("0.5") == 0.5 and parse_argument("True") is True
    assert parse_argument("none") is None and parse_argument("'a b'") == "a b"
    tensor = parse_argument("bfloat16[4, 6].T")
    assert tensor.dtype == torch.bfloat16 and tensor.shape == (6, 4) and tensor.stride() == (1, 6)
    assert parse_argument("int64[100]<3").max() <= 2 and parse_argument("float32[]").shape == ()
    for wrong in ("float33[3]", "[3]", "float32[a]"):
        with pytest.raises(UsageError):
            parse_argument(wrong)


def test_lists(file, capsys):
    assert main(["list", file]) == 0
    out = capsys.readouterr().out
    assert "add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor  The sum." in out and "scale(" in out


def test_runs(file, capsys):
    assert main(["run", f"{file}:add", "float32[100]", "float32[100]", "--times", "3", "--config", "default"]) == 0
    assert "add(x: float32[100], y: float32[100])" in capsys.readouterr().out
    assert main(["run", f"{file}:scale", "float32[10]", "2.0", "--times", "1"]) == 0


def test_shows(file, capsys):
    arguments = [f"{file}:add", "float32[100]", "float32[100]"]
    assert main(["show", *arguments]) == 0
    assert "tile.kernel" in capsys.readouterr().out
    assert main(["show", *arguments, "--stage", "spec"]) == 0
    assert json.loads(capsys.readouterr().out)


def test_tunes(file, capsys):
    arguments = [f"{file}:add", "float32[100]", "float32[100]"]
    assert main(["tune", *arguments, "--effort", "quick", "--budget", "0.3"]) == 0
    config = capsys.readouterr().out.strip().splitlines()[-1]
    assert main(["run", *arguments, "--times", "1", "--config", config]) == 0


def test_says_what_is_wrong(file, capsys):
    assert main(["show", f"{file}:sub", "float32[1]"]) == 2
    assert "there is no kernel sub" in capsys.readouterr().err
    assert main(["show", file, "float32[1]"]) == 2
    assert "say which kernel" in capsys.readouterr().err
    assert main(["run", f"{file}:add", "float32[3]", "float32[4]", "--config", "{"]) == 1
    assert main(["show", f"{file}.py:add"]) == 2
    with pytest.raises(SystemExit):
        main(["show", f"{file}:add", "--stage", "ptx"])

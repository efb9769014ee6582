import os

import golden
import pytest


@pytest.mark.parametrize("name", golden.COMMANDS)
def test_generated_text(name):
    expected = (golden.FOLDER / f"{name}.py").read_text()
    assert golden.generate(os.environ["TILEWRIGHT"], name) == expected, (
        "after a change that is meant: python tests/triton/golden.py build/bin/tilewright"
    )


def test_there_are_no_other_files():
    assert {path.stem for path in golden.FOLDER.glob("*.py")} == set(golden.COMMANDS)

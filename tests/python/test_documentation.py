"""The Python of the pages that bring people here from elsewhere runs as it stands there."""

import pathlib
import re
import runpy

import pytest

DOCS = pathlib.Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page", ["from_helion", "from_triton", "from_halide"])
def test_a_page_s_code_runs(page, tmp_path, capsys):
    text = (DOCS / f"{page}.md").read_text()
    path = tmp_path / f"{page}.py"
    path.write_text("\n".join(re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)))
    runpy.run_path(str(path), run_name=page)


def test_every_page_is_linked_from_one_that_is_read_first():
    entries = "".join((DOCS.parent / name).read_text() for name in ("README.md", "docs/python.md", "docs/contributing.md"))
    for page in ("from_helion", "from_triton", "from_halide", "glossary"):
        assert f"{page}.md)" in entries, page

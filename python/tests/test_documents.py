"""The code of the documents and the notebooks runs, and the API reference is that of the docstrings."""

import importlib.util
import os
import re
from pathlib import Path

import pytest

PYTHON = Path(__file__).parent.parent
PAGES = [PYTHON / "README.md", *sorted((PYTHON / "docs").glob("*.md"))]
NOTEBOOKS = sorted((PYTHON / "notebooks").glob("*.ipynb"))
NEEDS = {"quickstart": ["pandas"], "classify": ["sklearn"], "label": ["pandas"],
         "tune": ["pandas", "optuna"], "compare": ["pandas"],
         "own_data": ["pandas"], "comparison": ["pandas"], "pyg": ["torch_geometric"]}


def need(page):
    for package in NEEDS.get(page.stem, []):
        pytest.importorskip(package)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_code_of_a_page(page, tmp_path, monkeypatch):
    need(page)
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```$", page.read_text(), flags=re.M | re.S)
    if page.stem != "api":
        exec(compile("\n".join(blocks), str(page), "exec"), {"__name__": page.stem})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_of_a_page(page):
    for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / link).exists(), link


def test_api_reference():
    pytest.importorskip("sklearn")
    place = importlib.util.spec_from_file_location("generate_api", PYTHON / "generate_api.py")
    generate_api = importlib.util.module_from_spec(place)
    place.loader.exec_module(generate_api)
    assert generate_api.page() + "\n" == (PYTHON / "docs" / "api.md").read_text(), "run generate_api.py > docs/api.md"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path, tmp_path):
    need(path)
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(path, as_version=4)
    os.environ.setdefault("JUPYTER_PLATFORM_DIRS", "1")
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3",
                            resources={"metadata": {"path": str(tmp_path)}}).execute()

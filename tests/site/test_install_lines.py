"""The packages that a page tells readers to install are all that its commands import."""

import ast
import re
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from bookbuild.pages.paths import DOCS, SNIPPETS
from bookbuild.run.jobs import dependencies

INSTALL = re.compile(r"pip install ([\w -]+)")
COMMAND = re.compile(r"^(?:python|torchrun [\w -]+) (?:-m )?(\w[\w.]+)", re.M)
PAGES = [page for page in sorted(DOCS.glob("*/*.md")) if "\npip install torch" in page.read_text()]


def with_dependencies(*names: str) -> Iterator[str]:
    for name in names:
        yield canonicalize_name(name)
        try:
            needs = map(Requirement, requires(name) or [])
        except PackageNotFoundError:
            continue
        needs = [each.name for each in needs if not each.marker or each.marker.evaluate()]
        yield from with_dependencies(*needs)


def imports(file: Path) -> Iterator[str]:
    """The packages that a file imports; numpy if it turns tensors into arrays."""
    code = file.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(code)):
        names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        yield from (name.partition(".")[0] for name in names)
    if ".numpy()" in code:
        yield "numpy"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: "/".join(page.parts[-2:]))
def test_a_page_names_the_packages_that_its_commands_need(page):
    text, owners = page.read_text(encoding="utf-8"), packages_distributions()
    named = [each for line in INSTALL.findall(text) for each in line.split() if each[0] != "-"]
    installed = {*with_dependencies(*named)}
    for command in COMMAND.findall(text):
        program = SNIPPETS / f"{command.removesuffix('.py').replace('.', '/')}.py"
        for file in dependencies(program) if program.exists() else ():
            for name in {*imports(file)} - sys.stdlib_module_names if file.suffix == ".py" else ():
                if not (SNIPPETS / name).exists() and not (SNIPPETS / f"{name}.py").exists():
                    assert {*map(canonicalize_name, owners.get(name, []))} & installed, (file, name)

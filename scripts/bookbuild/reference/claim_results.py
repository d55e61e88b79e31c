"""The comparisons of claims about mathematics and measurements, kept in snippets/results/.

scripts/experiment claims records them: for each test, what its assertions compare, the files that
it reads, and a key over the code that it depends on.
"""

import ast
import functools
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from bookbuild.pages import paths
from bookbuild.reference.claims import Claim, all_claims

Name = tuple[Path, str]  # a file and what it defines; an empty name is the whole file
DECLARATIONS = ("claim", "mutation")


class Result(NamedTuple):
    """What the test of a claim compares."""

    key: str
    files: list[str]  # examples that it runs and results that it reads
    comparisons: list[str]  # 0.37 < 0.5


def results_file() -> Path:
    return paths.SNIPPETS / "results" / "claims.json"


def load_results() -> dict[str, Result]:
    """The recorded comparisons of each test."""
    if not results_file().exists():
        return {}
    tests = json.loads(results_file().read_text(encoding="utf-8"))["tests"]
    return {test: Result(**result) for test, result in tests.items()}


def measured_claims() -> list[Claim]:
    """The claims whose comparisons the page Proofs shows."""
    return [claim for claim in all_claims() if claim.kind != "code"]


def stale_tests() -> list[str]:
    """The tests whose comparisons are missing or of other code, and removed tests."""
    results = load_results()
    tests = [claim.test for claim in measured_claims()]
    stale = [
        test
        for test in tests
        if test not in results or results[test].key != code_key(test, results[test].files)
    ]
    return [*stale, *(test for test in results if test not in tests)]


# The code that a test depends on


def code_key(test: str, files: list[str]) -> str:
    """A hash of the code of a test, of all that it uses, and of the files that it reads.

    Comments, docstrings and the decorators @claim and @mutation don't change it.
    """
    file, _, name = test.partition("::")
    names = [(paths.CLAIMS / file, name), *((paths.ROOT / each, "") for each in files)]
    digest = hashlib.sha256()
    for path, name in sorted(dependencies(names)):
        digest.update(f"{path.relative_to(paths.ROOT).as_posix()} {name}\0".encode())
        if path.suffix == ".py" and path.is_file():
            digest.update(read_module(path).code(name))
        elif path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def dependencies(names: list[Name]) -> set[Name]:
    """The names, and all that their code uses, directly or indirectly, in local files."""
    visited, pending = set(), [*names]
    while pending:
        path, name = pending.pop()
        if (path, name) not in visited and path.suffix == ".py" and path.is_file():
            pending += read_module(path).used_names(name)
        visited.add((path, name))
    return visited


class Module:
    """The definitions and imports of a Python file."""

    def __init__(self, path: Path):
        self.path, text = path, path.read_text(encoding="utf-8")
        self.lines, self.tree = text.splitlines(), ast.parse(text)
        self.definitions: dict[str, list[ast.stmt]] = {}
        self.modules: dict[str, Path] = {}  # import numerals
        self.imports: dict[str, Name] = {}  # from numerals import to_english
        self.codes: dict[str, bytes] = {}
        self.used: dict[str, set[Name]] = {}
        for node in self.tree.body:
            for name in defined_names(node):
                self.definitions.setdefault(name, []).append(node)
        for node in ast.walk(self.tree):
            match node:
                case ast.Import(aliases):
                    for alias in aliases:
                        self.add_module(alias.asname or alias.name, alias.name)
                case ast.ImportFrom(module, aliases) if module:
                    for alias in aliases:
                        name = alias.asname or alias.name
                        if file := local_module(module):
                            self.imports[name] = file, alias.name
                        self.add_module(name, f"{module}.{alias.name}")

    def add_module(self, name: str, module: str) -> None:
        if file := local_module(module):
            self.modules[name], self.imports[name] = file, (file, "")

    def nodes(self, name: str) -> list[ast.stmt]:
        """The statements of a definition; all of the file if it has no such definition."""
        return self.definitions.get(name, self.tree.body)

    def code(self, name: str) -> bytes:
        """The code of a definition, without the decorators @claim and @mutation."""
        if name not in self.codes:
            from translator import code_only  # imports torch, which a build doesn't need

            parts = []
            for node in self.nodes(name):
                decorators = [each for each in decorator_list(node) if not is_declaration(each)]
                parts += [self.text(decorator).lstrip("@") for decorator in decorators]
                parts.append(self.text(node))
            self.codes[name] = "\n".join(map(code_only, parts)).encode()
        return self.codes[name]

    def text(self, node: ast.stmt | ast.expr) -> str:
        return "\n".join(self.lines[node.lineno - 1 : node.end_lineno])

    def used_names(self, name: str) -> set[Name]:
        """What a definition uses of its own file, of local modules and of conftest.py."""
        if name in self.used:
            return self.used[name]
        found, attributes = set(), set()
        for node in [each for part in self.nodes(name) for each in ast.walk(part)]:
            match node:
                case ast.Attribute(ast.Name(module) as value, attribute) if module in self.modules:
                    attributes.add(value)
                    found.add((self.modules[module], attribute))
                case ast.Name(used) | ast.arg(used) if used in self.definitions:
                    found.add((self.path, used))
                case ast.Name(used) if used in self.imports and node not in attributes:
                    if used not in DECLARATIONS:
                        found.add(self.imports[used])
                case ast.arg(used) if used in self.fixtures():
                    found.add((paths.CLAIMS / "conftest.py", used))
        self.used[name] = found
        return found

    def fixtures(self) -> Iterable[str]:
        """The names in the conftest.py of the tests of claims."""
        path = paths.CLAIMS / "conftest.py"
        has_fixtures = self.path.parent == paths.CLAIMS and path.is_file()
        return read_module(path).definitions if has_fixtures else ()


def read_module(path: Path) -> Module:
    return cached_module(path, path.stat().st_mtime_ns)


@functools.cache
def cached_module(path: Path, mtime: int) -> Module:
    return Module(path)


def decorator_list(node: ast.stmt) -> list[ast.expr]:
    return getattr(node, "decorator_list", [])


def is_declaration(decorator: ast.expr) -> bool:
    return ast.unparse(getattr(decorator, "func", decorator)) in DECLARATIONS


def defined_names(node: ast.stmt) -> list[str]:
    """The names that a statement at the top of a file defines."""
    match node:
        case ast.FunctionDef(name) | ast.ClassDef(name):
            return [name]
        case ast.Assign(targets):
            names = [each for target in targets for each in ast.walk(target)]
            return [each.id for each in names if isinstance(each, ast.Name)]
        case ast.AnnAssign(ast.Name(name)):
            return [name]
    return []


def local_module(module: str) -> Path | None:
    """The file of a module in this repository."""
    name = f"{module.replace('.', '/')}.py"
    files = [folder / name for folder in (paths.SNIPPETS, paths.SCRIPTS, paths.CLAIMS)]
    return next((file for file in files if file.is_file()), None)

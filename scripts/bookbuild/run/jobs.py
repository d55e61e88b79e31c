"""What there is to run or draw, and whether its output is up to date."""

import ast
import functools
import hashlib
import sys
from dataclasses import dataclass
from pathlib import Path

from bookbuild.pages import notebooks, paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.paths import LANGUAGES

EXAMPLE_TIMEOUT = 120  # no example may take longer
FLOAT16 = "downloads/translator-float16.safetensors"
NOTEBOOK_TIMEOUT = 1200  # nor any lab; the longest computes for a minute
DATA_SUFFIXES = (".safetensors", ".js", ".mjs")  # a string that ends so names a file
PINNED_FILES = ("requirements.txt", "scripts/install")  # the pins of everything


@dataclass(frozen=True)
class Job:
    """One file to run, or one figure to draw."""

    name: str  # examples/embeddings/one_hot, figures/embeddings/norms, downloads/sentences.json
    source: Path

    @property
    def outputs(self) -> list[Path]:
        if self.name.startswith("downloads/"):
            return [paths.GENERATED / self.name]
        if self.name.startswith("figures/"):
            return [paths.GENERATED / language / f"{self.name}.svg" for language in LANGUAGES]
        suffix = "json" if self.is_notebook else "txt"
        return [paths.GENERATED / "outputs" / f"{self.name}.{suffix}"]

    @property
    def is_notebook(self) -> bool:
        return self.source.suffix == ".ipynb"

    @property
    def seconds(self) -> int:
        return NOTEBOOK_TIMEOUT if self.is_notebook else EXAMPLE_TIMEOUT

    @property
    def stamp(self) -> Path:
        return paths.GENERATED / "keys" / self.name

    @property
    def key(self) -> str:
        digest = hashlib.sha256(f"{self.name} {sys.version}".encode())
        for path in sorted(dependencies(self.source)):
            # Of a lab its code alone: what its text says changes none of its outputs.
            data = notebooks.code(path).encode() if path.suffix == ".ipynb" else path.read_bytes()
            digest.update(data)
        for name in PINNED_FILES:
            digest.update((paths.ROOT / name).read_bytes())
        return digest.hexdigest()

    def made(self) -> str:
        """What the stamp says of what was made: by which key, and what bytes."""
        digest = hashlib.sha256(b"".join(path.read_bytes() for path in self.outputs))
        return f"{self.key} {digest.hexdigest()}"

    def fresh(self) -> bool:
        return (
            self.stamp.exists()
            and all(path.exists() for path in self.outputs)
            and self.stamp.read_text() == self.made()
        )


def dependencies(source: Path) -> set[Path]:
    """The file and all local files that it imports or names, directly or not."""
    found, todo = set(), [source]
    while todo:
        path = todo.pop()
        if path not in found:
            found.add(path)
            if path.suffix in (".py", ".ipynb"):
                todo += local_files(path, path.stat().st_mtime_ns)
    return found


@functools.cache
def local_files(path: Path, mtime: int) -> list[Path]:
    """The modules that a file imports and the results that it reads."""
    try:
        tree = ast.parse(notebooks.code(path) if path.suffix == ".ipynb" else path.read_bytes())
    except SyntaxError:
        return []  # running it will tell, with file and line
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [f"{alias.name.replace('.', '/')}.py" for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            module = node.module.replace(".", "/")
            names += [f"{module}.py", *(f"{module}/{alias.name}.py" for alias in node.names)]
        elif isinstance(node, ast.Constant) and str(node.value).endswith(".json"):
            names.append(f"results/{node.value}")
        elif isinstance(node, ast.Constant) and str(node.value).endswith(DATA_SUFFIXES):
            names.append(str(node.value))
    return [
        file
        for name in names
        for folder in (paths.SNIPPETS, paths.SCRIPTS)
        if (file := folder / name).is_file()
    ]


def list_jobs() -> list[Job]:
    """All that there is to run and to draw."""
    # The labs first, since one of them trains for a minute.
    notebooks = sorted((paths.DOCS / "en" / "labs").glob("*.ipynb"))
    found = [Job(f"labs/{path.stem}", path) for path in notebooks]
    for kind in ("examples", "exercises", "pitfalls"):
        for path in sorted((paths.SNIPPETS / kind).rglob("*.py")):
            name = path.relative_to(paths.SNIPPETS).with_suffix("").as_posix()
            found.append(Job(name, path))
    for path in sorted((paths.SCRIPTS / "proofs").glob("*.py")):
        found.append(Job(f"proofs/{path.stem}", path))
    if (paths.SNIPPETS / "translator.safetensors").exists():
        found.append(Job(FLOAT16, paths.SCRIPTS / "bookbuild/reference/javascript_model.py"))
    for path in sorted((paths.SCRIPTS / "downloads").glob("*.py")):
        found.append(Job(f"downloads/{path.stem}.json", path))
    for path in sorted((paths.SCRIPTS / "figures").glob("*.py")):
        for function in figure_functions(path):
            found.append(Job(f"figures/{path.stem}/{function}", path))
    return found


def figure_functions(path: Path) -> list[str]:
    """The functions of a file that are marked with @figure(…)."""
    try:
        tree = ast.parse(path.read_bytes())
    except SyntaxError as error:
        raise SourceError(
            path, error.lineno or 1, f"SyntaxError: {error.msg}; correct it"
        ) from None
    return [
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        and any(
            isinstance(call, ast.Call) and ast.unparse(call.func) == "figure"
            for call in node.decorator_list
        )
    ]

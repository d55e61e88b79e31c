"""Lists the files to run and the figures to draw, and checks which outputs are up to date."""

import ast
import functools
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from bookbuild.localize.build import code_in_chinese
from bookbuild.pages import fresh, paths
from bookbuild.pages.labs import notebooks
from bookbuild.pages.labs.execution import SETTINGS, plugin_options
from bookbuild.pages.paths import LANGUAGES

EXAMPLE_TIMEOUT = 120  # seconds
LONG_TIMEOUT = 1200  # of a proof; the slowest compute for about a minute
FILE_SUFFIXES = (".py", ".safetensors", ".js", ".mjs")  # a string with such an end is a file name
# The versions of all packages.
PINNED_FILES = ("requirements.txt", "requirements-torch.txt", "scripts/install")
FIGURE_FUNCTION = re.compile(r"^@figure\(.*?^def (\w+)\(", re.M | re.S)
# Folders, files to run, and what these write in .generated/.
JOB_FILES = (
    ("docs/en", "labs/*.ipynb", "outputs/{}.json"),  # first, because one trains for a minute
    ("snippets", "examples/**/*.py", "outputs/{}.txt"),
    ("snippets", "exercises/**/*.py", "outputs/{}.txt"),
    ("snippets", "pitfalls/**/*.py", "outputs/{}.txt"),
    ("scripts", "proofs/*.py", "outputs/{}.txt"),
    ("scripts", "downloads/*.py", "{}"),  # sentences.json.py prints sentences.json
)


@dataclass(frozen=True)
class Job:
    """A file to run, or a figure to draw."""

    name: str  # examples/embeddings/one_hot, figures/embeddings/norms, downloads/sentences.json
    source: Path
    outputs: tuple[Path, ...]  # the files in .generated/ that it writes, one for each language
    chinese: str = ""  # a hash of the code in Chinese, if what it prints may be in Chinese

    @property
    def is_notebook(self) -> bool:
        return self.source.suffix == ".ipynb"

    @property
    def is_program(self) -> bool:
        """Whether it is an example, exercise or pitfall."""
        return self.source.suffix == ".py" and self.source.is_relative_to(paths.SNIPPETS)

    @property
    def timeout(self) -> int:
        """The time limit in seconds; 0 for a notebook, whose kernel limits each cell."""
        if self.is_notebook:
            return 0
        return LONG_TIMEOUT if self.name.startswith("proofs/") else EXAMPLE_TIMEOUT

    @property
    def record_name(self) -> str:
        """The name under which it is recorded from which inputs the outputs were made."""
        return f"jobs/{self.name}"

    @property
    def input_hash(self) -> str:
        """A hash of everything that the outputs depend on."""
        pinned = [paths.ROOT / name for name in PINNED_FILES]
        settings = ""
        if self.is_notebook:
            settings, pinned = repr(plugin_options()), [*pinned, *sorted(SETTINGS.rglob("*.*"))]
        files = [*sorted(dependencies(self.source)), *pinned]
        hashes = [fresh.hash_bytes(code(path)) for path in files]
        return fresh.hash_texts([self.name, sys.version, settings, self.chinese, *hashes])

    def key(self) -> str:
        """A hash of the inputs and of the outputs."""
        outputs = [fresh.hash_bytes(path.read_bytes()) for path in self.outputs]
        return fresh.hash_texts([self.input_hash, *outputs])

    def is_fresh(self) -> bool:
        """Whether the outputs exist and are those of the current inputs."""
        exist = all(path.exists() for path in self.outputs)
        return exist and fresh.is_fresh(self.record_name, self.key())


def code(path: Path) -> bytes:
    """The content of a file; only the code of a notebook, whose text doesn't change the outputs."""
    return notebooks.joined_code(path).encode() if path.suffix == ".ipynb" else path.read_bytes()


def dependencies(source: Path) -> set[Path]:
    """The file and all local files that it imports or names, directly or indirectly."""
    visited, pending = set(), [source]
    while pending:
        path = pending.pop()
        if path not in visited:
            visited.add(path)
            if path.suffix in (".py", ".ipynb"):
                pending += local_files(path, code(path))
    return visited


def snippets(program: Path) -> list[Path]:
    """A snippet or lab and all snippets that it imports; none for any other program."""
    files = [path for path in dependencies(program) if path.suffix == ".py"]
    modules = {path for path in files if path.is_relative_to(paths.SNIPPETS)}
    return sorted({program, *modules}) if not program.is_relative_to(paths.SCRIPTS) else []


@functools.cache
def local_files(path: Path, source: bytes) -> list[Path]:
    """The local modules that a file with this code imports, and the files that it names."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return []  # running the file reports the error
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [f"{alias.name.replace('.', '/')}.py" for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            module = node.module.replace(".", "/")
            names += [f"{module}.py", *(f"{module}/{alias.name}.py" for alias in node.names)]
        elif isinstance(node, ast.Constant) and str(node.value).endswith(".json"):
            names += [str(node.value), f"results/{node.value}"]
        elif isinstance(node, ast.Constant) and str(node.value).endswith(FILE_SUFFIXES):
            names.append(str(node.value))
    folders = paths.SNIPPETS, paths.SCRIPTS, paths.CLAIMS, paths.ROOT
    candidates = [folder / name for name in names for folder in folders]
    return [file for file in candidates if file.is_file()]


def list_jobs() -> list[Job]:
    """All files to run and all figures to draw."""
    jobs, in_chinese = [], functools.cache(code_in_chinese)
    for folder, pattern, output in JOB_FILES:
        for path in sorted((paths.ROOT / folder).glob(pattern)):
            name = path.relative_to(paths.ROOT / folder).with_suffix("").as_posix()
            codes = [*map(in_chinese, snippets(path))]
            is_chinese = any(codes)
            folders = [paths.GENERATED, *([paths.GENERATED / "zh"] if is_chinese else [])]
            outputs = tuple(each / output.format(name) for each in folders)
            jobs.append(Job(name, path, outputs, fresh.hash_texts(codes) if is_chinese else ""))
    for path in sorted((paths.SCRIPTS / "figures").glob("*.py")):
        for function in FIGURE_FUNCTION.findall(path.read_text(encoding="utf-8")):
            name = f"figures/{path.stem}/{function}"
            svgs = (paths.GENERATED / language / f"{name}.svg" for language in LANGUAGES)
            jobs.append(Job(name, path, tuple(svgs)))
    return jobs

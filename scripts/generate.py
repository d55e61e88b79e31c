"""Run the examples, exercises, labs and proofs, draw the figures, write the downloads.

usage: scripts/generate [--list] [--force] [NAME ...]

Without a name: all whose key has changed. A key is made of the file, the local
files that it imports and the lock files; same key, no work. With names (or
parts of names): those, whatever their keys; --list tells the names.
Everything goes into .generated/; bytes that are the same are not written again.
"""

import argparse
import ast
import functools
import hashlib
import json
import multiprocessing
import os
import re
import runpy
import signal
import sys
import tempfile
import threading
import time
import traceback
from contextlib import AbstractContextManager
from dataclasses import dataclass
from multiprocessing.connection import wait
from multiprocessing.context import ForkProcess
from pathlib import Path

import book
import claims
import labs
import machine
import quizzes
import shapes
import sources

SECONDS = 120  # no example may take longer
FLOAT16 = "downloads/translator-float16.safetensors"
LAB_SECONDS = 1200  # nor any lab; the longest computes for a minute
DATA = (".safetensors", ".js", ".mjs")  # a string that ends so names a file
ALWAYS = ("requirements.txt", "scripts/install")  # the pins of everything
NEEDS = (
    "torch",
    "matplotlib",
    "drawing",
)  # loaded once, before the workers fork


@dataclass(frozen=True)
class Job:
    """One file to run, or one figure to draw."""

    name: str  # examples/embeddings/one_hot, figures/embeddings/norms, downloads/sentences.json
    source: Path

    @property
    def outputs(self) -> list[Path]:
        if self.name.startswith("downloads/"):
            return [book.GENERATED / self.name]
        if self.name.startswith("figures/"):
            return [book.GENERATED / language / f"{self.name}.svg" for language in book.LANGUAGES]
        suffix = "json" if self.is_lab else "txt"
        return [book.GENERATED / "outputs" / f"{self.name}.{suffix}"]

    @property
    def is_lab(self) -> bool:
        return self.source.suffix == ".ipynb"

    @property
    def seconds(self) -> int:
        return LAB_SECONDS if self.is_lab else SECONDS

    @property
    def stamp(self) -> Path:
        return book.GENERATED / "keys" / self.name

    @property
    def key(self) -> str:
        digest = hashlib.sha256(f"{self.name} {sys.version}".encode())
        for path in sorted(dependencies(self.source)):
            # Of a lab its code alone: what its text says changes none of its outputs.
            data = labs.code(path).encode() if path.suffix == ".ipynb" else path.read_bytes()
            digest.update(data)
        for name in ALWAYS:
            digest.update((book.ROOT / name).read_bytes())
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
        tree = ast.parse(labs.code(path) if path.suffix == ".ipynb" else path.read_bytes())
    except SyntaxError:
        return []  # running it will tell, with file and line
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [f"{alias.name.replace('.', '/')}.py" for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.append(f"{node.module.replace('.', '/')}.py")
        elif isinstance(node, ast.Constant) and str(node.value).endswith(".json"):
            names.append(f"results/{node.value}")
        elif isinstance(node, ast.Constant) and str(node.value).endswith(DATA):
            names.append(str(node.value))
    return [
        file
        for name in names
        for folder in (book.SNIPPETS, book.SCRIPTS)
        if (file := folder / name).is_file()
    ]


def jobs() -> list[Job]:
    """All that there is to run and to draw."""
    # The labs first, since one of them trains for a minute.
    notebooks = sorted((book.DOCS / "en" / "labs").glob("*.ipynb"))
    found = [Job(f"labs/{path.stem}", path) for path in notebooks]
    for kind in ("examples", "exercises", "pitfalls"):
        for path in sorted((book.SNIPPETS / kind).rglob("*.py")):
            name = path.relative_to(book.SNIPPETS).with_suffix("").as_posix()
            found.append(Job(name, path))
    for path in sorted((book.SCRIPTS / "proofs").glob("*.py")):
        found.append(Job(f"proofs/{path.stem}", path))
    if (book.SNIPPETS / "translator.safetensors").exists():
        found.append(Job(FLOAT16, book.SCRIPTS / "live.py"))
    for path in sorted((book.SCRIPTS / "downloads").glob("*.py")):
        found.append(Job(f"downloads/{path.stem}.json", path))
    for path in sorted((book.SCRIPTS / "figures").glob("*.py")):
        for function in figure_functions(path):
            found.append(Job(f"figures/{path.stem}/{function}", path))
    return found


def figure_functions(path: Path) -> list[str]:
    """The functions of a file that are marked with @figure(…)."""
    try:
        tree = ast.parse(path.read_bytes())
    except SyntaxError as error:
        raise book.Fault(path, error.lineno or 1, f"SyntaxError: {error.msg}; correct it") from None
    return [
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        and any(
            isinstance(call, ast.Call) and ast.unparse(call.func) == "figure"
            for call in node.decorator_list
        )
    ]


def perform(job: Job) -> None:
    """Do one job in this process; raises whatever its file raises."""
    if job.name.startswith("figures/"):
        import drawing

        function = runpy.run_path(str(job.source))[Path(job.name).name]
        for language, path in zip(book.LANGUAGES, job.outputs, strict=True):
            book.write(path, drawing.draw(function, language))
        return
    if job.name == FLOAT16:
        import live

        book.write(job.outputs[0], live.halved())
        return
    # What a reader would do: a folder of its own, and what is printed is kept.
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        if job.is_lab:
            shown = labs.run(job.source)
            book.write(job.outputs[0], json.dumps(shown, ensure_ascii=False, indent=1))
            os.chdir(book.ROOT)
            return
        with tempfile.TemporaryFile("w+") as printed:
            sys.stdout.flush()
            os.dup2(printed.fileno(), 1)
            runpy.run_path(str(job.source), run_name="__main__")
            sys.stdout.flush()
            printed.seek(0)
            text = printed.read()
        os.chdir(book.ROOT)
    if not text.strip():
        raise book.Fault(job.source, 1, "prints nothing; a page shows what it prints")
    book.write(job.outputs[0], text)


def work(job: Job, report: Path) -> None:
    """A worker's whole life: do the job, or leave a report of what failed."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C is for the parent to tell of
    threading.Thread(target=end_with_parent, daemon=True).start()
    try:
        perform(job)
    except BaseException as error:
        report.write_text(explain(job, error))
        os._exit(1)
    os._exit(0)


def end_with_parent() -> None:
    """A worker whose parent was killed writes nothing any more, and holds no lock."""
    parent = multiprocessing.parent_process()
    assert parent
    parent.join()
    os._exit(1)


def explain(job: Job, error: BaseException) -> str:
    """file:line: what, and below it the part of the traceback that is ours."""
    if isinstance(error, book.Fault):
        return str(error)
    path, line, frames = job.source, 1, traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename == str(job.source)]
    trouble = machine.told(error)
    if trouble and (not own or "disk" in trouble):  # no fault of the file's
        return trouble
    if isinstance(error, SyntaxError):
        path, line = Path(error.filename or path), error.lineno or 1
    elif own:
        line = own[-1].lineno or 1
    elif job.name.startswith("figures/"):
        text = job.source.read_text(encoding="utf-8")
        line = book.line_of(text, text.index(f"def {Path(job.name).name}("))
    what = "".join(traceback.format_exception_only(error)).strip().splitlines()[-1]
    if job.is_lab:
        what = f"cell {labs.number_at(job.source, line)}: {what}"
    what += f"; mend it, then scripts/generate {job.name} runs it alone"
    fault = book.Fault(path, line, what)
    start = frames.index(own[0]) if own else len(frames)
    return f"{fault}\n{''.join(traceback.format_list(frames[start:]))}".rstrip()


def run(todo: list[Job]) -> list[str]:
    """Run the jobs in forked workers; returns what failed, in words."""
    for name in NEEDS:
        if name == "torch" or any(job.name.startswith("figures/") for job in todo):
            try:
                __import__(name)
            except ImportError as error:
                how = "remove .venv and run scripts/install"
                raise book.Trouble(f"{name} can't be loaded ({error}); {how}") from None
    import torch

    torch.set_num_threads(1)
    sys.path.insert(0, str(book.SNIPPETS))
    fork = multiprocessing.get_context("fork")
    failed, waiting = [], list(reversed(todo))
    running: dict[int, tuple[ForkProcess, Job, Path, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        while waiting or running:
            while waiting and len(running) < (os.cpu_count() or 1):
                job = waiting.pop()
                report = Path(folder) / str(len(waiting))
                process = fork.Process(target=work, args=(job, report))
                process.start()
                started = time.monotonic()
                running[process.sentinel] = (process, job, report, started)
            wait(list(running), timeout=1)
            for sentinel, (process, job, report, started) in list(running.items()):
                if process.is_alive():
                    if time.monotonic() - started < job.seconds:
                        continue
                    process.kill()
                    what = f"takes over {job.seconds} s and was stopped; make it end sooner"
                    report.write_text(str(book.Fault(job.source, 1, what)))
                process.join()
                del running[sentinel]
                done = len(todo) - len(waiting) - len(running)
                if process.exitcode == 0:
                    book.write(job.stamp, job.made())
                    print(f"[{done}/{len(todo)}] {job.name}", flush=True)
                elif report.exists():
                    failed.append(report.read_text())
                else:
                    how = f"its process died ({process.exitcode}); is there memory enough?"
                    failed.append(str(book.Fault(job.source, 1, how)))
    return failed


def downloads() -> list[Path]:
    """What a reader needs beside a copied block."""
    patterns = "*.py", "variants/*.py", "*.js", "results/*.json", "*.safetensors"
    return sorted(path for each in patterns for path in book.SNIPPETS.glob(each))


def write_texts() -> None:
    """What is copied or rewritten rather than run: it takes no time."""
    for path in downloads():
        code = path.suffix in (".py", ".js")
        data = book.without_marks(path) if code else path.read_bytes()
        book.write(book.DOWNLOADS / path.relative_to(book.SNIPPETS), data)
    for language in book.LANGUAGES:
        folder = book.GENERATED / language
        book.write(folder / "glossary.md", book.glossary_table(language))
        book.write(folder / "sources" / "works.md", sources.works_list(language))
        book.write(folder / "sources" / "software.md", sources.software_list(language))
        for name, path in quizzes.chapters().items():
            book.write(folder / "quizzes" / f"{name}.md", quizzes.markdown(path, language))
        for name, text in shapes.tables(language).items():
            book.write(folder / "shapes" / f"{name}.md", text)
    words = book.GENERATED / "zh" / "words.txt"
    book.write(words, book.chinese_words())
    claims.write()


def remove_leftovers(all_jobs: list[Job]) -> None:
    """Outputs of files that are no more, and what a killed run was writing."""
    for path in book.GENERATED.rglob(f"*{book.PART}"):
        path.unlink()
    wanted = {path for job in all_jobs for path in (*job.outputs, job.stamp)}
    wanted |= {book.DOWNLOADS / path.relative_to(book.SNIPPETS) for path in downloads()}
    folders = [book.GENERATED / part for part in ("outputs", "keys", "downloads")]
    folders += [book.GENERATED / language / "figures" for language in book.LANGUAGES]
    for folder in folders:
        for path in folder.rglob("*"):
            if path.is_file() and path not in wanted:
                path.unlink()


def locked() -> AbstractContextManager[None]:
    """Two builds at once: the second waits for the first."""
    return machine.locked(book.GENERATED / "lock", "generating")


def stale() -> bool:
    """Is there anything to run? Writes the texts; runs nothing."""
    for fault in book.text_faults():
        raise fault
    with locked():
        write_texts()
        all_jobs = jobs()
        remove_leftovers(all_jobs)
        return not all(job.fresh() for job in all_jobs)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--list", action="store_true", help="the names, and which are fresh")
    parser.add_argument("--force", action="store_true", help="run whatever the keys say")
    return parser.parse_args()


def main() -> int:
    args = arguments()
    try:
        return generate(args)
    except (book.Fault, book.Trouble) as fault:
        print(fault, file=sys.stderr)
    except OSError as error:
        trouble = machine.told(error)
        if not trouble:
            raise
        print(trouble, file=sys.stderr)
    except KeyboardInterrupt:
        print("generate: interrupted; what was made is kept, the rest follows", file=sys.stderr)
    return 1


def generate(args: argparse.Namespace) -> int:
    started = time.monotonic()
    for fault in book.text_faults():
        raise fault
    all_jobs = jobs()
    chosen = all_jobs
    if args.names:
        pattern = re.compile("|".join(map(re.escape, args.names)))
        chosen = [job for job in all_jobs if pattern.search(job.name)]
        if not chosen:
            print(
                f"generate: nothing is named {' or '.join(args.names)}; see --list",
                file=sys.stderr,
            )
            return 1
    if args.list:
        for job in chosen:
            print(f"{'fresh' if job.fresh() else 'stale'}  {job.name}")
        return 0
    failed: list[str] = []
    with locked():
        write_texts()
        remove_leftovers(all_jobs)
        everything = args.force or bool(args.names)
        todo = [job for job in chosen if everything or not job.fresh()]
        if todo:
            failed = run(todo)
            write_texts()  # claims and shapes are made of what the proofs have printed
    for text in dict.fromkeys(failed):  # a full disk fails each of them alike
        print(f"\n{text}", file=sys.stderr)
    seconds = time.monotonic() - started
    print(
        f"generate: {len(todo) - len(failed)} run, {len(chosen) - len(todo)} unchanged, "
        f"{len(failed)} failed, {seconds:.1f} s"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

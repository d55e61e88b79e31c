"""Runs jobs in forked worker processes."""

import contextlib
import gc
import importlib
import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable
from functools import partial
from itertools import zip_longest
from multiprocessing.connection import wait
from pathlib import Path
from types import ModuleType
from typing import Any

from bookbuild.localize.build import chinese_path, english_path
from bookbuild.pages import fresh, paths
from bookbuild.pages.errors import SetupError, SourceError, describe_error
from bookbuild.pages.files import line_number, write_file
from bookbuild.pages.labs.execution import run_notebook
from bookbuild.pages.paths import LANGUAGES
from bookbuild.run.jobs import Job

MANY_JOBS = 20  # of which some train
PRELOADED: dict[str, dict[str, ModuleType]] = {language: {} for language in LANGUAGES}


def run_job(job: Job, known: str | None) -> None:
    """Run a job in this process and write its outputs. Raises whatever its file raises.

    A program runs twice if what it prints isn't known yet, to see whether it differs from run to
    run.
    """
    if job.name.startswith("figures/"):
        from figures.svg import render_svg

        function = runpy.run_path(str(job.source))[Path(job.name).name]
        for language, path in zip(LANGUAGES, job.outputs, strict=True):
            write_file(path, render_svg(function, language))
        return
    for language, output in zip(LANGUAGES, job.outputs, strict=False):
        program = job.source if language == "en" else chinese_path(job.source)
        if language == "zh":
            signal.alarm(job.timeout)  # again
            use_snippets(language)
        # As a reader would run it: in an empty folder.
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            if job.is_notebook:
                run_notebook(program, output, snippets_folder(language))
            else:
                content = run_program(program)
                if language == "en" and job.is_program and content != (known or "").encode():
                    signal.alarm(job.timeout)
                    check_repeated(program, content)
                write_file(output, content)


def run_program(program: Path) -> bytes:
    """Run a program in this process; returns what it prints."""
    with tempfile.TemporaryFile() as stdout:
        sys.stdout.flush()
        os.dup2(stdout.fileno(), 1)
        runpy.run_path(str(program), run_name="__main__")
        sys.stdout.flush()
        stdout.seek(0)
        content = stdout.read()
    if not content.strip():
        message = "prints nothing; print the output that a page shows"
        raise SourceError(english_path(program), 1, message)
    return content


def check_repeated(program: Path, content: bytes) -> None:
    """Raise SourceError unless a second process, with other hashes, prints the same."""
    environment = os.environ | {"PYTHONPATH": str(paths.SNIPPETS), "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        again = subprocess.run(
            [sys.executable, program], cwd=folder, env=environment, stdout=subprocess.PIPE
        ).stdout
    for first, second in zip_longest(content.splitlines(), again.splitlines(), fillvalue=b""):
        if first != second:
            printed = first.decode(errors="replace")
            message = f"the output {printed!r} differs from run to run; don't print it"
            raise SourceError(program, print_line(program, printed), message)


def print_line(program: Path, printed: str) -> int:
    """The line of a program that prints a label, else the last that prints anything."""
    label, colon, _ = printed.partition(":")
    lines = [*enumerate(program.read_text(encoding="utf-8").splitlines(), 1)]
    printing = [number for number, line in lines if "print" in line]
    labeled = [number for number, line in lines if colon and f"{label}:" in line]
    return (labeled or printing[-1:] or [1])[0]


def snippets_folder(language: str) -> Path:
    return paths.SNIPPETS if language == "en" else paths.GENERATED / "zh" / "snippets"


def use_snippets(language: str) -> None:
    """Import the snippets in this language, in place of those in the other."""
    names = {path.stem for path in paths.SNIPPETS.iterdir()}
    for module in [each for each in sys.modules if each.partition(".")[0] in names]:
        del sys.modules[module]
    sys.modules.update(PRELOADED[language])
    sys.path[0] = str(snippets_folder(language))


def worker_main(job: Job, known: str | None, report: Path) -> None:
    """The main function of a worker process: run the job, and report its CPU seconds or error."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the parent reports Ctrl-C
    signal.alarm(job.timeout)  # then the signal kills this process
    threading.Thread(target=exit_with_parent, daemon=True).start()
    try:
        run_job(job, known)
    except BaseException as error:
        report.write_text(describe_failure(job, error))
        os._exit(1)
    times = os.times()
    report.write_text(f"{sum(times[:4]):.1f}")
    os._exit(0)


def exit_with_parent() -> None:
    """End this worker when its parent is killed, so that it writes nothing and holds no lock."""
    parent = multiprocessing.parent_process()
    assert parent
    parent.join()
    os._exit(1)


def describe_failure(job: Job, error: BaseException) -> str:
    """'file:line: message', followed by the part of the traceback from the job's file on."""
    path, line, frames = job.source, 1, traceback.extract_tb(error.__traceback__)
    source_frames = [each for each in frames if english_path(Path(each.filename)) == job.source]
    known = describe_error(error)
    if known and (not source_frames or isinstance(error, SourceError) or "disk" in known):
        return known  # not the file's error
    if isinstance(error, SyntaxError):
        path, line = english_path(Path(error.filename or path)), error.lineno or 1
    elif source_frames:
        line = source_frames[-1].lineno or 1
    elif job.name.startswith("figures/"):
        text = job.source.read_text(encoding="utf-8")
        line = line_number(text, text.index(f"def {Path(job.name).name}("))
    message = "".join(traceback.format_exception_only(error)).strip().splitlines()[-1]
    if any(each.filename != str(job.source) for each in source_frames):
        message = f"in Chinese: {message}"
    message += f"; correct it, then run scripts/generate {job.name}"
    source_error = SourceError(path, line, message)
    start = frames.index(source_frames[0]) if source_frames else len(frames)
    return f"{source_error}\n{''.join(traceback.format_list(frames[start:]))}".rstrip()


def preload_modules(jobs: list[Job]) -> None:
    """Import slow modules once, before forking. Raises SetupError if one is missing."""
    if sys.path[0] != str(paths.SNIPPETS):
        sys.path.insert(0, str(paths.SNIPPETS))
    names = ["torch"]
    if len(jobs) > MANY_JOBS:
        names.append("torch._dynamo")  # optimizers import it, which takes seconds
    if any(job.name.startswith("figures/") for job in jobs):
        names += ["matplotlib.backends.backend_svg", "figures.svg"]
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError as error:
            hint = "remove .venv and run scripts/install"
            raise SetupError(f"can't import {name} ({error}); {hint}") from None
    sys.modules["torch"].set_num_threads(1)
    # Bytecode is checked by time and size, which a change within a second may leave as they are.
    # A new file beside a module would also make a server build again.
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"  # for the kernel of a lab


def preload_snippets() -> None:
    """Import what many jobs use, and draw the translator's sentences once for all of them."""
    names = [path.stem for path in paths.SNIPPETS.glob("*.py")]
    pairs: dict[str, Any] = {}  # those of the Chinese module are the same
    for language in LANGUAGES:
        use_snippets(language)
        with contextlib.suppress(Exception):  # the jobs raise it too, and report its place
            PRELOADED[language] = {name: importlib.import_module(name) for name in names}
            corpus: Any = sys.modules["corpus"]
            pairs = pairs or {part: corpus.translator(part) for part in corpus.PARTS}
            corpus.translator = partial(known_pairs, pairs, corpus.translator)
    use_snippets("en")


def known_pairs(pairs: dict[str, Any], draw: Callable[[str], Any], part: str) -> Any:
    """A copy of the pairs of a part, which are drawn only if it is unknown, to raise the error."""
    return [*pairs[part]] if part in pairs else draw(part)


def run_jobs(jobs: list[Job], known: dict[str, str]) -> list[str]:
    """Run the jobs in parallel, one worker per core; returns the error messages.

    `known` has what programs are expected to print, by the names of their jobs.
    """
    fork = multiprocessing.get_context("fork")
    preload_modules(jobs)
    if sum(job.is_program for job in jobs) > MANY_JOBS:
        preload_snippets()
    gc.freeze()  # so that no worker's garbage collection copies the memory that it shares
    failures: list[str] = []
    waiting = jobs[::-1]
    running, done = {}, 0
    with tempfile.TemporaryDirectory() as folder:
        while waiting or running:
            while waiting and len(running) < (os.cpu_count() or 1):
                job, report = waiting.pop(), Path(folder, str(len(waiting)))
                arguments = job, known.get(job.name), report
                process = fork.Process(target=worker_main, args=arguments)
                process.start()
                running[process.sentinel] = process, job, report
            for sentinel in wait(list(running)):
                process, job, report = running.pop(sentinel)
                process.join()
                done += 1
                if process.exitcode:
                    failures.append(failure_message(job, process.exitcode, report))
                else:
                    fresh.record(job.record_name, job.key(), float(report.read_text()))
                    print(f"[{done}/{len(jobs)}] {job.name}", flush=True)
    return failures


def failure_message(job: Job, exit_code: int, report: Path) -> str:
    """The error that a worker has reported, or why it could not."""
    if report.exists():
        return report.read_text()
    message = f"the process died ({exit_code}); check that memory is sufficient"
    if exit_code == -signal.SIGALRM:
        message = f"did not end within {job.timeout} s and was stopped; make it faster"
    return str(SourceError(job.source, 1, message))

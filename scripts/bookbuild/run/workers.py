"""Runs jobs in forked worker processes."""

import json
import multiprocessing
import os
import runpy
import signal
import sys
import tempfile
import threading
import time
import traceback
from multiprocessing.connection import wait
from multiprocessing.context import ForkProcess
from pathlib import Path

from bookbuild.pages import notebooks, paths
from bookbuild.pages.errors import SetupError, SourceError, describe_os_error
from bookbuild.pages.files import line_number, write_file
from bookbuild.pages.paths import LANGUAGES
from bookbuild.run.jobs import FLOAT16, Job
from bookbuild.run.notebooks import run_notebook

PRELOADED_MODULES = (
    "torch",
    "matplotlib",
    "figures.svg",
)  # loaded once, before the workers fork


def run_job(job: Job) -> None:
    """Do one job in this process; raises whatever its file raises."""
    if job.name.startswith("figures/"):
        from figures.svg import render_svg

        function = runpy.run_path(str(job.source))[Path(job.name).name]
        for language, path in zip(LANGUAGES, job.outputs, strict=True):
            write_file(path, render_svg(function, language))
        return
    if job.name == FLOAT16:
        from bookbuild.reference import javascript_model

        write_file(job.outputs[0], javascript_model.to_float16())
        return
    # What a reader would do: a folder of its own, and what is printed is kept.
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        if job.is_notebook:
            shown = run_notebook(job.source)
            write_file(job.outputs[0], json.dumps(shown, ensure_ascii=False, indent=1))
            os.chdir(paths.ROOT)
            return
        with tempfile.TemporaryFile("w+") as printed:
            sys.stdout.flush()
            os.dup2(printed.fileno(), 1)
            runpy.run_path(str(job.source), run_name="__main__")
            sys.stdout.flush()
            printed.seek(0)
            text = printed.read()
        os.chdir(paths.ROOT)
    if not text.strip():
        raise SourceError(job.source, 1, "prints nothing; a page shows what it prints")
    write_file(job.outputs[0], text)


def worker_main(job: Job, report: Path) -> None:
    """A worker's whole life: do the job, or leave a report of what failed."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C is for the parent to tell of
    threading.Thread(target=exit_with_parent, daemon=True).start()
    try:
        run_job(job)
    except BaseException as error:
        report.write_text(describe_failure(job, error))
        os._exit(1)
    os._exit(0)


def exit_with_parent() -> None:
    """A worker whose parent was killed writes nothing any more, and holds no lock."""
    parent = multiprocessing.parent_process()
    assert parent
    parent.join()
    os._exit(1)


def describe_failure(job: Job, error: BaseException) -> str:
    """file:line: what, and below it the part of the traceback that is ours."""
    if isinstance(error, SourceError):
        return str(error)
    path, line, frames = job.source, 1, traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename == str(job.source)]
    trouble = describe_os_error(error)
    if trouble and (not own or "disk" in trouble):  # no fault of the file's
        return trouble
    if isinstance(error, SyntaxError):
        path, line = Path(error.filename or path), error.lineno or 1
    elif own:
        line = own[-1].lineno or 1
    elif job.name.startswith("figures/"):
        text = job.source.read_text(encoding="utf-8")
        line = line_number(text, text.index(f"def {Path(job.name).name}("))
    what = "".join(traceback.format_exception_only(error)).strip().splitlines()[-1]
    if job.is_notebook:
        what = f"cell {notebooks.cell_number(job.source, line)}: {what}"
    what += f"; mend it, then scripts/generate {job.name} runs it alone"
    fault = SourceError(path, line, what)
    start = frames.index(own[0]) if own else len(frames)
    return f"{fault}\n{''.join(traceback.format_list(frames[start:]))}".rstrip()


def run_jobs(todo: list[Job]) -> list[str]:
    """Run the jobs in forked workers; returns what failed, in words."""
    for name in PRELOADED_MODULES:
        if name == "torch" or any(job.name.startswith("figures/") for job in todo):
            try:
                __import__(name)
            except ImportError as error:
                how = "remove .venv and run scripts/install"
                raise SetupError(f"{name} can't be loaded ({error}); {how}") from None
    import torch

    torch.set_num_threads(1)
    sys.path.insert(0, str(paths.SNIPPETS))
    fork = multiprocessing.get_context("fork")
    failed, waiting = [], list(reversed(todo))
    running: dict[int, tuple[ForkProcess, Job, Path, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        while waiting or running:
            while waiting and len(running) < (os.cpu_count() or 1):
                job = waiting.pop()
                report = Path(folder) / str(len(waiting))
                process = fork.Process(target=worker_main, args=(job, report))
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
                    report.write_text(str(SourceError(job.source, 1, what)))
                process.join()
                del running[sentinel]
                done = len(todo) - len(waiting) - len(running)
                if process.exitcode == 0:
                    write_file(job.stamp, job.made())
                    print(f"[{done}/{len(todo)}] {job.name}", flush=True)
                elif report.exists():
                    failed.append(report.read_text())
                else:
                    how = f"its process died ({process.exitcode}); is there memory enough?"
                    failed.append(str(SourceError(job.source, 1, how)))
    return failed

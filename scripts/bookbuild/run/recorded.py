"""Keeps what programs and labs print in snippets/results/, so that a changed output is seen in
review and a fresh clone is served quickly.

An output is used only as long as the code that prints it is the same, comments and docstrings
aside; otherwise the program runs. A server uses all of them, other builds those of slow programs.
"""

import functools
import json
from pathlib import Path
from typing import NamedTuple

from bookbuild.localize.build import chinese_path
from bookbuild.pages import fresh, paths
from bookbuild.pages.files import write_file
from bookbuild.run.jobs import Job, code, dependencies, list_jobs, snippets
from bookbuild.run.workers import preload_modules

FILE = "outputs.json"
SLOW = 1.0  # second of CPU time, in both languages together


class Output(NamedTuple):
    """What a program prints in English and, if it has words, in Chinese."""

    key: str
    seconds: float
    texts: list[str]

    @property
    def is_slow(self) -> bool:
        return self.seconds >= SLOW


def recorded_outputs() -> dict[str, Output]:
    """The recorded outputs by the names of their jobs."""
    path = paths.SNIPPETS / "results" / FILE
    outputs = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return {name: Output(**output) for name, output in outputs.items()}


def code_key(job: Job) -> str:
    """A hash of the code of a job, in both languages."""
    files = sorted(dependencies(job.source))
    if job.chinese:
        files += map(chinese_path, snippets(job.source))
    return fresh.hash_texts(map(hash_code, files))


@functools.cache
def hash_code(path: Path) -> str:
    return fresh.hash_bytes(code(path)) if path.suffix == ".ipynb" else fresh.hash_file(path)


def is_done(job: Job, serving: bool) -> bool:
    """Whether the outputs are fresh and, for a build that isn't a server's, made by this clone or
    by a slow program."""
    return job.is_fresh() and (serving or fresh.recorded(job.record_name)[1] is not None)


def jobs_to_run(stale: list[Job], serving: bool) -> list[Job]:
    """The stale jobs whose output isn't taken from the record; writes the outputs of the others."""
    outputs, remaining = recorded_outputs(), []
    if any(job.name in outputs for job in stale):
        preload_modules(stale)  # the translator's module, which imports torch, reads the code
    for job in stale:
        output = outputs.get(job.name)
        if output and (serving or output.is_slow) and output.key == code_key(job):
            for path, text in zip(job.outputs, output.texts, strict=True):
                write_file(path, text)
            seconds = output.seconds if output.is_slow else None  # it hasn't run
            fresh.record(job.record_name, job.key(), seconds)
        else:
            remaining.append(job)
    return remaining


def record_outputs(jobs: list[Job]) -> None:
    """Record what these jobs, which are fresh, print."""
    names = {job.name for job in list_jobs()}
    outputs = {name: output for name, output in recorded_outputs().items() if name in names}
    for job in jobs:
        # Not those of proofs, which each build measures anew.
        if (job.is_program or job.is_notebook) and job.is_fresh():
            texts = [path.read_text("utf-8") for path in job.outputs]
            new = Output(code_key(job), fresh.recorded(job.record_name)[1] or 0.0, texts)
            old = outputs.get(job.name)
            if not (old and old[::2] == new[::2]):  # another time alone is no change
                outputs[job.name] = new
    entries = {name: output._asdict() for name, output in sorted(outputs.items())}
    text = json.dumps(entries, indent=1, ensure_ascii=False) + "\n"
    write_file(paths.SNIPPETS / "results" / FILE, text)


def stale_outputs() -> list[str]:
    """The names of the recorded outputs that are of other code, or of no program."""
    jobs = {job.name: job for job in list_jobs()}
    return [
        name
        for name, output in recorded_outputs().items()
        if name not in jobs or output.key != code_key(jobs[name])
    ]

"""Run the examples, exercises, labs and proofs, draw the figures, write the downloads.

Without a name: every job whose inputs have changed. The inputs are the file, the local files
that it imports, and the pinned versions. With names, or parts of names: these jobs in any case.
What slow programs print is taken from snippets/results/outputs.json if that has it of their code.
All outputs go to .generated/; a file is only written when its content changes.
"""

import argparse
import sys
import time
from pathlib import Path

from filelock import AcquireReturnProxy

from bookbuild.generated import (
    bibliography,
    claim_tables,
    contents_tables,
    pencil_steps,
    quizzes,
    shapes,
)
from bookbuild.localize.build import (
    chinese_path,
    record_name,
    write_chinese_downloads,
    write_chinese_snippets,
)
from bookbuild.localize.catalogs import snippet_files
from bookbuild.pages import fresh, paths
from bookbuild.pages.errors import describe_error
from bookbuild.pages.files import PARTIAL_SUFFIX, check_encodings, write_file
from bookbuild.pages.glossary import glossary_table
from bookbuild.pages.paths import LANGUAGES
from bookbuild.pages.sections import without_section_markers
from bookbuild.run import recorded
from bookbuild.run.jobs import Job, list_jobs
from bookbuild.run.locks import file_lock
from bookbuild.run.workers import run_jobs
from bookbuild.step_through import step_notes

# In snippets/results/; no example reads them.
UNREAD_RESULTS = ("claims.json", recorded.FILE)


def downloadable_snippets() -> list[Path]:
    """The snippets that a reader needs beside a copied code block."""
    patterns = "*.py", "variants/*.py", "*.js", "*.txt", "*.json", "results/*.json", "*.safetensors"
    found = [path for pattern in patterns for path in paths.SNIPPETS.glob(pattern)]
    return sorted(path for path in found if path.name not in UNREAD_RESULTS)


def write_downloads_and_tables() -> None:
    """Write everything that is copied or converted rather than run; takes almost no time."""
    write_chinese_downloads(downloadable_snippets())
    for path in downloadable_snippets():
        is_code = path.suffix in (".py", ".js")
        content = without_section_markers(path) if is_code else path.read_bytes()
        write_file(paths.DOWNLOADS / path.relative_to(paths.SNIPPETS), content)
    for language in LANGUAGES:
        folder = paths.GENERATED / language
        write_file(folder / "contents.md", contents_tables.home_table(language))
        write_file(folder / "glossary.md", glossary_table(language))
        if notes := step_notes.step_notes(language):
            write_file(step_notes.notes_path(language), notes)
        for name, software in (("works", False), ("software", True)):
            text = bibliography.list_references(language, software=software)
            write_file(folder / "sources" / f"{name}.md", text)
        for name, path in quizzes.quiz_files().items():
            write_file(folder / "quizzes" / f"{name}.md", quizzes.quiz_markdown(path, language))
        for name, table in pencil_steps.page_tables(language).items():
            write_file(folder / "by-hand" / f"{name}.md", table)
        for name, table in shapes.shape_tables(language).items():
            write_file(folder / "shapes" / f"{name}.md", table)
    claim_tables.write()


def remove_obsolete_files(jobs: list[Job]) -> None:
    """Remove outputs whose source is gone, and partial files of a killed run."""
    for path in paths.GENERATED.rglob(f"*{PARTIAL_SUFFIX}"):
        path.unlink()
    current = {path for job in jobs for path in job.outputs}
    current |= {fresh.record_path(job.record_name) for job in jobs}
    for snippet in snippet_files():
        current |= {chinese_path(snippet), fresh.record_path(record_name(snippet))}
    own = paths.GENERATED / "zh"
    for path in downloadable_snippets():
        name = path.relative_to(paths.SNIPPETS)
        current |= {paths.DOWNLOADS / name, own / "downloads" / name}
    current |= {step_notes.notes_path(language) for language in LANGUAGES}
    names = "outputs", "downloads", "fresh/jobs", "fresh/zh"
    folders = [paths.GENERATED / name for name in names]
    folders += [own / name for name in ("outputs", "downloads", "snippets")]
    folders += [paths.GENERATED / language / "figures" for language in LANGUAGES]
    for folder in folders:
        for path in folder.rglob("*"):
            if path.is_file() and not path.is_symlink() and path not in current:
                path.unlink()


def generation_lock() -> AcquireReturnProxy:
    """Lets a second process that generates wait for the first."""
    return file_lock(paths.GENERATED / "lock", "generating")


def stale_jobs() -> list[Job]:
    """The jobs that must run."""
    check_encodings()
    with generation_lock():
        write_chinese_snippets()
        return [job for job in list_jobs() if not job.is_fresh()]


def update_tables() -> None:
    """Write what isn't run, and remove what is obsolete."""
    with generation_lock():
        write_chinese_snippets()
        jobs = list_jobs()
        remove_obsolete_files(jobs)
        write_downloads_and_tables()


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/generate", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--list", action="store_true", help="list the names and their state")
    parser.add_argument("--force", action="store_true", help="run every job, even if it is fresh")
    help = "keep what programs print beside them, to compare later outputs with"
    parser.add_argument("--accept", action="store_true", help=help)
    try:
        return generate(parser.parse_args())
    except KeyboardInterrupt:
        message = "generate: interrupted; finished outputs are kept"
    except Exception as error:
        if not (message := describe_error(error)):
            raise
    print(message, file=sys.stderr)
    return 1


def accept_outputs(jobs: list[Job]) -> None:
    """Copy the outputs of snippets beside them; a test compares each later output with its copy."""
    kept = recorded.recorded_outputs()
    for job in jobs:
        if job.source.is_relative_to(paths.SNIPPETS) and job.is_fresh() and job.name not in kept:
            write_file(job.source.with_suffix(".txt"), job.outputs[0].read_bytes())


def generate(args: argparse.Namespace) -> int:
    """Run or list the requested jobs; returns the exit status."""
    started = time.monotonic()
    check_encodings()
    with generation_lock():
        write_chinese_snippets()
    jobs = list_jobs()
    selected = [
        job for job in jobs if not args.names or any(name in job.name for name in args.names)
    ]
    if not selected and args.names:
        names = " or ".join(args.names)
        print(f"generate: no job is named {names}; see --list", file=sys.stderr)
        return 1
    if args.list:
        for job in selected:
            print(f"{'fresh' if job.is_fresh() else 'stale'}  {job.name}")
        return 0
    failures: list[str] = []
    with generation_lock():
        remove_obsolete_files(jobs)
        run_fresh = args.force or args.names
        pending = [job for job in selected if run_fresh or not job.is_fresh()]
        if not run_fresh:
            pending = recorded.jobs_to_run(pending)
        if pending:
            failures = run_jobs(pending)
        for message in dict.fromkeys(failures):  # on a full disk they are all the same
            print(f"\n{message}", file=sys.stderr)
        write_downloads_and_tables()  # of claims and shapes too, from the output of the proofs
    if args.accept:
        accept_outputs(selected)
    seconds = time.monotonic() - started
    print(
        f"generate: {len(pending) - len(failures)} run, {len(selected) - len(pending)} unchanged, "
        f"{len(failures)} failed, {seconds:.1f} s"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

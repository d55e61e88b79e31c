"""Run the examples, exercises, labs and proofs, draw the figures, write the downloads.

Without a name: every job whose inputs have changed. The inputs are the file, the local files
that it imports, and the pinned versions. With names, or parts of names: these jobs in any case.
What slow programs print, for a server what any prints, is taken from snippets/results/outputs.json
if that has it of their code.
All outputs go to .generated/; a file is only written when its content changes.
"""

import argparse
import re
import sys
import time
from collections.abc import Iterator

from filelock import AcquireReturnProxy

from bookbuild.generated import (
    bibliography,
    claim_tables,
    contents_tables,
    pencil_steps,
    quizzes,
    shapes,
)
from bookbuild.localize.build import chinese_path, record_name, write_chinese_snippets
from bookbuild.localize.catalogs import snippet_files
from bookbuild.pages import fresh, paths
from bookbuild.pages.errors import SourceError, describe_error
from bookbuild.pages.files import PARTIAL_SUFFIX, check_encodings, write_file
from bookbuild.pages.glossary import glossary_table
from bookbuild.pages.paths import LANGUAGES
from bookbuild.run import recorded
from bookbuild.run.jobs import Job, list_jobs
from bookbuild.run.locks import file_lock
from bookbuild.run.page_files import downloadable_snippets, file_contents, write_zip, zip_path
from bookbuild.run.workers import run_jobs
from bookbuild.step_through import step_notes

# FILE:LINE: CAUSE; correct it, …
FAILURE = re.compile(
    r"\S+:\d+: (?:cell \d+: |in Chinese: )*(?P<cause>.*?)(?:; correct it.*)?$", re.M
)
MAX_PLACES = 3  # in one message


def write_downloads_and_tables() -> None:
    """Write everything that is copied or converted rather than run; takes almost no time."""
    for language in LANGUAGES:
        for name, content in file_contents(downloadable_snippets(), language):
            if language == "en" or isinstance(content, str):  # code, which has words
                write_file(zip_path(language).parent / name, content)
        write_zip(language)
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
    names = [path.relative_to(paths.SNIPPETS) for path in downloadable_snippets()]
    for language in LANGUAGES:
        current |= {step_notes.notes_path(language), zip_path(language)}
        current |= {zip_path(language).parent / name for name in names}
    own = (f"{language}/figures" for language in LANGUAGES)
    chinese = "zh/outputs", "zh/downloads", "zh/snippets"
    for folder in ("outputs", "downloads", "fresh/jobs", "fresh/zh", *chinese, *own):
        for path in (paths.GENERATED / folder).rglob("*"):
            if path.is_file() and not path.is_symlink() and path not in current:
                path.unlink()


def generation_lock() -> AcquireReturnProxy:
    """Lets a second process that generates wait for the first."""
    return file_lock(paths.GENERATED / "lock", "generating")


def stale_jobs(serving: bool = False) -> list[Job]:
    """The jobs that must run."""
    check_encodings()
    with generation_lock():
        write_chinese_snippets()
        return [job for job in list_jobs() if not recorded.is_done(job, serving)]


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
    help = "keep what programs print in snippets/results/, to compare later outputs with"
    parser.add_argument("--accept", action="store_true", help=help)
    help = "don't run programs whose output is kept, even if they are quick"
    parser.add_argument("--serving", action="store_true", help=help)
    try:
        return generate(parser.parse_args())
    except KeyboardInterrupt:
        message = "generate: interrupted; finished outputs are kept"
    except Exception as error:
        if not (message := describe_error(error)):
            raise
    print(message, file=sys.stderr)
    return 1


def check_syntax() -> None:
    """Raise SourceError if a module doesn't compile, on which many jobs depend."""
    for path in [*paths.SNIPPETS.glob("*.py"), *paths.SNIPPETS.glob("variants/*.py")]:
        try:
            compile(path.read_bytes(), path, "exec", dont_inherit=True)
        except SyntaxError as error:
            message = f"{type(error).__name__}: {error.msg}; correct it"
            raise SourceError(path, error.lineno or 1, message) from None


def distinct_failures(failures: list[str]) -> Iterator[str]:
    """One message for each cause, with the other places that it stops; on a full disk all messages
    are the same."""
    causes: dict[str, list[str]] = {}
    for message in dict.fromkeys(failures):
        match = FAILURE.match(message)
        causes.setdefault(match["cause"] if match else message, []).append(message)
    for first, *others in causes.values():
        places = [other.partition(": ")[0] for other in others]
        more = f", … ({len(places)} in all)" if len(places) > MAX_PLACES else ""
        also = f"\nThe same at {', '.join(places[:MAX_PLACES])}{more}" if places else ""
        yield first + also


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
            print(f"{'fresh' if recorded.is_done(job, args.serving) else 'stale'}  {job.name}")
        return 0
    failures: list[str] = []
    with generation_lock():
        remove_obsolete_files(jobs)
        run_fresh = args.force or args.names
        pending = [job for job in selected if run_fresh or not recorded.is_done(job, args.serving)]
        if not run_fresh:
            pending = recorded.jobs_to_run(pending, args.serving)
        if pending:
            check_syntax()
            outputs = recorded.recorded_outputs()
            failures = run_jobs(pending, {name: outputs[name].texts[0] for name in outputs})
        for message in distinct_failures(failures):
            print(f"\n{message}", file=sys.stderr)
        write_downloads_and_tables()  # of claims and shapes too, from the output of the proofs
    if args.accept:
        recorded.record_outputs(selected)
    seconds = time.monotonic() - started
    print(
        f"generate: {len(pending) - len(failures)} run, {len(selected) - len(pending)} unchanged, "
        f"{len(failures)} failed, {seconds:.1f} s"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

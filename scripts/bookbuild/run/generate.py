"""Run the examples, exercises, labs and proofs, draw the figures, write the downloads.

usage: scripts/generate [--list] [--force] [NAME ...]

Without a name: all whose key has changed. A key is made of the file, the local
files that it imports and the lock files; same key, no work. With names (or
parts of names): those, whatever their keys; --list tells the names.
Everything goes into .generated/; bytes that are the same are not written again.
"""

import argparse
import re
import sys
import time
from contextlib import AbstractContextManager
from pathlib import Path

from bookbuild.pages import paths
from bookbuild.pages.errors import SetupError, SourceError, describe_os_error
from bookbuild.pages.files import PARTIAL_SUFFIX, encoding_errors, write_file
from bookbuild.pages.glossary import glossary_table, segmentation_words
from bookbuild.pages.paths import LANGUAGES
from bookbuild.pages.sections import without_section_markers
from bookbuild.reference import bibliography, claims, quizzes, shapes
from bookbuild.run.jobs import Job, list_jobs
from bookbuild.run.locks import file_lock
from bookbuild.run.workers import run_jobs


def downloads() -> list[Path]:
    """What a reader needs beside a copied block."""
    patterns = "*.py", "variants/*.py", "*.js", "results/*.json", "*.safetensors"
    return sorted(path for each in patterns for path in paths.SNIPPETS.glob(each))


def write_texts() -> None:
    """What is copied or rewritten rather than run: it takes no time."""
    for path in downloads():
        code = path.suffix in (".py", ".js")
        data = without_section_markers(path) if code else path.read_bytes()
        write_file(paths.DOWNLOADS / path.relative_to(paths.SNIPPETS), data)
    for language in LANGUAGES:
        folder = paths.GENERATED / language
        write_file(folder / "glossary.md", glossary_table(language))
        for name, software in (("works", False), ("software", True)):
            text = bibliography.list_references(language, software=software)
            write_file(folder / "sources" / f"{name}.md", text)
        for name, path in quizzes.quiz_files().items():
            write_file(folder / "quizzes" / f"{name}.md", quizzes.quiz_markdown(path, language))
        for name, text in shapes.tables(language).items():
            write_file(folder / "shapes" / f"{name}.md", text)
    words = paths.GENERATED / "zh" / "words.txt"
    write_file(words, segmentation_words())
    claims.write()


def remove_leftovers(all_jobs: list[Job]) -> None:
    """Outputs of files that are no more, and what a killed run was writing."""
    for path in paths.GENERATED.rglob(f"*{PARTIAL_SUFFIX}"):
        path.unlink()
    wanted = {path for job in all_jobs for path in (*job.outputs, job.stamp)}
    wanted |= {paths.DOWNLOADS / path.relative_to(paths.SNIPPETS) for path in downloads()}
    folders = [paths.GENERATED / part for part in ("outputs", "keys", "downloads")]
    folders += [paths.GENERATED / language / "figures" for language in LANGUAGES]
    for folder in folders:
        for path in folder.rglob("*"):
            if path.is_file() and path not in wanted:
                path.unlink()


def generation_lock() -> AbstractContextManager[None]:
    """Two builds at once: the second waits for the first."""
    return file_lock(paths.GENERATED / "lock", "generating")


def is_stale() -> bool:
    """Is there anything to run? Writes the texts; runs nothing."""
    for fault in encoding_errors():
        raise fault
    with generation_lock():
        write_texts()
        all_jobs = list_jobs()
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
    except (SourceError, SetupError) as fault:
        print(fault, file=sys.stderr)
    except OSError as error:
        trouble = describe_os_error(error)
        if not trouble:
            raise
        print(trouble, file=sys.stderr)
    except KeyboardInterrupt:
        print("generate: interrupted; what was made is kept, the rest follows", file=sys.stderr)
    return 1


def generate(args: argparse.Namespace) -> int:
    started = time.monotonic()
    for fault in encoding_errors():
        raise fault
    all_jobs = list_jobs()
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
    with generation_lock():
        write_texts()
        remove_leftovers(all_jobs)
        everything = args.force or bool(args.names)
        todo = [job for job in chosen if everything or not job.fresh()]
        if todo:
            failed = run_jobs(todo)
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

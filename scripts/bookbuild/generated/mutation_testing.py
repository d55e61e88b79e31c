"""The outcomes of mutation testing, and why the mutants that no test kills are equivalent.

The record, snippets/results/mutation_testing.json, has for each file a hash of each of its parts,
the number of mutants of this part, and the mutants that no test kills. A part is a statement of the
module: a function, a class. All other mutants of a recorded part are killed.
"""

import ast
import json
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import yaml

from bookbuild.pages import fresh, paths

FILES = (
    *("transformer.py", "decode.py", "byte_pair_encoding.py", "numerals.py"),
    *("batching.py", "trainer.py", "train.py"),
)


class Record(NamedTuple):
    """The outcomes of a file's mutants."""

    parts: dict[str, int]  # the hash of a part, and its number of mutants
    survived: list[str]  # the changed line, before and after


def results_file() -> Path:
    return paths.SNIPPETS / "results" / "mutation_testing.json"


def part_hashes(text: str) -> list[str]:
    """The hash of each statement of a module, without comments and docstrings."""
    # Here, since it imports the files themselves: a mutant is imported by a fresh process.
    from translator import code_only

    hashes = []
    for node in ast.parse(text).body:
        first = min(part.lineno for part in [node, *getattr(node, "decorator_list", [])])
        part = code_only("\n".join(text.splitlines()[first - 1 : node.end_lineno]))
        hashes.append(fresh.hash_bytes(part.encode())[:10])
    return hashes


def load_results() -> dict[str, Record]:
    """The records by file."""
    if not results_file().exists():
        return {}
    files = json.loads(results_file().read_text(encoding="utf-8"))["files"]
    return {file: Record(**each) for file, each in files.items()}


def save_results(file: str, record: Record) -> None:
    """Write the record of a file; the others stay."""
    records = {**load_results(), file: record}
    files = {name: records[name]._asdict() for name in FILES if name in records}
    result = {"tool": f"Cosmic Ray {version('cosmic-ray')}", "files": files}
    text = json.dumps(result, ensure_ascii=False, indent=1)
    results_file().write_text(f"{text}\n", encoding="utf-8")


def untested_parts(file: str) -> set[str]:
    """The hashes of a file's parts whose mutants have not been tried."""
    record = load_results().get(file)
    text = (paths.SNIPPETS / file).read_text(encoding="utf-8")
    return {*part_hashes(text)} - (record.parts.keys() if record else set())


def equivalent_mutants() -> dict[str, dict[str, str]]:
    """Why mutants are equivalent, by file and difference."""
    path = paths.SCRIPTS / "evidence" / "equivalent_mutants.yml"
    reasons: dict[str, dict[str, str]] = {file: {} for file in FILES}
    for entry in yaml.safe_load(path.read_text(encoding="utf-8")):
        for difference in entry["mutants"]:
            reasons[entry["file"]][difference] = entry["reason"]
    return reasons


def unexplained_survivors() -> list[str]:
    """The survivors without a reason, and the reasons for mutants that have not survived."""
    reasons, messages = equivalent_mutants(), []
    for file, record in load_results().items():
        survived, explained = {*record.survived}, reasons[file].keys()
        messages += [f"{file}: no test kills {each}" for each in sorted(survived - explained)]
        messages += [f"{file}: a test kills {each}" for each in sorted(explained - survived)]
    return messages

"""The outcomes of mutation testing, and why the mutants that no test kills are equivalent."""

import hashlib
import json
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import yaml

from bookbuild.pages import paths

FILES = ("transformer.py", "decode.py", "byte_pair_encoding.py", "numerals.py", "train.py")


class Record(NamedTuple):
    """The outcomes of a file's mutants."""

    code: str  # hash of the file
    mutants: int
    killed: list[str]  # keys of mutants
    survived: dict[str, str]  # key to "old line → new line"

    def outcomes(self) -> dict[str, str]:
        """The key of each mutant, to its difference if it has survived, else to nothing."""
        return {**dict.fromkeys(self.killed, ""), **self.survived}


def results_file() -> Path:
    return paths.SNIPPETS / "results" / "mutation_testing.json"


def hash_code(path: Path) -> str:
    """A hash of a file; comments and docstrings of Python don't change it."""
    # Here, since it imports the files themselves: a mutant is imported by a fresh process.
    from translator import code_only

    if not path.is_file():
        return "missing"
    data = path.read_bytes()
    code = code_only(data.decode()).encode() if path.suffix == ".py" else data
    return hashlib.sha256(code).hexdigest()[:16]


def load_results() -> dict[str, Record]:
    """The records by file."""
    if not results_file().exists():
        return {}
    files = json.loads(results_file().read_text(encoding="utf-8"))["files"]
    return {
        file: Record(each["code"], each["mutants"], each["killed"].split(), each["survived"])
        for file, each in files.items()
    }


def save_results(file: str, mutants: int, outcomes: dict[str, str]) -> None:
    """Write the outcomes of so many mutants of a file, in the form of Record.outcomes."""
    records = load_results()
    killed = sorted(key for key, difference in outcomes.items() if not difference)
    survived = {key: outcomes[key] for key in sorted(outcomes) if outcomes[key]}
    records[file] = Record(hash_code(paths.SNIPPETS / file), mutants, killed, survived)
    files = {
        name: {**records[name]._asdict(), "killed": " ".join(records[name].killed)}
        for name in FILES
        if name in records
    }
    result = {"tool": f"Cosmic Ray {version('cosmic-ray')}", "files": files}
    text = json.dumps(result, ensure_ascii=False, indent=1)
    results_file().write_text(f"{text}\n", encoding="utf-8")


def equivalent_mutants() -> dict[str, dict[str, str]]:
    """Why mutants are equivalent, by file and difference."""
    path = paths.CLAIMS / "equivalent_mutants.yml"
    reasons: dict[str, dict[str, str]] = {file: {} for file in FILES}
    for entry in yaml.safe_load(path.read_text(encoding="utf-8")):
        for difference in entry["mutants"]:
            reasons[entry["file"]][difference] = entry["reason"]
    return reasons


def known_outcomes(file: str) -> dict[str, str]:
    """The outcomes of a file's mutants that are killed, or equivalent for a known reason."""
    record, reasons = load_results().get(file), equivalent_mutants()[file]
    outcomes = record.outcomes() if record else {}
    return {key: text for key, text in outcomes.items() if not text or text in reasons}


def unexplained_survivors() -> list[str]:
    """The survivors without a reason, and the reasons for mutants that have not survived."""
    reasons, messages = equivalent_mutants(), []
    for file, record in load_results().items():
        survived, explained = {*record.survived.values()}, reasons[file].keys()
        messages += [f"{file}: no test kills {each}" for each in sorted(survived - explained)]
        messages += [f"{file}: a test kills {each}" for each in sorted(explained - survived)]
    return messages

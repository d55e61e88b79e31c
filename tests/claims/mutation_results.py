"""The outcomes of mutation testing, and why mutants that no test kills are equivalent."""

import json
from importlib.metadata import version
from typing import NamedTuple

import yaml

from mutants import CLAIMS, SNIPPETS, code_hash

RESULTS = SNIPPETS / "results" / "mutation_testing.json"
REASONS = CLAIMS / "equivalent_mutants.yml"
FILES = ("transformer.py", "decode.py", "train.py", "byte_pair_encoding.py", "numerals.py")


class Record(NamedTuple):
    """The outcomes of a file's mutants."""

    code: str  # hash of the file
    killed: list[str]  # keys of mutants
    survived: dict[str, str]  # key to "old line → new line"

    def outcomes(self) -> dict[str, str]:
        """The key of each mutant to its difference if it has survived, else to nothing."""
        return {**dict.fromkeys(self.killed, ""), **self.survived}


def load_results() -> dict[str, Record]:
    """The records by file."""
    if not RESULTS.exists():
        return {}
    files = json.loads(RESULTS.read_text(encoding="utf-8"))["files"]
    return {
        file: Record(each["code"], each["killed"].split(), each["survived"])
        for file, each in files.items()
    }


def save_results(file: str, outcomes: dict[str, str]) -> None:
    """Write the outcomes of a file's mutants."""
    records = load_results()
    killed = sorted(key for key, difference in outcomes.items() if not difference)
    survived = {key: outcomes[key] for key in sorted(outcomes) if outcomes[key]}
    records[file] = Record(code_hash(f"snippets/{file}"), killed, survived)
    files = {
        name: {**records[name]._asdict(), "killed": " ".join(records[name].killed)}
        for name in FILES
        if name in records
    }
    result = {"tool": f"Cosmic Ray {version('cosmic-ray')}", "files": files}
    text = json.dumps(result, ensure_ascii=False, indent=1)
    RESULTS.write_text(f"{text}\n", encoding="utf-8")


def reasons() -> dict[str, dict[str, str]]:
    """Why mutants are equivalent, by file and difference."""
    found: dict[str, dict[str, str]] = {file: {} for file in FILES}
    for entry in yaml.safe_load(REASONS.read_text(encoding="utf-8")):
        for difference in entry["mutants"]:
            found[entry["file"]][difference] = entry["reason"]
    return found


def describe_unexplained() -> str:
    """The survivors without a reason, and the reasons for mutants that have not survived."""
    explained, lines = reasons(), []
    for file, record in load_results().items():
        survived = {*record.survived.values()}
        lines += [
            f"{file}: no test kills {each}" for each in sorted(survived - explained[file].keys())
        ]
        lines += [
            f"{file}: a test kills {each}" for each in sorted(explained[file].keys() - survived)
        ]
    return "\n".join(lines)

"""What examples printed when their output was recorded."""

import json
from pathlib import Path

import transformer

OUTPUTS = Path(transformer.__file__).parent / "results" / "outputs.json"


def recorded_lines(name: str) -> list[str]:
    """The lines that an example, "examples/learned/reversal", printed.

    Another run of a training can end with other numbers than the page shows.
    """
    return json.loads(OUTPUTS.read_text(encoding="utf-8"))[name]["texts"][0].splitlines()

import json
import statistics
from pathlib import Path

import train

folder = Path(train.__file__).with_name("results")
measured = json.loads((folder / "remedies.json").read_text(encoding="utf-8"))


def mean(what, **which):
    """Of the fractions that the models of three seeds translate correctly."""
    return statistics.mean(
        run[what]
        for run in measured["runs"]
        if all(run[name] == value for name, value in which.items())
    )


print(
    f"no dropout, training numbers: {mean('training', name='no dropout'):.0%}"
)
print(f"no dropout, new numbers: {mean('new', name='no dropout'):.0%}")
print(f"dropout 0.1, new numbers: {mean('new', name='dropout'):.0%}")
print(f"Adam, new numbers: {mean('new', name='Adam'):.0%}")
rates = [0.1, 0.3, 1.0, 3.0]
matches = [mean("new", rate=rate) for rate in rates]
for rate, match in zip(rates, matches, strict=True):
    print(f"gradient descent, rate {rate}: {match:.0%}")
print(f"gradient descent, new numbers: {max(matches):.0%}")

import json
import math
from collections import Counter
from pathlib import Path

import corpus
import train

folder = Path(train.__file__).with_name("results")
runs = json.loads((folder / "training.json").read_text(encoding="utf-8"))[
    "runs"
]
for task in train.TASKS:
    own = [run for run in runs if run["task"] == task]
    for run in own:
        match = run["match"]
        kinds = {kind: share for kind, share in match.items() if kind != "all"}
        worst = min(kinds, key=kinds.__getitem__)
        name = f"{task}, seed {run['seed']}"
        print(f"{name}, test: {match['all']:.2%}")
        print(f"{name}, worst kind: {worst}")
        print(f"{name}, match of the worst kind: {kinds[worst]:.1%}")
        print(f"{name}, CPU seconds: {run['seconds']:.0f}")
    targets = Counter(
        tuple(pair.target) for pair in train.TASKS[task].pairs("test")
    )
    most = max(targets.values()) / targets.total()
    print(f"{task}, always the most frequent answer: {most:.1%}")
    points = own[0]["curve"]
    print(f"{task}, loss at the first point: {points[0]['loss']:.2f}")
    print(f"{task}, loss at the last point: {points[-1]['loss']:.3f}")
    half = next(point for point in points if point["match"] > 0.5)
    print(f"{task}, half of the sentences after step: {half['step']}")
    print(f"{task}, loss there: {half['loss']:.2f}")
    if task != "numerals":
        continue
    characters = {c for pair in corpus.numerals("train") for c in pair.target}
    tokens = len(corpus.Vocabulary(characters))
    rest = 0.1 / tokens  # of the smoothed target, for each wrong token
    right = 0.9 + rest
    floor = -right * math.log(right) - (tokens - 1) * rest * math.log(rest)
    print(f"{task}, floor of the loss: {floor:.3f}")
    first, there, last = (
        point["loss"] - floor for point in (points[0], half, points[-1])
    )
    guess = math.log(tokens) - floor
    print(f"{task}, above the floor when guessing evenly: {guess:.2f}")
    print(f"{task}, above the floor at the first point: {first:.2f}")
    print(f"{task}, above the floor there: {there:.2f}")
    print(f"{task}, above the floor at the last point: {last:.4f}")
    print(f"{task}, times smaller than there: {there / last:.0f}")

import json
import math
from pathlib import Path
from statistics import fmean

import transformer
from train_pairs import SIZES

folder = Path(transformer.__file__).with_name("results")
text = (folder / "real-corpus.json").read_text(encoding="utf-8")
measured = json.loads(text)
print("pairs:", f"{measured['pairs']:,}")
print("packages:", len(measured["sources"]))
for source in measured["sources"]:
    print(f"{source['package']}: {int(source['kept']):,}")
reasons = [*measured["sources"][0]][4:]
for reason in reasons:
    total = sum(int(source[reason]) for source in measured["sources"])
    print(f"dropped, {reason}: {total:,}")
words = measured["words"] / measured["pairs"]
print(f"four words or more: {100 * words:.0f}%")
for part, count in measured["parts"].items():
    print(f"{part}: {count:,}")
dropped = measured["pairs"] - sum(measured["parts"].values())
print(f"dropped, near duplicates: {dropped:,}")
for split, fraction in measured["leak"].items():
    print(f"near duplicates, {split}: {100 * fraction:.0f}%")

runs = measured["runs"]
groups = {run["variant"]: [] for run in runs}
for run in runs:
    groups[run["variant"]].append(run)
for name, group in groups.items():
    print(f"{name}, pairs: {group[0]['pairs']:,}")
    print(f"{name}, subwords: {group[0]['subwords']:,}")
    for run in group if len(group) > 1 else []:
        for part in "test", "seen":
            for score in "BLEU", "chrF2":
                label = f"{name}, {part}, {score}, seed {run['seed']}"
                print(f"{label}: {run[part][score][0]:.1f}")
    for part in "test", "seen":
        for score in "BLEU", "chrF2":
            values = [run[part][score] for run in group]
            mean, half = (fmean(column) for column in zip(*values, strict=True))
            print(f"{name}, {part}, {score}: {mean:.1f} ± {half:.1f}")
        same = fmean(run[part]["same"] for run in group)
        fraction = same / measured["tested"][part]
        print(f"{name}, {part}, same as the reference: {100 * fraction:.0f}%")
for name, parts in measured["baselines"].items():
    for part, scores in parts.items():
        for score in "BLEU", "chrF2":
            value, half = scores[score]
            print(f"{name}, {part}, {score}: {value:.1f} ± {half:.1f}")
        fraction = scores["same"] / measured["tested"][part]
        print(f"{name}, {part}, same as the reference: {100 * fraction:.0f}%")

main = groups["main"]
scores = sorted(run["test"]["BLEU"][0] for run in main)
print(f"main, test, BLEU, lowest: {scores[0]:.1f}")
print(f"main, test, BLEU, highest: {scores[-1]:.1f}")
(quarter,) = groups["a quarter of the pairs"]
gain = fmean(scores) - quarter["test"]["BLEU"][0]
print(f"BLEU for four times the pairs: {gain:.1f}")
length = fmean(run["test"]["length"] for run in main)
print(f"characters of the model's translations: {100 * length:.0f}%")
penalty = math.exp(1 - 1 / length)  # counted in characters
print(f"brevity penalty of the model: {penalty:.2f}")
print(f"BLEU without the brevity penalty: {fmean(scores) / penalty:.0f}")
print("parameters:", f"{main[0]['parameters']:,}")
print("steps:", f"{measured['curves']['0'][-1]['step']:,}")
print("minutes a run:", round(fmean(run["seconds"] for run in main) / 60))
print("minutes, all runs:", round(sum(run["seconds"] for run in runs) / 60))
small, settings = SIZES["small"], measured["settings"]
batches = small["batch_size"] / settings["batch_size"]
ratio = small["steps"] / settings["steps"] * batches
seconds = ratio * fmean(run["training seconds"] for run in main)
print("minutes of the small size:", round(seconds / 60))

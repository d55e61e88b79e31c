import json
from pathlib import Path

import train
import trainer

folder = Path(train.__file__).with_name("results")
measured = json.loads((folder / "schedules.json").read_text(encoding="utf-8"))
steps, warmup = measured["steps"], measured["warm-up"]
print("steps:", steps)
print("warm-up:", warmup)
for schedule in "root", "straight":
    for peak in "paper", "ours":
        match = [
            f"{run['match']:.1%}"
            for run in measured["runs"]
            if (run["schedule"], run["peak"]) == (schedule, peak)
        ]
        print(f"{schedule}, {peak}:", ", ".join(match))
d_model = train.SIZES["d_model"]
last = trainer.noam_learning_rate(steps, d_model, warmup)
print(f"the formula at the last step: {last:.4f}")

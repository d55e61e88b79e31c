"""Runs of several variants with several learning rates and seeds, and their comparison.

Each variant is trained with every learning rate and the first two seeds. The rate with the
smallest mean loss is then used with the other seeds.
"""

import json
import math
import os
import platform
import statistics
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import torch

RATE_SEEDS = (0, 1)  # with each learning rate
SEEDS = (0, 1, 2, 3, 4)  # with the best one
Run = dict[str, Any]


class Job(NamedTuple):
    """A run: what is trained on which task, with which learning rate and seed."""

    task: str
    variant: str
    rate: float
    seed: int


class Task(NamedTuple):
    """How to make a run of a variant, its key, the loss that chooses a rate, and the rates."""

    run: Callable[[str, int, float], Run]  # of a variant, a seed and a rate
    key: Callable[[str], str]
    loss: Callable[[Run], float]
    rates: dict[str, tuple[float, ...]]  # of each variant


def best_rate(tasks: dict[str, Task], task: str, variant: str, runs: dict[Job, Run]) -> float:
    """The rate with the smallest mean loss; NaN unless all of them are measured."""
    losses = {}
    for rate in tasks[task].rates[variant]:
        jobs = [Job(task, variant, rate, seed) for seed in RATE_SEEDS]
        if any(job not in runs for job in jobs):
            return math.nan
        losses[rate] = statistics.fmean(tasks[task].loss(runs[job]) for job in jobs)
    return min(losses, key=losses.__getitem__)


def all_jobs(tasks: dict[str, Task], runs: dict[Job, Run]) -> dict[Job, str]:
    """All runs that are needed, as far as the runs so far decide them, each with its key."""
    jobs = {}
    for name, task in tasks.items():
        for seed in SEEDS:
            for variant, rates in task.rates.items():
                if seed not in RATE_SEEDS:
                    rates = (best_rate(tasks, name, variant, runs),)
                key = task.key(variant)
                jobs |= {Job(name, variant, rate, seed): key for rate in rates if rate == rate}
    return jobs


def best_runs(tasks: dict[str, Task], runs: dict[Job, Run], task: str, variant: str) -> list[Run]:
    """The runs of a variant with its best learning rate, in the order of the seeds."""
    rate = best_rate(tasks, task, variant, runs)
    return [runs[Job(task, variant, rate, seed)] for seed in SEEDS]


def read_runs(path: Path) -> dict[Job, Run]:
    if not path.exists():
        return {}
    runs = json.loads(path.read_text("utf-8"))["runs"]
    return {Job(*(run[name] for name in Job._fields)): run for run in runs}


def run_sweep(
    path: Path, tasks: dict[str, Task], summary: Callable[[dict[Job, Run]], dict[str, Any]]
) -> None:
    """Make the runs that are missing or stale; write all of them, and at the end a summary."""
    torch.set_num_threads(1)
    environment = {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "cores": os.cpu_count(),
        "threads": 1,
    }
    runs = read_runs(path)
    while True:
        jobs = all_jobs(tasks, runs)
        runs = {job: runs[job] for job, key in jobs.items() if runs.get(job, {}).get("key") == key}
        missing = [job for job in jobs if job not in runs]
        record = {"environment": environment} | ({} if missing else summary(runs))
        record["runs"] = [*runs.values()]
        path.write_text(f"{json.dumps(record, ensure_ascii=False, indent=1)}\n", "utf-8")
        if not missing:
            break
        job = missing[0]
        result = tasks[job.task].run(job.variant, job.seed, job.rate)
        print(*job, result, flush=True)
        runs[job] = json.loads(json.dumps(job._asdict() | {"key": jobs[job]} | result))


def minimum_loss(vocab_size: int, smoothing: float) -> float:
    """The smallest cross-entropy with label smoothing: the entropy of the target, in nats."""
    target = torch.full((vocab_size,), smoothing / vocab_size, dtype=torch.float64)
    target[0] += 1 - smoothing
    return torch.special.entr(target).sum().item()


def t_quantile(probability: float) -> float:
    """The quantile of Student's t distribution with four degrees of freedom, by bisection."""
    low, high = 0.0, 1e6
    for _ in range(200):
        t = (low + high) / 2
        x = t / math.sqrt(4 + t * t)
        if 0.5 + 0.75 * (x - x**3 / 3) < probability:
            low = t
        else:
            high = t
    return low


def ratio_with_interval(
    values: Iterable[float], reference: Iterable[float], comparisons: int
) -> list[float]:
    """The geometric mean of five ratios, and its 95% interval over so many comparisons.

    Ratios are taken seed by seed. By Bonferroni's correction all intervals together contain the
    true ratios with a probability of at least 95%, if the logarithms are normally distributed.
    """
    logs = [math.log(a / b) for a, b in zip(values, reference, strict=True)]
    mean = statistics.fmean(logs)
    half = t_quantile(1 - 0.025 / comparisons) * statistics.stdev(logs) / math.sqrt(len(logs))
    return [round(math.exp(mean + sign * half), 4) for sign in (0, -1, 1)]


def wilson_interval(correct: int, total: int) -> list[float]:
    """The 95% interval of a fraction (Wilson 1927)."""
    z = statistics.NormalDist().inv_cdf(0.975)
    p = correct / total
    middle = (p + z * z / (2 * total)) / (1 + z * z / total)
    half = z * math.sqrt(p * (1 - p) / total + z * z / (4 * total**2)) / (1 + z * z / total)
    return [round(middle - half, 5), round(middle + half, 5)]

"""The functions of trainer.py, batching.py and train.py: what no page claims.

These tests take moments, so that a mutant need not wait for a model to learn.
"""

import itertools
import math
import random
import runpy
import sys
from contextlib import nullcontext
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

import train as training
from batching import batches, example_of
from helpers import SNIPPETS
from small_training import PAIRS, SHORT, SIZES, interrupt_at, silent, small_translator
from train import Task
from trainer import (
    SINGLE_PROCESS,
    DistributedContext,
    Settings,
    Trainer,
    distributed_context,
    forward_backward,
    label_smoothed_cross_entropy,
    learning_rate,
    linear_learning_rate,
    noam_learning_rate,
    show_line,
)
from translator import exact_match, load_translator

# Arguments out of range


@pytest.mark.parametrize("smoothing", [-0.01, 1.01, -1, 2])
def test_the_loss_rejects_a_smoothing_beyond_its_limits(smoothing):
    with pytest.raises(ValueError, match=f"smoothing must lie in 0 .. 1, got {smoothing}"):
        label_smoothed_cross_entropy(torch.zeros(1, 5), torch.ones(1).long(), smoothing, 0)


@pytest.mark.parametrize(
    ("logits", "targets"), [((2, 5), (2, 3)), ((2, 3, 5), (2,)), ((3, 5), (2,))]
)
def test_the_loss_rejects_logits_with_fewer_or_more_axes_than_the_targets_need(logits, targets):
    with pytest.raises(ValueError, match="logits need the shape of the targets and one axis more"):
        label_smoothed_cross_entropy(torch.zeros(logits), torch.ones(targets).long(), 0.1, 0)


# The learning rate


@pytest.mark.parametrize("numbers", [(0, 9, 9), (9, 0, 9), (9, 9, 0), (-1, 9, 9)])
def test_the_papers_learning_rate_has_no_number_below_1(numbers):
    with pytest.raises(ValueError, match="must be at least 1"):
        noam_learning_rate(*numbers)


@pytest.mark.parametrize(
    ("step", "warmup", "steps"), [(0, 5, 9), (10, 5, 9), (1, 0, 9), (1, 9, 9), (1, 10, 9)]
)
def test_our_learning_rate_rejects_steps_and_warm_ups_outside_the_training(step, warmup, steps):
    with pytest.raises(ValueError, match="and warmup_steps below steps"):
        linear_learning_rate(step, 0.1, warmup, steps)


def test_the_schedule_is_chosen_by_its_whole_name():
    numbers = {"steps": 100, "warmup_steps": 10, "peak": 0.1}
    for name, expected in {
        "noam": noam_learning_rate(7, 64, 10),
        "linear": linear_learning_rate(7, 0.1, 10, 100),
    }.items():
        computed = "".join([*name])  # equal to the name in the code and not identical
        assert learning_rate(7, Settings(schedule=computed, **numbers), 64) == expected
    for name in "a", "m", "z", "":
        with pytest.raises(ValueError, match=f"schedule is linear or noam, got '{name}'"):
            learning_rate(7, Settings(schedule=name, **numbers), 64)


def test_settings_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        setattr(Settings(), "steps", 1)  # noqa: B010


# Batches


def test_each_stretch_of_50_batches_is_sorted_alone():
    lengths = random.Random(0)
    examples = [tuple(torch.zeros(lengths.randint(1, 9)) for _ in range(2)) for _ in range(240)]
    shuffled = random.Random("7 0").sample(examples, 240)
    expected = []
    for i in 0, 100, 200:
        stretch = sorted(shuffled[i : i + 100], key=lambda example: [*map(len, example)])
        expected += [[*map(id, pair)] for pair in zip(stretch[::2], stretch[1::2], strict=True)]
    found = itertools.islice(batches(examples, 2, 7), 120)
    assert sorted([*map(id, batch)] for batch in found) == sorted(expected)


# Processes


def test_without_torchrun_a_process_is_alone_on_its_device(monkeypatch):
    monkeypatch.delenv("RANK", raising=False)
    assert (0, 1, torch.device("cpu")) == SINGLE_PROCESS
    with distributed_context() as group:
        assert group == (0, 1, torch.device("cuda" if torch.cuda.is_available() else "cpu"))


def test_a_step_stops_only_when_it_is_told_to():
    translator = small_translator()
    batch = [example_of(translator, pair) for pair in PAIRS[:4]]
    arguments = translator.model, batch, SHORT, SINGLE_PROCESS
    assert forward_backward(*arguments)[1] is False
    assert forward_backward(*arguments, True)[1] is True


def test_there_may_be_as_many_processes_as_sentences_in_a_batch():
    group = DistributedContext(0, SHORT.batch_size)
    assert Trainer(small_translator(), PAIRS, [], SHORT, group).about["processes"] == 8


# A training


def train_small(tmp_path: Path, group: DistributedContext = SINGLE_PROCESS, **changes: Any):
    """The curve, the lines and the path of the checkpoint."""
    lines: list[str] = []
    settings = replace(SHORT, **changes)
    trainer = Trainer(small_translator(), PAIRS, PAIRS[:9], settings, group)
    return trainer.train(tmp_path / "checkpoint", show=lines.append), lines, tmp_path / "checkpoint"


@pytest.mark.parametrize("steps", [19, 20, 45])
def test_a_point_comes_every_so_many_steps_and_at_the_end_and_a_line_shows_it(tmp_path, steps):
    curve, lines, checkpoint = train_small(tmp_path, steps=steps)
    period = math.ceil(steps / 20)
    due = [step for step in range(1, steps + 1) if step % period == 0 or step == steps]
    assert [point["step"] for point in curve] == due
    shown = {int(line.split("/")[0].removeprefix("step ")): line for line in lines}
    assert [*shown] == [step for step in range(1, steps + 1) if step in due or step % 10 == 0]
    for point in curve:
        assert shown[int(point["step"])] == (
            f"step {point['step']}/{steps}  loss {point['loss']:.3f}  rate {point['rate']:.5f}  "
            f"held-out {point['match']:.1%}  CPU {point['seconds']:.0f} s "
        )
    assert checkpoint.exists()


def test_the_last_step_of_a_long_training_is_a_point_of_its_curve():
    # Up to 256 Python keeps each integer, so that "is" is as good as "==".
    trainer = Trainer(small_translator(), PAIRS, PAIRS[:1], replace(SHORT, steps=601))
    trainer.step = 600  # the next is due only because it is the last
    assert [point["step"] for point in trainer.train(show=silent)] == [601]


def test_the_seconds_are_those_of_the_processor_and_go_on_with_resume(tmp_path, monkeypatch):
    clock = itertools.count(3)  # one second later at each look
    monkeypatch.setattr("time.process_time", lambda: next(clock))
    settings, checkpoint = replace(SHORT, steps=20), tmp_path / "checkpoint"
    trainer = Trainer(small_translator(), PAIRS, PAIRS[:1], settings)
    with pytest.raises(KeyboardInterrupt):
        trainer.train(checkpoint, show=interrupt_at(10))
    trainer = Trainer(small_translator(), PAIRS, PAIRS[:1], settings)
    curve = trainer.train(checkpoint, resume=True, show=silent)
    assert [point["seconds"] for point in curve] == [*range(1, 21)]


def test_only_the_first_process_prints_and_saves(tmp_path):
    curve, _, _ = train_small(tmp_path)
    (tmp_path / "checkpoint").unlink()
    other, lines, checkpoint = train_small(tmp_path, DistributedContext(1))
    assert [point["step"] for point in other] == [point["step"] for point in curve]
    assert lines == [] and not checkpoint.exists()


def test_a_training_without_a_path_saves_no_checkpoint(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    trainer = Trainer(small_translator(), PAIRS, PAIRS[:9], SHORT)
    trainer.train(show=silent)
    assert [*tmp_path.iterdir()] == [] and not trainer.model.training


def test_a_line_is_printed_over_the_one_before_it(capsys):
    show_line("step 1")
    assert capsys.readouterr().out == "\rstep 1"


class Held(Trainer):
    """Its exact match on the held-out pairs is their number."""

    def validate(self) -> dict[str, float]:
        return {"match": len(self.held_out)}


@pytest.mark.parametrize("rank", [0, 1])
def test_the_first_process_saves_and_tests_what_a_task_has_trained(tmp_path, monkeypatch, rank):
    parts = {"train": PAIRS, "validation": PAIRS * 3, "test": PAIRS[:5]}
    task = Task(parts.__getitem__, SIZES, replace(SHORT, steps=2, warmup_steps=1))
    monkeypatch.setitem(training.TASKS, "small", task)
    monkeypatch.setattr(training, "Trainer", Held)
    group = nullcontext(DistributedContext(rank))
    monkeypatch.setattr(training, "distributed_context", lambda: group)
    folder = tmp_path / "new" / "folder"
    curve, match = training.run_task("small", folder)
    files = [path.name for path in folder.iterdir()]
    if rank:
        assert (curve, match, files) == ([], {}, [])
    else:
        assert [point["match"] for point in curve] == [400, 400]
        assert match == exact_match(load_translator(folder / "small.safetensors"), PAIRS[:5])
        assert files == ["small.safetensors"]


def test_the_quality_is_that_of_the_last_point():
    trainer = Trainer(small_translator(), PAIRS, [], SHORT)
    assert trainer.quality() == "held-out 0.0%"
    trainer.curve = [{"match": 0.25}, {"match": 0.5}]
    assert trainer.quality() == "held-out 50.0%"


# The commands


@pytest.fixture
def command(monkeypatch) -> SimpleNamespace:
    """Run the command without its task; records what the task gets and the number of threads."""
    command = SimpleNamespace(given=None, threads=[])

    def run_task(name: str, **options: Any) -> tuple[list, dict[str, float]]:
        command.given = name, options
        return [], {"numbers below 100": 0.25}

    def run(*arguments: str) -> None:
        monkeypatch.setattr(sys, "argv", ["train.py", *arguments])
        training.main()

    monkeypatch.setattr(training, "run_task", run_task)
    monkeypatch.setattr(torch, "set_num_threads", command.threads.append)
    command.run = run
    return command


def test_the_command_passes_its_arguments_on_and_computes_on_one_thread(command, capsys):
    options = {"seed": 0, "resume": False, "out": Path(), "bfloat16": False, "compile": False}
    command.run("numerals")
    assert capsys.readouterr().out == "\n  25.00%  numbers below 100\n"
    assert command.given == ("numerals", options) and command.threads == [1]
    command.run("translator", "--seed", "7", "--resume", "--out", "new", "--bfloat16", "--compile")
    options = {"seed": 7, "resume": True, "out": Path("new"), "bfloat16": True, "compile": True}
    assert command.given == ("translator", options)


@pytest.mark.parametrize("name", ["train.py", "train_pairs.py"])
def test_a_file_run_as_a_program_is_a_command(monkeypatch, capsys, name):
    monkeypatch.setattr(sys, "argv", [name, "--help"])
    with pytest.raises(SystemExit):
        runpy.run_path(str(SNIPPETS / name), run_name="__main__")
    assert f"usage: {name}" in capsys.readouterr().out

"""The functions of train.py one by one, without a training: what no page claims.

These tests take moments, so that a mutant of train.py need not wait for a model to learn.
"""

import itertools
import math
import random
import runpy
import statistics
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import FrozenInstanceError, asdict, replace
from fractions import Fraction
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.overrides import TorchFunctionMode

import train as training
from helpers import SNIPPETS
from small_training import PAIRS, SHORT, SIZES, small_translator
from train import (
    SINGLE_PROCESS,
    DistributedContext,
    Run,
    Settings,
    batches,
    gradients,
    label_smoothed_cross_entropy,
    learning_rate,
    linear_learning_rate,
    noam_learning_rate,
    train,
)

# The loss


@pytest.mark.parametrize("smoothing", [0, 0.3, 1])
@pytest.mark.parametrize("ignored", [0, 2, 4])
def test_the_loss_is_that_of_pytorch_up_to_both_limits_of_the_smoothing(smoothing, ignored):
    torch.manual_seed(0)
    logits = torch.randn(2, 3, 5, dtype=torch.float64)
    targets = torch.tensor([[0, 1, 2], [3, 4, 2]])
    loss = label_smoothed_cross_entropy(logits, targets, smoothing, ignored)
    expected = F.cross_entropy(logits.mT, targets, ignore_index=ignored, label_smoothing=smoothing)
    torch.testing.assert_close(loss, expected, rtol=1e-12, atol=0)


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


class Sizes(TorchFunctionMode):
    """Records how many elements the results of PyTorch's functions have."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: list[int] = []

    def __torch_function__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor):
            self.counts.append(result.nelement())
        return result


def test_the_loss_needs_no_tensor_larger_than_its_logits():
    with Sizes() as sizes:
        label_smoothed_cross_entropy(torch.zeros(9, 5), torch.ones(9).long(), 0.1, 0)
    assert max(sizes.counts) == 9 * 5


# The learning rate


@pytest.mark.parametrize("step", [1, 2, 3, 7, 50])
@pytest.mark.parametrize("d_model", [1, 2, 64])
@pytest.mark.parametrize("warmup", [1, 2, 7])
def test_the_papers_learning_rate_is_that_of_its_equation(step, d_model, warmup):
    rise, fall = step / (warmup * math.sqrt(warmup)), 1 / math.sqrt(step)
    expected = min(rise, fall) / math.sqrt(d_model)
    assert noam_learning_rate(step, d_model, warmup) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("numbers", [(0, 9, 9), (9, 0, 9), (9, 9, 0), (-1, 9, 9)])
def test_the_papers_learning_rate_has_no_number_below_1(numbers):
    with pytest.raises(ValueError, match="must be at least 1"):
        noam_learning_rate(*numbers)


@pytest.mark.parametrize(("warmup", "steps"), [(1, 2), (1, 9), (3, 9), (8, 9)])
def test_our_learning_rate_is_the_smaller_of_two_straight_lines(warmup, steps):
    for step in range(1, steps + 1):
        rise, fall = Fraction(step, warmup), Fraction(steps + 1 - step, steps + 1 - warmup)
        expected = pytest.approx(0.25 * float(min(rise, fall)), rel=1e-12)
        assert linear_learning_rate(step, 0.25, warmup, steps) == expected


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


def examples_of_lengths(lengths: list[int]) -> list[training.Example]:
    """An example of each length, whose tokens are its number."""
    return [(torch.full((n,), i), torch.full((n + 2,), i)) for i, n in enumerate(lengths)]


def numbers_in(batch: list[training.Example]) -> list[int]:
    return [int(src[0]) for src, _ in batch]


def expected_epoch(lengths: list[int], batch_size: int, seed: int, epoch: int) -> list[list[int]]:
    """The batches of an epoch by a second implementation: trained weights depend on their order."""
    rng = random.Random(f"{seed} {epoch}")
    count = len(lengths) // batch_size
    drawn = iter(rng.sample(range(len(lengths)), count * batch_size))
    epoch_batches: list[list[int]] = []
    while stretch := [*itertools.islice(drawn, 50 * batch_size)]:
        rows = iter(sorted(stretch, key=lengths.__getitem__))
        epoch_batches += iter(lambda rows=rows: [*itertools.islice(rows, batch_size)], [])
    rng.shuffle(epoch_batches)
    return epoch_batches


@pytest.mark.parametrize("batch_size", [1, 2, 3])
@pytest.mark.parametrize("start", [None, 0, 5, 300])
def test_batches_are_sorted_within_50_and_shuffled_epoch_by_epoch(batch_size, start):
    rng = random.Random(0)
    lengths = [rng.randint(1, 9) for _ in range(125 * batch_size + 1)]
    given = [] if start is None else [start]
    found = batches(examples_of_lengths(lengths), batch_size, 7, *given)
    expected = itertools.chain(*(expected_epoch(lengths, batch_size, 7, i) for i in range(8)))
    expected = itertools.islice(expected, start or 0, 600)
    for batch, numbers in zip(found, expected, strict=False):
        assert numbers_in(batch) == numbers


@pytest.mark.parametrize("batch_size", [1, 3, 300])
def test_a_batch_may_have_from_one_to_all_examples(batch_size):
    examples = examples_of_lengths([1] * 300)
    numbers = numbers_in(next(batches(examples, batch_size, 0)))
    assert len({*numbers}) == batch_size


@pytest.mark.parametrize("batch_size", [-1, 0, 6, 7])
def test_a_batch_has_neither_less_than_one_nor_more_than_all_examples(batch_size):
    with pytest.raises(ValueError, match="as many as there are examples"):
        next(batches(examples_of_lengths([1] * 5), batch_size, 0))


# Processes


def test_a_single_process_is_the_first_of_one_and_computes_on_the_cpu():
    assert SINGLE_PROCESS == DistributedContext() == (0, 1, torch.device("cpu"))


@pytest.fixture
def process_group_calls(monkeypatch) -> list[Any]:
    """The calls of PyTorch that join a process to a group."""
    calls: list[Any] = []
    monkeypatch.setattr(training.dist, "init_process_group", calls.append)
    monkeypatch.setattr(training.dist, "destroy_process_group", lambda: calls.append("left"))
    monkeypatch.setattr(training.dist, "get_rank", lambda: 3)
    monkeypatch.setattr(training.dist, "get_world_size", lambda: 8)
    monkeypatch.setattr(torch.cuda, "set_device", calls.append)
    monkeypatch.delenv("RANK", raising=False)
    return calls


@pytest.mark.parametrize("gpu", [False, True])
def test_a_process_without_torchrun_is_alone_on_its_device(monkeypatch, process_group_calls, gpu):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: gpu)
    with training.distributed_context() as group:
        assert group == (0, 1, torch.device("cuda" if gpu else "cpu"))
    assert process_group_calls == []


@pytest.mark.parametrize("gpu", [False, True])
def test_torchrun_joins_a_process_to_a_group_on_a_gpu_of_its_own(
    monkeypatch, process_group_calls, gpu
):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: gpu)
    monkeypatch.setenv("RANK", "3")
    monkeypatch.setenv("LOCAL_RANK", "1")
    device = torch.device("cuda", 1) if gpu else torch.device("cpu")
    with training.distributed_context() as group:
        assert group == (3, 8, device)
    assert (
        process_group_calls == [device, "nccl", "left"]
        if gpu
        else process_group_calls == ["gloo", "left"]
    )


# A step


class Bigrams(nn.Module):
    """A model with one table: the logits after a token depend on nothing else."""

    def __init__(self) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(0)
        self.table = nn.Parameter(torch.randn(7, 7, generator=generator))

    def forward(self, src: torch.Tensor, inputs: torch.Tensor) -> torch.Tensor:
        return self.table[inputs]


TARGETS = [[1, 4, 2], [1, 5, 6, 3, 4, 2], [1, 3, 5, 2], [1, 6, 2], [1, 4, 4, 4, 5, 2]]
BATCH = [(torch.tensor(row[:1]), torch.tensor(row)) for row in TARGETS]


def loss_and_gradient() -> tuple[float, torch.Tensor]:
    """The mean loss over all pairs of neighboring tokens, and its gradient, without padding."""
    model = Bigrams()
    pairs = [pair for row in TARGETS for pair in itertools.pairwise(row)]
    before, after = torch.tensor(pairs).T
    loss = F.cross_entropy(model.table[before], after, label_smoothing=SHORT.smoothing)
    (gradient,) = torch.autograd.grad(loss, model.table)
    return loss.item(), gradient


def test_the_loss_of_a_step_is_the_mean_over_the_tokens_of_the_batch():
    model = Bigrams()
    expected, gradient = loss_and_gradient()
    loss, stop = gradients(model, BATCH, SHORT, SINGLE_PROCESS)
    assert loss == pytest.approx(expected, rel=1e-6) and stop is False
    torch.testing.assert_close(model.table.grad, gradient, rtol=1e-5, atol=1e-7)
    assert gradients(model, BATCH, SHORT, SINGLE_PROCESS, stop=True)[1] is True


def test_two_processes_weight_their_shares_by_tokens(monkeypatch):
    """The sums that one process contributes are added to those of the other by hand."""
    sums: dict[int, torch.Tensor] = {}
    for rank in 0, 1:
        group = DistributedContext(rank, 2)
        monkeypatch.setattr(
            training.dist, "all_reduce", lambda own, rank=rank: sums.update({rank: own.clone()})
        )
        gradients(Bigrams(), BATCH, SHORT, group, stop=rank == 1)
    expected, gradient = loss_and_gradient()
    total = torch.zeros(7, 7)
    for rank in 0, 1:
        model, group = Bigrams(), DistributedContext(rank, 2)
        monkeypatch.setattr(
            training.dist, "all_reduce", lambda own, rank=rank: own.add_(sums[1 - rank])
        )
        loss, stop = gradients(model, BATCH, SHORT, group, stop=rank == 1)
        assert loss == pytest.approx(expected, rel=1e-6) and stop is True
        total += model.table.grad / 2  # as DistributedDataParallel averages them
    torch.testing.assert_close(total, gradient, rtol=1e-5, atol=1e-7)


# A run


def new_run(settings: Settings = SHORT, group: DistributedContext = SINGLE_PROCESS) -> Run:
    return Run(small_translator(), PAIRS, settings, group)


def test_a_run_begins_at_step_0_with_the_papers_optimizer():
    run = new_run()
    assert (run.step, run.seconds, run.curve, run.losses) == (0, 0, [], [])
    assert type(run.optimizer) is torch.optim.Adam
    expected = {"betas": (0.9, 0.98), "eps": 1e-9, "fused": True, "weight_decay": 0}
    assert run.optimizer.defaults.items() >= expected.items()
    assert run.about.items() >= (asdict(SHORT) | asdict(run.model.config)).items()
    assert run.about["processes"] == 1


def test_there_may_be_as_many_processes_as_sentences_in_a_batch():
    settings = Settings(batch_size=300)
    assert new_run(settings, DistributedContext(0, int("300"))).about["processes"] == 300
    with pytest.raises(ValueError, match="301 processes cannot share a batch_size of 300"):
        new_run(settings, DistributedContext(0, 301))


@pytest.fixture
def recorded_steps(monkeypatch) -> list[Any]:
    """Replaces the gradients; records the models, batches and random seeds of the steps."""
    calls: list[Any] = []

    def record(model, batch, settings, group, stop):
        calls.append((model, batch))
        return 0.5, stop

    monkeypatch.setattr(training, "gradients", record)
    return calls


@pytest.mark.parametrize("rank", [0, 2])
def test_each_step_has_its_batch_its_learning_rate_and_a_seed_of_32_bits(
    monkeypatch, recorded_steps, rank
):
    seeds, rates = [], []
    run = new_run(group=DistributedContext(rank))
    monkeypatch.setattr(torch, "manual_seed", seeds.append)
    for loss, stop in run.steps(Event()):
        assert (loss, stop) == (0.5, False)
        rates.append(run.optimizer.param_groups[0]["lr"])
    steps = range(1, SHORT.steps + 1)
    assert rates == [learning_rate(step, SHORT, 16) for step in steps]
    names = [f"{SHORT.seed} {step} {rank}" for step in steps]
    assert seeds == [random.Random(name).getrandbits(32) for name in names]
    order = itertools.islice(batches(run.examples, SHORT.batch_size, SHORT.seed), SHORT.steps)
    assert [[id(each) for each in batch] for _, batch in recorded_steps] == [
        [id(each) for each in batch] for batch in order
    ]
    assert {id(model) for model, _ in recorded_steps} == {id(run.model)}


def test_a_step_reports_that_it_was_asked_to_stop(recorded_steps):
    asked = Event()
    steps = new_run().steps(asked)
    assert next(steps) == (0.5, False)
    asked.set()
    assert next(steps) == (0.5, True)


def test_a_long_training_ends_at_its_last_step(recorded_steps):
    settings = Settings(steps=1001, batch_size=8)
    run = new_run(settings)
    run.step = 999
    assert [run.step for _ in run.steps(Event())] == [1000, 1001]


@pytest.mark.parametrize("compiled", [False, True])
def test_the_model_is_compiled_for_sentences_of_any_length_if_the_settings_ask_for_it(
    monkeypatch, recorded_steps, compiled
):
    options = []
    monkeypatch.setattr(nn.Module, "compile", lambda model, **given: options.append(given))
    settings = Settings(steps=2, batch_size=8, warmup_steps=1, compile=compiled)
    assert len([*new_run(settings).steps(Event())]) == 2
    assert options == ([{"dynamic": True}] if compiled else [])


@pytest.mark.parametrize("count", [1, 2, 3])
def test_several_processes_train_with_distributed_data_parallel(monkeypatch, recorded_steps, count):
    monkeypatch.setattr(training, "DistributedDataParallel", lambda model: ("parallel", model))
    run = new_run(group=DistributedContext(0, count))
    next(run.steps(Event()))
    ((model, _),) = recorded_steps
    assert model == (("parallel", run.model) if count > 1 else run.model)


# A training


class Recorder:
    """A training whose steps compute nothing: the loss is the step, which takes a second."""

    def __init__(self, monkeypatch, stop_at: int = 0):
        self.lines: list[str] = []
        self.saved: list[tuple[Path, int]] = []
        self.seconds = 100.0
        self.matches = 0  # so many times the exact match was computed

        def steps(run: Run, asked: Event) -> Iterator[tuple[float, bool]]:
            assert run.model.training
            while run.step < run.settings.steps:
                run.step += 1
                self.seconds += 1
                yield float(run.step), run.step == stop_at

        def exact_match(translator, pairs) -> dict[str, float]:
            assert pairs == PAIRS[:9]
            self.matches += 1
            return {"all": self.match(self.matches)}

        def save_checkpoint(path: Path, state: dict[str, Any]) -> None:
            self.saved.append((path, state["step"]))

        monkeypatch.setattr(Run, "steps", steps)
        monkeypatch.setattr(training, "exact_match", exact_match)
        monkeypatch.setattr(training, "save_checkpoint", save_checkpoint)
        clock = SimpleNamespace(process_time=lambda: self.seconds)
        monkeypatch.setattr(training, "time", clock)

    @staticmethod
    def match(count: int) -> float:
        return count / 64

    def train(self, steps: int, *given, **options) -> list[dict[str, float]]:
        settings = Settings(steps=steps, warmup_steps=3)
        translator = small_translator()
        curve = train(
            translator, PAIRS, PAIRS[:9], settings, *given, show=self.lines.append, **options
        )
        assert not translator.model.training
        return curve


def expected_points(steps: int) -> list[int]:
    period = math.ceil(steps / 20)
    return [step for step in range(1, steps + 1) if step % period == 0 or step == steps]


def expected_curve(steps: int) -> list[dict[str, float]]:
    curve, before = [], 0
    for count, step in enumerate(expected_points(steps), 1):
        curve.append(
            {
                "step": step,
                "loss": statistics.fmean(range(before + 1, step + 1)),
                "rate": linear_learning_rate(step, Settings().peak, 3, steps),
                "match": Recorder.match(count),
                "seconds": step,
            }
        )
        before = step
    return curve


def expected_line(step: int, steps: int) -> str:
    points = expected_points(steps)
    start = max((each for each in points if each < step), default=0)
    match = Recorder.match(sum(each <= step for each in points))
    loss = statistics.fmean(range(start + 1, step + 1))
    rate = linear_learning_rate(step, Settings().peak, 3, steps)
    return (
        f"step {step}/{steps}  loss {loss:.3f}  rate {rate:.5f}  "
        f"held-out {match:.1%}  CPU {step} s "
    )


@pytest.mark.parametrize("steps", [5, 19, 20, 21, 39, 250, 1001])
def test_a_training_has_its_points_lines_and_checkpoints_at_the_steps_of_its_docstring(
    monkeypatch, tmp_path, steps
):
    recorder = Recorder(monkeypatch)
    assert recorder.train(steps, tmp_path) == expected_curve(steps)
    points = expected_points(steps)
    assert recorder.saved == [(tmp_path, step) for step in points]
    shown = [step for step in range(1, steps + 1) if step in points or step % 10 == 0]
    assert recorder.lines == [expected_line(step, steps) for step in shown]


def test_a_training_without_a_path_saves_no_checkpoint(monkeypatch):
    recorder = Recorder(monkeypatch)
    assert recorder.train(21) == expected_curve(21)
    assert recorder.saved == []
    assert Recorder(monkeypatch).train(21, None, True) == expected_curve(21)


def test_a_training_that_is_stopped_saves_a_checkpoint_and_ends(monkeypatch, tmp_path):
    recorder = Recorder(monkeypatch, stop_at=7)
    with pytest.raises(KeyboardInterrupt, match="stopped after step 7; go on with --resume"):
        recorder.train(250, tmp_path)
    assert recorder.saved == [(tmp_path, 7)] and recorder.lines == []


def test_only_the_first_process_measures_prints_and_saves(monkeypatch, tmp_path):
    recorder = Recorder(monkeypatch)
    assert recorder.train(21, tmp_path, group=DistributedContext(1)) == []
    assert (recorder.matches, recorder.lines, recorder.saved) == (0, [], [])
    recorder = Recorder(monkeypatch, stop_at=7)
    with pytest.raises(KeyboardInterrupt):
        recorder.train(250, tmp_path, group=DistributedContext(1))
    assert recorder.saved == []


def test_a_resumed_training_continues_its_steps_seconds_and_losses(monkeypatch, tmp_path):
    recorder = Recorder(monkeypatch)
    state = Run(small_translator(), PAIRS, Settings(steps=21), SINGLE_PROCESS).state()
    state |= {"step": 19, "seconds": 500.0, "losses": [5.0], "curve": [{"step": 18, "match": 0.5}]}
    monkeypatch.setattr(training, "load_checkpoint", lambda path, about: state)
    first, *others = recorder.train(21, tmp_path, True)
    assert first == {"step": 18, "match": 0.5}
    assert [(each["step"], each["loss"], each["seconds"]) for each in others] == [
        (20, 12.5, 501),
        (21, 21, 502),
    ]


def test_a_line_is_printed_over_the_one_before_it_at_once(monkeypatch):
    written: list[str] = []
    screen = SimpleNamespace(write=written.append, flush=lambda: written.append("flushed"))
    monkeypatch.setattr(sys, "stdout", screen)
    training.show_line("step 1")
    assert "".join(written) == "\rstep 1flushed"


# The command


@pytest.fixture
def recorded_trainings(monkeypatch) -> list[Any]:
    """Replaces the training of a task of few pairs; records its arguments."""
    calls: list[Any] = []
    numbers = [training.corpus.number_pair(n) for n in range(500)]
    parts = {"train": numbers, "validation": numbers[::-1], "test": PAIRS[:3]}
    task = training.Task(parts.__getitem__, SIZES, SHORT)
    monkeypatch.setitem(training.TASKS, "numerals", task)

    def record(translator, pairs, held_out, settings, checkpoint, resume, group):
        assert pairs == numbers
        calls.append((held_out, settings, checkpoint, resume, group.rank))
        checkpoint.touch()
        return [{"step": 1}]

    monkeypatch.setattr(training, "train", record)
    return calls


def test_a_task_is_trained_measured_and_saved_in_a_folder(recorded_trainings, tmp_path):
    folder = tmp_path / "new" / "folder"
    for options in {}, {"resume": True, "smoothing": 0.5}:  # the second time the folder is there
        curve, match = training.run_task("numerals", folder, **options)
        assert curve == [{"step": 1}] and match == {"all": 0, "1 digit": 0}
        assert [path.name for path in folder.iterdir()] == ["numerals.safetensors"]
    held_out = [training.corpus.number_pair(n) for n in range(499, 99, -1)]
    checkpoint = folder / "numerals.checkpoint"
    changed = replace(SHORT, smoothing=0.5)
    assert recorded_trainings == [
        (held_out, SHORT, checkpoint, False, 0),
        (held_out, changed, checkpoint, True, 0),
    ]


@pytest.mark.parametrize("rank", [1, 2])
def test_the_other_processes_save_nothing(monkeypatch, recorded_trainings, tmp_path, rank):
    @contextmanager
    def context() -> Iterator[DistributedContext]:
        yield DistributedContext(rank)

    monkeypatch.setattr(training, "distributed_context", context)
    assert training.run_task("numerals", tmp_path) == ([], {})
    assert len(recorded_trainings) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["numerals.checkpoint"]


@pytest.fixture
def command(monkeypatch) -> SimpleNamespace:
    """Run the command without its task; records what the task gets and the number of threads."""
    command = SimpleNamespace(given=None, threads=[], result={}, error=None)

    def run_task(name: str, **options: Any) -> tuple[list, dict[str, float]]:
        command.given = name, options
        if command.error:
            raise command.error
        return [], command.result

    def run(*arguments: str) -> None:
        monkeypatch.setattr(sys, "argv", ["train.py", *arguments])
        training.main()

    monkeypatch.setattr(training, "run_task", run_task)
    monkeypatch.setattr(torch, "set_num_threads", command.threads.append)
    command.run = run
    return command


def test_the_command_passes_its_arguments_on_and_computes_on_one_thread(command):
    options = {"seed": 0, "resume": False, "out": Path(), "bfloat16": False, "compile": False}
    command.run("numerals")
    assert command.given == ("numerals", options) and command.threads == [1]
    command.run("translator", "--seed", "7", "--resume", "--out", "new", "--bfloat16", "--compile")
    options = {"seed": 7, "resume": True, "out": Path("new"), "bfloat16": True, "compile": True}
    assert command.given == ("translator", options)


def test_the_command_prints_the_fraction_of_each_kind(command, capsys):
    command.result = {"all": 0.5, "1 digit": 1.0}
    command.run("numerals")
    assert capsys.readouterr().out == "\n  50.00%  all\n 100.00%  1 digit\n"


def test_the_command_ends_with_a_message_after_an_error_and_after_ctrl_c(command):
    for error, message in {
        ValueError("no data"): "train.py: no data",
        KeyboardInterrupt("stopped"): "\nstopped",
    }.items():
        command.error = error
        with pytest.raises(SystemExit) as ended:
            command.run("numerals")
        assert ended.value.code == message


@pytest.mark.parametrize(("name", "runs"), [("__main__", True), ("A", False), ("train", False)])
def test_only_the_file_run_as_a_program_trains(monkeypatch, capsys, name, runs):
    monkeypatch.setattr(sys, "argv", ["train.py", "--help"])
    computed = "".join([*name])  # equal to the name in the code and not identical
    try:
        runpy.run_path(str(SNIPPETS / "train.py"), run_name=computed)
        ran = False
    except SystemExit as ended:
        ran = ended.code == 0
    assert ran is runs
    assert ("usage: train.py" in capsys.readouterr().out) is runs

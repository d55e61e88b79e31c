"""The claims of the page on reproducibility: checkpoints, seeds and the translator's file."""

import io
import os
import random
import re
import signal
from dataclasses import replace
from modulefinder import ModuleFinder
from pathlib import Path
from threading import Event

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import checkpoints
import translator as translators
from checkpoints import load_checkpoint, save_checkpoint, write_whole
from helpers import SNIPPETS, few
from marks import claim, mutation
from small_training import (
    PAIRS,
    SHORT,
    fork,
    interrupt_at,
    same_bits,
    small_translator,
    train,
    trained,
)
from trainer import DistributedContext, Trainer
from translator import code_only, load_translator, save_translator

CHAPTER = "reproducibility"


# Reproducibility


@claim("reproducibility#determinism")
@mutation(
    "trainer.py",
    "random.Random(name)",
    "random.Random()",
    fault="dropout's seed is drawn from the operating system's random numbers",
)
def test_the_same_seed_gives_bitwise_equal_weights():
    one = trained()
    torch.manual_seed(99)  # any random state
    random.seed(99)
    assert same_bits(one, trained())


@claim("reproducibility#determinism")
@mutation(
    "translator.py",
    "torch.manual_seed(seed)",
    "torch.manual_seed(0)",
    fault="every seed gives the same initial weights",
)
def test_a_different_seed_gives_different_weights():
    assert not same_bits(small_translator(0), small_translator(1))  # before the training
    assert not same_bits(trained(), trained(replace(SHORT, seed=1)))
    one, other = small_translator(0, dropout=0.0), small_translator(0, dropout=0.0)
    train(one, PAIRS, PAIRS[:9], SHORT)
    train(other, PAIRS, PAIRS[:9], replace(SHORT, seed=1))
    assert not same_bits(one, other)  # other batches


@claim("reproducibility#determinism")
@mutation(
    "trainer.py",
    'f"{self.settings.seed} {self.step} {self.group.rank}"',
    'f"{self.settings.seed} {self.step}"',
    fault="all processes draw the same dropout",
)
def test_dropout_differs_at_each_step_and_in_each_process(monkeypatch):
    drawn = []
    monkeypatch.setattr(torch, "manual_seed", drawn.append)
    for rank in 0, 1:
        run = Trainer(small_translator(), PAIRS, [], SHORT, DistributedContext(rank))
        list(run.steps(Event()))
    assert len(set(drawn[2:])) == 2 * SHORT.steps


@pytest.mark.slow
@claim("reproducibility#differences", kind="measurement")
def test_a_change_in_the_last_bit_of_one_weight_grows_at_each_measured_step(printed):
    shown = printed("examples", "one_bit")
    change = float(shown["one weight changed by"])
    assert 0 < change < 1e-7
    last = {}
    for peak in 0.008, 0.001:
        differences = [
            float(shown[f"peak {peak}, step {step}, weights differ by"])
            for step in (1, 10, 100, 400)
        ]
        assert differences == sorted(differences)
        last[peak] = differences[-1]
    # How far they grow depends on the processor, but always much less with the small peak.
    assert 1e-3 < last[0.008] < 1 and last[0.001] < min(1e-3, last[0.008] / 50)


@claim("reproducibility#differences", kind="measurement")
def test_after_a_few_steps_only_the_biases_of_the_keys_differ_by_their_own_size():
    """Their gradient is rounding noise, which Adam scales up to steps of full size."""
    runs = [Trainer(small_translator(dropout=0.0), PAIRS, [], SHORT) for _ in range(2)]
    weight = runs[1].model.encoder.layers[0].feed_forward.linear2.weight
    with torch.no_grad():
        weight[0, 0] = torch.nextafter(weight[0, 0], torch.tensor(1.0))
    for run in runs:
        list(run.steps(Event()))

    def weights(run: Trainer, keys: bool) -> torch.Tensor:
        parameters = run.model.named_parameters()
        found = [p.flatten() for name, p in parameters if name.endswith("key.bias") == keys]
        return torch.cat(found).detach()

    def relative(keys: bool) -> torch.Tensor:
        one, other = (weights(run, keys) for run in runs)
        return (one - other).norm() / one.norm()

    assert relative(keys=True) > 0.1 > 1e-5 > relative(keys=False)


@claim("reproducibility#differences", kind="measurement")
def test_two_threads_give_some_long_sums_other_last_digits():
    different = 0
    for seed in range(5):
        values = torch.randn(5_000_003, generator=torch.Generator().manual_seed(seed))
        one = values.sum()
        torch.set_num_threads(2)
        two = values.sum()
        torch.set_num_threads(1)
        torch.testing.assert_close(one, two, rtol=1e-4, atol=0.1)
        different += one.item() != two.item()
    assert different > 0


# Ctrl-C, and resuming


@claim("reproducibility#checkpoints")
@mutation(
    "trainer.py",
    "lambda *_: interrupted.set()",
    "signal.default_int_handler",
    fault="Ctrl-C interrupts a step",
)
def test_ctrl_c_waits_for_the_end_of_the_step_and_training_resumes_to_the_same_weights(tmp_path):
    before, path = signal.getsignal(signal.SIGINT), tmp_path / "checkpoint"
    with pytest.raises(KeyboardInterrupt):
        trained(show=interrupt_at(10), checkpoint=path)
    assert signal.getsignal(signal.SIGINT) is before
    assert torch_state(path)["step"] == 11
    torch.manual_seed(99)
    assert same_bits(trained(), trained(checkpoint=path, resume=True))


def torch_state(path: Path) -> dict:
    return torch.load(io.BytesIO(path.read_bytes()[32:]), weights_only=True)


def in_a_child(task) -> int:
    """The exit status of another process that runs this function."""
    child = fork.Process(target=task)
    child.start()
    child.join(60)
    return child.exitcode


@claim("reproducibility#checkpoints")
@mutation(
    "trainer.py",
    'self.optimizer.load_state_dict(state["optimizer"])',
    'len(state["optimizer"])',
    fault="the optimizer's state is not restored",
)
def test_a_killed_training_resumes_to_exactly_the_same_weights(tmp_path):
    path, step = tmp_path / "checkpoint", 16

    def killed() -> None:
        def show(line: str) -> None:
            if line.startswith(f"step {step}/"):
                os.kill(os.getpid(), signal.SIGKILL)

        trained(show=show, checkpoint=path)

    assert in_a_child(killed) == -signal.SIGKILL
    assert torch_state(path)["step"] == step - 2  # the last that was saved
    assert same_bits(trained(), trained(checkpoint=path, resume=True))


# Files


@claim("reproducibility#checkpoints")
@mutation(
    "checkpoints.py",
    'part = path.with_name(f"{path.name}.part")',
    "part = path",
    fault="a checkpoint overwrites the last good one in place",
)
@pytest.mark.parametrize("name", ["write", "fsync", "replace"])
def test_a_crash_while_saving_keeps_the_last_good_file(name, tmp_path):
    path = tmp_path / "checkpoint"
    save_checkpoint(path, {"about": {}, "step": 1})

    class Crashing(io.FileIO):
        def write(self, data):
            super().write(data[: len(data) // 2])
            os._exit(9)

    def crash() -> None:
        if name == "write":
            checkpoints.open = Crashing
        else:
            setattr(checkpoints.os, name, lambda *_: os._exit(9))
        save_checkpoint(path, {"about": {}, "step": 2})

    assert in_a_child(crash) == 9
    assert load_checkpoint(path, {})["step"] == 1
    save_checkpoint(path, {"about": {}, "step": 3})  # and saving works again
    assert load_checkpoint(path, {})["step"] == 3
    assert [each.name for each in tmp_path.iterdir()] == ["checkpoint"]


@claim("reproducibility#checkpoints")
@mutation(
    "checkpoints.py",
    "os.fsync(file.fileno())  # on the disk before it gets its name",
    "pass",
    fault="a file is renamed before it is flushed to disk",
)
def test_a_file_is_flushed_to_disk_before_it_is_renamed(tmp_path, monkeypatch):
    path, done = tmp_path / "file", []
    fsync, replace_ = os.fsync, os.replace

    def synced(number):
        done.append((tmp_path / "file.part").read_bytes())
        fsync(number)

    def replaced(*names):
        done.append("replaced")
        replace_(*names)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", replaced)
    write_whole(path, b"whole")
    assert done == [b"whole", "replaced"]
    assert path.read_bytes() == b"whole"


@pytest.fixture(scope="module")
def interrupted_checkpoint(tmp_path_factory) -> Path:
    """The checkpoint of a training that was interrupted."""
    path = tmp_path_factory.mktemp("saved") / "checkpoint"
    with pytest.raises(KeyboardInterrupt):
        trained(show=interrupt_at(10), checkpoint=path)
    return path


@claim("reproducibility#checkpoints")
@few
@given(data=st.data())
def test_a_checkpoint_with_one_wrong_bit_is_rejected(
    interrupted_checkpoint, tmp_path_factory, data
):
    whole = bytearray(interrupted_checkpoint.read_bytes())
    place = data.draw(st.integers(0, len(whole) - 1))
    whole[place] ^= 1 << data.draw(st.integers(0, 7))
    path = tmp_path_factory.getbasetemp() / "damaged"
    path.write_bytes(whole)
    with pytest.raises(ValueError, match="is damaged: delete it and begin anew"):
        trained(checkpoint=path, resume=True)


@claim("reproducibility#checkpoints")
@pytest.mark.parametrize(
    ("change", "sizes", "message"),
    [
        ({"steps": 30, "peak": 0.1}, {}, "steps is 24 there and 30 here, peak is 0.004 there"),
        ({}, {"d_model": 32}, "d_model is 16 there and 32 here"),
    ],
)
def test_a_checkpoint_of_other_settings_is_rejected(interrupted_checkpoint, change, sizes, message):
    trainer = Trainer(small_translator(**sizes), PAIRS, PAIRS[:9], replace(SHORT, **change))
    with pytest.raises(ValueError, match=f"is of another run: .*{re.escape(message)}"):
        trainer.train(interrupted_checkpoint, resume=True)


@claim("reproducibility#checkpoints")
@mutation(
    "trainer.py",
    "data = repr((tokens, pairs, held_out)).encode()",
    "data = repr((tokens, held_out)).encode()",
    fault="a checkpoint of other data is accepted",
)
def test_a_checkpoint_of_other_data_is_rejected(interrupted_checkpoint):
    swapped = [PAIRS[1], PAIRS[0], *PAIRS[2:]]
    for pairs, held_out in (swapped, PAIRS[:9]), (PAIRS, PAIRS[:8]):
        trainer = Trainer(small_translator(), pairs, held_out, SHORT)
        with pytest.raises(ValueError, match="another run: its data are others"):
            trainer.train(interrupted_checkpoint, resume=True)


# The translator's file


@claim("reproducibility#file")
@mutation(
    "translator.py",
    "return Translator(model.eval(), source, target)",
    "return Translator(model, source, target)",
    fault="a loaded translator is in training mode",
)
def test_a_saved_and_loaded_translator_is_the_same(tmp_path):
    one, path = trained(), tmp_path / "translator.safetensors"
    save_translator(one, path, seed=0)
    other = load_translator(path)
    assert same_bits(one, other) and other.model.config == one.model.config
    assert other.source.tokens == one.source.tokens
    assert other.target.tokens == one.target.tokens
    assert not other.model.training


@claim("reproducibility#file")
def test_a_comment_keeps_the_key_of_code_and_a_number_changes_it():
    code = 'class A:\n    n = 1\n\n\ndef f(x=0):\n    return f"{x + 1:>{x}}"\n'
    words = (
        '"""A module."""\n\nclass A:\n    """A class."""\n\n    n = 1  # one\n'
        'def f(\n    x=0,\n):\n    """Writes it."""\n\n    # So.\n    return f"{x + 1:>{x}}"\n'
    )
    assert code_only(words) == code_only(code)
    for old, new in ("= 1", "= 2"), ("x=0", "x=3"), ("+ 1", "+ 4"), ("+", "-"), ("n =", "m ="):
        assert code_only(code.replace(old, new, 1)) != code_only(code)


@claim("reproducibility#file")
@mutation(
    "translator.py",
    '    "checkpoints.py",\n',
    "",
    fault="the key does not cover checkpoints.py",
)
def test_the_key_covers_every_file_that_training_imports():
    finder = ModuleFinder([str(SNIPPETS)])
    finder.run_script(str(SNIPPETS / "train.py"))
    found = {Path(module.__file__).name for module in finder.modules.values() if module.__file__}
    assert found - set(translators.MADE_BY) == {"decode.py"}  # it only measures
    assert set(translators.MADE_BY) <= found

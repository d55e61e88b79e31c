"""The benchmark of GPUs, tried with a small model on the CPU."""

import argparse

import pytest
import torch

from benchmarks import gpu
from train import SINGLE_PROCESS
from transformer import Transformer

OPTIONS = {"batch": 2, "length": 10, "steps": 2, "warmup": 0}
SWITCHES = {"small": True, "float32": False, "compile": False}


@pytest.fixture(autouse=True)
def keep_random_state():
    with torch.random.fork_rng():
        yield


def test_the_reference_computes_what_our_model_computes():
    torch.manual_seed(0)
    ours, reference = Transformer(gpu.SMALL).eval(), gpu.Reference(gpu.SMALL).eval()
    with torch.no_grad():
        for parameter in [*ours.encoder.parameters(), *ours.decoder.parameters()]:
            parameter.copy_(torch.randn_like(parameter) / 8)
    weights = {name: weight for name, weight in ours.state_dict().items() if "coder" not in name}
    reference.ours.load_state_dict(weights)
    for stack in ("encoder", "decoder"):
        copy_stack(getattr(ours, stack), getattr(reference.layers, stack))
    src, tgt, _ = gpu.random_batch(argparse.Namespace(**OPTIONS), 1000, torch.device("cpu"))
    assert (src == 0).sum() == 2
    torch.testing.assert_close(reference(src, tgt), ours(src, tgt), atol=1e-4, rtol=1e-4)


def copy_stack(ours, theirs) -> None:
    for our, their in zip(ours.layers, theirs.layers, strict=True):
        pairs = [(our.self_attention, their.self_attn)]
        if hasattr(our, "cross_attention"):
            pairs.append((our.cross_attention, their.multihead_attn))
        copied = {}
        for mine, other in pairs:
            parts = [mine.query, mine.key, mine.value]
            copied |= {other.in_proj_weight: torch.cat([part.weight for part in parts])}
            copied |= {other.in_proj_bias: torch.cat([part.bias for part in parts])}
            copied |= {
                other.out_proj.weight: mine.output.weight,
                other.out_proj.bias: mine.output.bias,
            }
        for i in (1, 2):
            mine, other = getattr(our.feed_forward, f"linear{i}"), getattr(their, f"linear{i}")
            copied |= {other.weight: mine.weight, other.bias: mine.bias}
        for i, residual in enumerate(our.residuals, 1):
            other = getattr(their, f"norm{i}")
            copied |= {other.weight: residual.norm.weight, other.bias: residual.norm.bias}
        assert {*copied} == {*their.parameters()}
        with torch.no_grad():
            for parameter, values in copied.items():
                parameter.copy_(values)


@pytest.mark.slow
def test_both_models_are_measured_and_have_as_many_parameters():
    figures = gpu.measure(argparse.Namespace(**OPTIONS, **SWITCHES), SINGLE_PROCESS)
    ours, reference = figures["ours"], figures["nn.Transformer"]
    assert ours["parameters"] == reference["parameters"]
    assert figures["forward and backward, ratio"] > 0
    for model in (ours, reference):
        assert model["forward and backward, ms"] > 0
        assert model["target tokens a second, all processes"] > 0


def test_without_a_gpu_the_message_says_how_to_try_it(monkeypatch):
    monkeypatch.setattr("sys.argv", ["gpu"])
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(SystemExit, match="scripts/bench gpu --small"):
        gpu.main()

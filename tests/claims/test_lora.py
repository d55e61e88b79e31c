"""The claims of the page on LoRA: the layer, merging, the data, and what was measured."""

import json
from itertools import chain

import pytest
import torch
from torch import nn

from bookbuild.generated.claim_results import code_key
from evidence import published_weights as reference
from experiments import lora as experiment
from helpers import SNIPPETS
from marks import claim, mutation
from variants.decoder_2025 import Decoder2025, DecoderConfig
from variants.lora import MAPS, LoRALinear, add_lora, merge_lora
from variants.lora_names import IGNORED, count_correct, make_pairs

CHAPTER = "lora"
IDS = torch.randint(60, (3, 7), generator=torch.Generator().manual_seed(0))


def make_small_decoder(vocab_size: int = 60) -> Decoder2025:
    torch.manual_seed(0)
    sizes = {"d_model": 32, "nhead": 4, "num_kv_heads": 2, "head_dim": 8}
    return Decoder2025(
        DecoderConfig(vocab_size=vocab_size, num_layers=2, dim_feedforward=48, **sizes)
    ).eval()


def fill(model: nn.Module) -> None:
    """Other numbers in B than zeros."""
    for module in model.modules():
        if isinstance(module, LoRALinear):
            nn.init.normal_(module.B)


@pytest.fixture(scope="module")
def recorded() -> dict:
    return json.loads((SNIPPETS / "results" / "lora.json").read_text(encoding="utf-8"))


def runs(recorded: dict, rank: int) -> list[dict]:
    return [run for run in recorded["runs"] if run["rank"] == rank]


def tries(recorded: dict, rank: int) -> list[dict]:
    """From the smallest learning rate to the largest."""
    found = [each for each in recorded["tries"] if each["rank"] == rank]
    return sorted(found, key=lambda each: each["learning rate"])


# The layer


@claim("lora#by-hand", kind="mathematics")
def test_the_rank_one_product_by_hand(printed):
    found = printed("examples", "by_hand")
    assert found["B A"] == "[[2.0, 0.0, 4.0], [0.0, 0.0, 0.0], [1.0, 0.0, 2.0]]"
    assert found["the sum"] == found["x (W + B A)^T"] == "[9.0, 1.0, 4.0]"


@claim("lora#code")
def test_the_layer_adds_the_scaled_low_rank_product():
    torch.manual_seed(0)
    linear = nn.Linear(6, 5)
    layer = LoRALinear(linear, rank=2, alpha=6)
    nn.init.normal_(layer.B)
    assert layer.A.shape == (2, 6) and layer.B.shape == (5, 2)
    x = torch.randn(4, 3, 6)
    expected = x @ (linear.weight + 3 * layer.B @ layer.A).T + linear.bias
    torch.testing.assert_close(layer(x), expected)


@claim("lora#code")
@mutation(
    "variants/lora.py",
    "torch.zeros(m, rank)",
    "torch.ones(m, rank)",
    fault="B does not start at zero",
)
def test_at_the_start_the_model_is_the_old_one():
    model = make_small_decoder()
    before = model(IDS)
    add_lora(model, rank=4)
    assert torch.equal(model(IDS), before)
    model(IDS).square().mean().backward()
    for module in model.modules():
        if isinstance(module, LoRALinear):
            assert module.A.std() > 0
            assert not module.A.grad.any() and module.B.grad.any()


@claim("lora#code")
def test_only_a_and_b_are_trained():
    model = make_small_decoder()
    frozen = {name: weight.clone() for name, weight in model.state_dict().items()}
    add_lora(model, rank=3)
    trained = {name: weight for name, weight in model.named_parameters() if weight.requires_grad}
    assert {name.rsplit(".", 1)[1] for name in trained} == {"A", "B"}
    queries, values = 3 * (32 + 32), 3 * (32 + 16)
    assert sum(weight.numel() for weight in trained.values()) == 2 * (queries + values)
    optimizer = torch.optim.Adam(trained.values(), 0.1)
    for _ in range(2):
        model(IDS).square().mean().backward()
        optimizer.step()
    after = {name.replace("linear.", ""): weight for name, weight in model.state_dict().items()}
    assert all(torch.equal(after[name], weight) for name, weight in frozen.items())


# Merging


@claim("lora#merge")
def test_merged_weights_compute_the_same():
    model = make_small_decoder()
    before = model(IDS)
    add_lora(model, rank=2, alpha=6)
    fill(model)
    unmerged = model(IDS)
    assert (unmerged - before).abs().max() > 0.01
    merge_lora(model)
    assert not any(isinstance(module, LoRALinear) for module in model.modules())
    torch.testing.assert_close(model(IDS), unmerged)


@claim("lora#by-hand")
def test_the_change_of_a_weight_has_the_rank():
    model, rank = make_small_decoder(), 3
    add_lora(model, rank)
    fill(model)
    for layer in model.layers:
        for name in MAPS:
            lora = getattr(layer.attention, name)
            before = lora.linear.weight.double()
            change = lora.merge().weight.double() - before
            assert torch.linalg.matrix_rank(change, atol=1e-4) == rank


# The data and the training


@claim("lora#task")
@mutation(
    "variants/lora_names.py",
    " {surname}, {name}{END}",
    " {name}, {surname}{END}",
    fault="the first name comes first",
)
def test_the_last_name_is_first_in_an_answer():
    pairs = [*chain(*make_pairs())]
    for prompt, answer in pairs:
        _, first, last, _ = prompt.split(" ")
        assert answer == f" {last}, {first}<|im_end|>"
    assert len(set(pairs)) == len(pairs) == 24 * 24 + 200


@claim("lora#task")
def test_no_name_is_in_two_of_the_three_sets():
    sets = [
        {word for prompt, _ in pairs for word in prompt.split(" ")[1:3]} for pairs in make_pairs()
    ]
    assert [len(names) for names in sets] == [48, 24, 24]
    assert len(set.union(*sets)) == 96


@claim("lora#task")
def test_a_counted_answer_is_that_of_greedy_decoding():
    model = make_small_decoder()
    prompts, expected = IDS[:, :3], []
    for prompt in prompts:
        answer = reference.our_greedy(model, prompt.tolist(), 4, -1)
        expected.append(torch.tensor(answer))
    answers = torch.stack(expected)
    answers[1, 2] = (answers[1, 2] + 1) % 60  # another answer would be right
    ids = torch.cat([prompts, answers[:, :-1]], dim=1)
    targets = torch.cat([torch.full((3, 2), IGNORED), answers], dim=1)
    assert count_correct(model, ids, targets) == 2


# What is measured


@claim("lora#results", kind="measurement")
def test_the_measurements_are_of_this_code(recorded):
    assert recorded["key"] == code_key(experiment.FILES), "stale; run scripts/experiment lora"
    assert [(run["rank"], run["seed"]) for run in recorded["runs"]] == experiment.TESTS
    (full,) = runs(recorded, experiment.ALL)
    assert full["trained"] == recorded["parameters"]
    for run in recorded["runs"]:
        assert run["gradients"] == 4 * run["trained"]
        assert run["optimizer"] == 8 * run["trained"]
        if run["rank"]:
            assert run["trained"] == 30 * run["rank"] * ((576 + 576) + (576 + 192))
            assert run["seconds a step"] < 0.5 * full["seconds a step"]


@claim("lora#choose", kind="measurement")
def test_the_learning_rates_have_the_lowest_validation_loss_of_those_that_forget_little(recorded):
    before = recorded["before"]["perplexity"]
    for rank, rates in experiment.RATES.items():
        tried = tries(recorded, rank)
        assert tuple(each["learning rate"] for each in tried) == rates
        kept = [each for each in tried if each["perplexity"] <= 1.1 * before]
        best = min(kept, key=lambda each: each["loss"])["learning rate"]
        users = [run for run in recorded["runs"] if (run["rank"] == 0) == (rank == 0)]
        assert users and {run["learning rate"] for run in users} == {best}
    lowest = min(tries(recorded, experiment.MAIN), key=lambda each: each["loss"])
    assert lowest["learning rate"] == 0.004 and lowest["perplexity"] > 2 * before


@claim("lora#results", kind="measurement")
def test_the_published_model_fails_and_learns_the_rule_with_each_rank(recorded):
    assert recorded["before"]["correct"] == 0
    assert min(run["correct"] for run in recorded["runs"]) >= 90
    assert recorded["before"]["correct with examples"] == 100


@claim("lora#choose", kind="measurement")
def test_a_larger_learning_rate_forgets_more(recorded):
    before = recorded["before"]["perplexity"]
    for rank in experiment.RATES:
        perplexities = [each["perplexity"] for each in tries(recorded, rank)]
        assert before < perplexities[0] and perplexities == sorted(perplexities)


@claim("lora#merge", kind="measurement")
def test_with_the_published_weights_merging_changes_only_the_rounding(recorded):
    for run in recorded["runs"]:
        if run["rank"]:
            assert 0 < run["difference"] < 1e-4 * run["largest logit"]

"""Mistakes in layers and in training: each fails as described, its repair works."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from helpers import load_pitfall, numbers
from marks import claim, mutation
from mask_helpers import assert_near
from trainer import label_smoothed_cross_entropy, noam_learning_rate
from transformer import (
    LayerNorm,
)

CHAPTER = "pitfalls"
pytestmark = pytest.mark.usefixtures("seeded")


# Layers


@claim("pitfalls-training#norm-overwrites")
def test_a_norm_that_overwrites_its_input_makes_pre_norm_post_norm(printed):
    shown = printed("pitfalls", "norm_overwrites", "")
    assert shown["wrong is post-norm"] == "True"
    length = float(shown["length of a token at the input"])
    assert float(shown["right, length of a token"]) > length
    assert float(shown["wrong, length of a token"]) < length / 5
    assert float(shown["right, cosine of input and output"]) > 0.95
    assert float(shown["wrong, cosine of input and output"]) < 0.9


@claim("pitfalls-training#norm-overwrites")
def test_only_the_block_that_keeps_its_input_is_pre_norm():
    pitfall, norm, x = load_pitfall("norm_overwrites"), LayerNorm(32), 10 * torch.randn(2, 5, 32)
    assert_near(pitfall.right_block(x, norm, torch.zeros_like), x)
    assert_near(pitfall.wrong_block(x, norm, torch.zeros_like), norm(x))


@claim("pitfalls-training#unbiased-norm")
def test_the_unbiased_deviation_shrinks_by_the_root_of_d_minus_1_over_d(printed):
    pitfall, shown = load_pitfall("unbiased_norm"), printed("pitfalls", "unbiased_norm", "")
    for d in 4, 512:
        x = torch.randn(20, d, dtype=torch.float64)
        expected = F.layer_norm(x, (d,), eps=1e-6)
        factor = torch.full_like(x, math.sqrt((d - 1) / d))
        assert_near(pitfall.right_norm(x), expected)
        assert_near(pitfall.wrong_norm(x) / expected, factor, 1e-5)
        assert shown[f"wrong, d = {d}, equal within 0.01"] == str(d > 4)
        assert shown[f"wrong, d = {d}, equal within 1e-05"] == "False"


@claim("pitfalls-training#unbiased-norm")
def test_with_eps_outside_the_root_a_small_vector_becomes_large():
    pitfall = load_pitfall("unbiased_norm")
    x = 1e-4 * torch.randn(10, 512, dtype=torch.float64)
    assert_near(pitfall.right_norm(x), LayerNorm(512, eps=1e-6).double()(x))
    assert pitfall.right_norm(x).std() < 0.2 and pitfall.wrong_norm(x).std() > 0.9


@claim("pitfalls-training#one-layer")
def test_one_layer_in_six_places_loads_a_checkpoint_and_keeps_its_last_layer(printed):
    shown = printed("pitfalls", "one_layer", "")
    label = "names in the state_dict"
    assert shown[f"wrong, {label}"] == shown[f"right, {label}"]
    assert int(shown["right, parameters"]) == 6 * int(shown["wrong, parameters"])
    for name in "wrong", "right":
        assert "matched" in shown[f"{name}, loading the checkpoint says"]
    assert shown["wrong, layers as in the checkpoint"] == "[5]"
    assert shown["right, layers as in the checkpoint"] == "[0, 1, 2, 3, 4, 5]"


@claim("pitfalls-training#no-eval")
def test_with_dropout_on_a_model_that_has_learned_its_sentences_makes_mistakes(printed):
    shown = printed("pitfalls", "no_eval", "")
    right = {}
    for dropout in "0.1", "0.3":
        wrong = f"wrong, dropout {dropout}"
        right[dropout] = numbers(shown[f"{wrong}, both sentences without a fault"])[0]
        assert int(shown[f"{wrong}, answers in 50 runs"]) > 1
        assert shown[f"right, dropout {dropout}, both sentences without a fault"] == "100%"
        assert shown[f"right, dropout {dropout}, answers in 50 runs"] == "1"
    assert right["0.3"] < 60 < right["0.1"] < 100


# Training


@claim("pitfalls-training#log-of-zero")
def test_the_logarithm_of_a_zero_in_the_target_is_a_nan_in_the_loss():
    pitfall = load_pitfall("log_of_zero")
    logits, target = torch.randn(3, 6), torch.tensor([1, 4, 5])
    assert pitfall.wrong_loss(logits, target).isnan()
    q = pitfall.smoothed(target, 6)
    expected = F.kl_div(logits.log_softmax(dim=-1), q, reduction="batchmean")
    assert_near(pitfall.right_loss(logits, target), expected)


@claim("pitfalls-training#log-of-zero")
def test_the_gradient_is_nan_only_when_a_probability_is_zero_too(printed):
    shown = printed("pitfalls", "log_of_zero", "")
    assert shown["wrong, gap 5, loss"] == shown["wrong, gap 200, loss"] == "nan"
    assert shown["wrong, gap 5, gradient"] == shown["right, gap 5, gradient"]
    assert shown["wrong, gap 200, gradient"] == "nan nan nan nan nan"
    assert "nan" not in shown["right, gap 200, gradient"] + shown["right, gap 200, loss"]
    assert shown["gap 200, probability of <pad>"] == "0"
    pushed = float(shown["right, gap 5, gradient"].split()[0])
    assert pushed == pytest.approx(float(shown["gap 5, probability of <pad>"]), abs=0.005)


@claim("pitfalls-training#log-of-zero")
@mutation(
    "trainer.py",
    "logits[real].log_softmax(dim=-1)",
    "logits[real].softmax(dim=-1).log()",
    fault="the logarithm of a softmax",
)
def test_our_smoothed_loss_is_finite_for_any_unlikely_token():
    logits = torch.tensor([[-200.0, 0, 0, 2, 0]], requires_grad=True)
    loss = label_smoothed_cross_entropy(logits, torch.tensor([3]), 0.1, 0)
    assert loss.isfinite() and torch.autograd.grad(loss, logits)[0].isfinite().all()


@claim("pitfalls-training#not-shifted", kind="measurement")
def test_on_random_tokens_the_loss_falls_to_zero_only_without_a_shift():
    pitfall = load_pitfall("not_shifted")
    losses = {}
    for pair in pitfall.wrong_pair, pitfall.right_pair:
        torch.manual_seed(0)
        model = nn.Sequential(nn.Embedding(10, 16), nn.Linear(16, 10))
        optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
        for _ in range(100):
            given, expected = pair(torch.randint(10, (32, 6)))
            loss = F.cross_entropy(model(given).flatten(0, 1), expected.flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        losses[pair.__name__] = loss.item()
    assert losses["wrong_pair"] < 0.01
    assert losses["right_pair"] > 0.95 * math.log(10)


@claim("pitfalls-training#not-shifted")
def test_each_shift_is_learned_and_only_one_of_them_is_useful(printed):
    shown = printed("pitfalls", "not_shifted", "")
    for pair in "wrong_pair", "wrong_twice", "right_pair":
        assert float(shown[f"{pair}, loss"]) < 0.01
    assert shown["wrong_pair, writes"] == "3 3 3 3 3 3"
    assert shown["wrong_twice, writes"] == "3 5 7 9 1 3"
    assert shown["right_pair, writes"] == "3 4 5 6 7 8"


@claim("pitfalls-training#pads-counted")
def test_the_more_padding_is_in_the_loss_the_smaller_it_is(printed):
    shown = printed("pitfalls", "pads_counted", "")
    wrong = [float(shown[f"wrong, {pads} pads, loss"]) for pads in (0, 5, 45)]
    right = [shown[f"right, {pads} pads, loss"] for pads in (0, 5, 45)]
    assert wrong == sorted(wrong, reverse=True)
    assert wrong[2] < wrong[0] / 9 and len({*right, shown["wrong, 0 pads, loss"]}) == 1
    assert shown["45 pads, tokens right with pads"] == "90%"


@claim("pitfalls-training#schedule-by-epoch")
def test_a_warm_up_stepped_per_epoch_never_warms_up(printed):
    shown = printed("pitfalls", "schedule_by_epoch", "")
    assert float(shown["right, loss after 400 steps"]) < 0.5
    assert float(shown["wrong, loss after 400 steps"]) > 1.5  # a blind guess: 2.08
    assert shown["wrong, rate by then"] == f"{noam_learning_rate(5, 512, 100):.5f}"
    assert shown["right, rate by then"] == f"{noam_learning_rate(401, 512, 100):.5f}"


@claim("pitfalls-training#mean-of-batches")
def test_a_mean_of_batch_means_depends_on_the_batch_size(printed):
    shown = printed("pitfalls", "mean_of_batches", "")
    wrong = {shown[f"wrong, batches of {size}"] for size in (1001, 500, 100, 10)}
    right = {shown[f"right, batches of {size}"] for size in (1001, 500, 100, 10)}
    assert len(wrong) == 4 and len(right) == 1
    assert shown["wrong, batches of 1001"] == shown["right, batches of 1001"]


@claim("pitfalls-training#softmax-before-loss")
def test_after_a_second_softmax_a_confident_wrong_model_learns_nothing(printed):
    shown = printed("pitfalls", "softmax_before_loss", "")
    assert 0 < float(shown["wrong, sure and wrong, push upwards"]) < 0.001
    assert float(shown["right, sure and wrong, push upwards"]) > 0.99
    floor = math.log(math.e + 3) - 1
    assert shown["wrong, sure and right, loss"] == f"{floor:.2f}"
    assert shown["right, sure and right, loss"] == "0.00"
    middle = [float(shown[f"{name}, undecided, push upwards"]) for name in ("wrong", "right")]
    assert middle == [0.1875, 0.75]

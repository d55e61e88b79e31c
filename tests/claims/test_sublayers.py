"""The claims of the chapter on sublayers."""

import math
import runpy

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

import by_hand
from helpers import DTYPES, ROOT, SNIPPETS, few, numbers
from marks import claim, mutation
from transformer import (
    FeedForward,
    MultiHeadAttention,
)

CHAPTER = "sublayers"
sizes = st.integers(1, 6)
seeds = st.integers(0, 2**32 - 1)


def tolerances(dtype):
    return {"rtol": 0, "atol": 1e-5 if dtype == torch.float32 else 1e-12}


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def run_file(kind, name):
    return runpy.run_path(str(SNIPPETS / kind / CHAPTER / f"{name}.py"), run_name="__main__")


# The feed-forward network


@claim("sublayers#feed-forward")
@mutation(
    "transformer.py",
    "hidden = self.linear1(x).relu()",
    "hidden = self.linear1(x)",
    fault="the feed-forward network omits its ReLU",
)
@few
@given(batch=sizes, positions=sizes, d=sizes, hidden=sizes, seed=seeds)
def test_the_feed_forward_network_matches_the_formula_of_the_paper(
    batch, positions, d, hidden, seed
):
    torch.manual_seed(seed)
    for dtype in DTYPES:
        network = FeedForward(d, hidden).to(dtype).eval()
        x = torch.randn(batch, positions, d, dtype=dtype)
        (w1, b1), (w2, b2) = ((m.weight.T, m.bias) for m in (network.linear1, network.linear2))
        expected = (x @ w1 + b1).clamp(min=0) @ w2 + b2
        torch.testing.assert_close(network(x), expected, **tolerances(dtype))


@claim("sublayers#only-mixes")
@mutation(
    "transformer.py",
    "v = self.split(self.value(value))",
    "v = self.split(self.value(value)).relu()",
    fault="the values go through a ReLU",
)
@few
@given(a=st.lists(st.floats(-3, 3), min_size=2, max_size=2), seed=seeds)
def test_attention_to_a_single_token_is_a_linear_map_plus_a_constant(a, seed):
    torch.manual_seed(seed)
    for dtype in DTYPES:
        attention = MultiHeadAttention(2, 1).to(dtype)

        def f(*facts, attention=attention, dtype=dtype):
            x = torch.tensor(facts, dtype=dtype).view(1, 1, 2)
            return attention(x, x, x)[0]

        torch.testing.assert_close(
            f(*a) + f(1 - a[0], 1 - a[1]),
            f(a[0], 1 - a[1]) + f(1 - a[0], a[1]),
            **tolerances(dtype),
        )


@claim("sublayers#relu")
@mutation(
    "transformer.py",
    "hidden = self.linear1(x).relu()",
    "hidden = self.linear1(x)",
    fault="the network has no ReLU, so it can't tell exactly one from both",
)
def test_two_hidden_units_compute_whether_exactly_one_of_two_facts_holds():
    network = FeedForward(2, 2).eval()
    with torch.no_grad():
        network.linear1.weight.fill_(1)
        network.linear1.bias.copy_(torch.tensor([0.0, -1]))
        network.linear2.weight.copy_(torch.tensor([[1.0, -2], [0, 1]]))
        network.linear2.bias.zero_()
    for a in 0, 1:
        for b in 0, 1:
            assert network(torch.tensor([a, b]).float()).tolist() == [a ^ b, a & b]


@claim("sublayers#one-token")
@mutation(
    "examples/sublayers/one_token.py",
    "hidden = sums.relu()",
    "hidden = sums",
    fault="the network of the example omits its ReLU",
)
def test_the_network_computed_by_hand_returns_the_numbers_of_the_page(printed):
    shown = printed("examples", "one_token")
    assert numbers(shown["sums"]) == [2, -2, 1]
    assert numbers(shown["hidden units"]) == [2, 0, 1]
    assert numbers(shown["output"]) == [-1, 2]


@claim("sublayers#one-token")
def test_without_relu_the_network_is_one_matrix_and_one_bias(printed):
    shown = printed("examples", "without_relu")
    assert shown["without ReLU"] == shown["one matrix"]
    assert numbers(shown["one matrix"]) == [-3, 2]


@claim("sublayers#exercises")
def test_neither_needs_the_last_bias_and_a_but_not_b_needs_another_first_matrix(printed):
    shown = printed("exercises", "other_questions")
    assert numbers(shown["at least one"]) == [0, 1, 1, 1]
    assert numbers(shown["neither"]) == [1, 0, 0, 0]
    assert numbers(shown["a, but not b"]) == [0, 1, 0, 0]
    network = FeedForward(2, 2).eval()
    with torch.no_grad():
        network.linear1.weight.fill_(1)
        network.linear1.bias.copy_(torch.tensor([0.0, -1.0]))
    nothing, only_a, only_b = network(torch.tensor([[0.0, 0], [1, 0], [0, 1]]))
    assert torch.equal(nothing, network.linear2.bias)
    assert torch.equal(only_a, only_b)


@claim("sublayers#exercises")
@mutation(
    "exercises/sublayers/how_wide.py",
    "learned, silent = train_networks(width, relu)",
    "learned, silent = train_networks(width, lambda x: x)",
    fault="the networks of different widths have no ReLU",
)
def test_wide_networks_learn_the_function_that_two_units_can_compute_but_rarely_learn(printed):
    shown = printed("exercises", "how_wide").items()
    learned, silent, leaky = (
        [int(value) for label, value in shown if kind in label]
        for kind in ("of 100", "silent", "leaky")
    )
    assert leaky[0] < 50
    assert min(leaky[1:3]) > 85
    assert silent[1:3] == [100 - count for count in learned[1:3]]
    assert learned == sorted(learned)
    assert learned[0] < 20 and learned[-1] == 100
    failed = [100 - count for count in learned]
    assert sum(silent) > sum(failed) / 2


# Position-wise


@claim("sublayers#position-wise")
@mutation(
    "transformer.py",
    "hidden = self.linear1(x).relu()",
    "hidden = self.linear1(x).relu().softmax(dim=1)",
    fault="the feed-forward network averages over positions",
)
@few
@given(positions=st.integers(2, 6), seed=seeds)
def test_the_network_treats_every_position_independently_with_the_same_weights(positions, seed):
    torch.manual_seed(seed)
    for dtype in DTYPES:
        network = FeedForward(4, 8).to(dtype).eval()
        x = torch.randn(2, positions, 4, dtype=dtype)
        y = network(x)
        alone = torch.stack([network(x[:, i]) for i in range(positions)], dim=1)
        torch.testing.assert_close(y, alone, **tolerances(dtype))


@claim("sublayers#position-wise")
@mutation(
    "transformer.py",
    "hidden = self.linear1(x).relu()",
    "hidden = self.linear1(x - x.mean(dim=1, keepdim=True)).relu()",
    fault="the feed-forward network subtracts the mean over the positions",
)
def test_attention_passes_a_changed_word_to_every_position_and_the_network_does_not():
    attention, network = MultiHeadAttention(16, 2), FeedForward(16, 32).eval()
    x = torch.randn(1, 5, 16)
    other = x.clone()
    other[:, 3] = torch.randn(16)
    for function, expected in (
        (lambda x: attention(x, x, x)[0], [0, 1, 2, 3, 4]),
        (network, [3]),
    ):
        far = (function(x) - function(other)).abs().amax(dim=-1) > 1e-6
        assert far[0].nonzero().flatten().tolist() == expected


@claim("sublayers#position-wise")
def test_the_examples_have_the_weights_and_the_numbers_of_the_pencil_model(printed):
    hand = by_hand.load(decimals=2)
    hand.translate(["why", "do", "we", "work", "?"])
    tables = {table.name: table.values for table in hand.tables}
    prefix = "encoder.layers.0.feed_forward"
    example = run_file("examples", "position_wise")
    x = torch.tensor(tables["encoder.layers.0.norm1"])
    assert torch.equal(example["normalized"], x)
    shown = printed("examples", "position_wise")
    for output, row in zip(example["outputs"], tables[f"{prefix}.linear2"], strict=True):
        assert [round(number, 2) for number in output.tolist()] == row
    assert shown["equal"] == "True"
    assert shown["positions that change"] == "[3]"
    source = (ROOT / "scripts/figures/sublayers.py").read_text(encoding="utf-8")
    for name in ("norm1", "feed_forward.linear1", "feed_forward.linear2", "norm2.sum"):
        row = tables[f"encoder.layers.0.{name}"][2]
        assert "  ".join(f"{x:.2f}" for x in row).replace("-", "−") in source


@claim("sublayers#exercises")
@mutation(
    "transformer.py",
    "hidden = self.linear1(x).relu()",
    "hidden = self.linear1(x + x.roll(1, dims=1)).relu()",
    fault="the feed-forward network reads the position before, too",
)
def test_the_network_is_two_convolutions_of_width_1(dtype):
    network = FeedForward(4, 8).to(dtype).eval()
    first, second = nn.Conv1d(4, 8, 1, dtype=dtype), nn.Conv1d(8, 4, 1, dtype=dtype)
    for convolution, linear in (first, network.linear1), (second, network.linear2):
        convolution.load_state_dict(
            {"weight": linear.weight[..., None].detach(), "bias": linear.bias.detach()}
        )
    x = torch.randn(2, 5, 4, dtype=dtype)
    y = second(first(x.mT).relu()).mT
    torch.testing.assert_close(network(x), y, **tolerances(dtype))


# The residual connection


@claim("sublayers#gradients", kind="mathematics")
def test_a_product_of_twelve_tenths_vanishes_and_with_residual_connections_it_does_not():
    for use_shortcut, expected in (False, 1e-12), (True, 3.14):
        x = torch.tensor(1.0, dtype=torch.float64, requires_grad=True)
        y = x
        for _ in range(12):
            y = y + 0.1 * y if use_shortcut else 0.1 * y
        y.backward()
        assert math.isclose(x.grad, expected, rel_tol=1e-3)


@claim("sublayers#gradients")
def test_only_without_residual_connections_the_gradient_of_the_first_layer_vanishes(printed):
    shown = printed("examples", "shortcut")
    without, with_shortcut = (
        [float(shown[f"shortcut {kind}, layer {layer}"]) for layer in range(5)]
        for kind in (False, True)
    )
    assert without[0] < without[4] / 100
    assert max(with_shortcut) < 5 * min(with_shortcut)


@claim("sublayers#alike", kind="mathematics")
def test_averaging_makes_two_tokens_alike_and_residual_connections_slow_it_down():
    average = torch.tensor([[0.75, 0.25], [0.25, 0.75]], dtype=torch.float64)
    start = torch.tensor([1.0, 3], dtype=torch.float64)
    for use_shortcut, first, fraction in (False, [1.5, 2.5], 0.5), (True, [2.5, 5.5], 0.75):
        x = start
        for step in range(6):
            x = x + average @ x if use_shortcut else average @ x
            assert step or x.tolist() == first
        assert math.isclose((x[1] - x[0]) / x.mean(), fraction**6)


@claim("sublayers#exercises")
def test_nearly_all_of_the_gradient_comes_through_at_most_three_of_twelve_sublayers(printed):
    shown = printed("exercises", "paths")
    assert int(shown["of this through at most 3"].rstrip("%")) > 95
    assert shown["all paths together"] == f"{1.1**12:.3g}"
    assert shown["through 12 sublayers"] == "1 times 1e-12, together 1e-12"

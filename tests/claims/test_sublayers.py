"""The claims of the chapter on sublayers."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from helpers import DTYPES, close, few, normal, numbers, run_snippet
from marks import claim, mutation
from pencil_numbers import pencil_tables
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


# The feed-forward network


@claim("sublayers#feed-forward")
@mutation(
    "transformer.py",
    "hidden = self.linear1(x).relu()",
    "hidden = self.linear1(x)",
    fault="the feed-forward network omits its ReLU",
)
@few
@given(positions=sizes, d=sizes, hidden=sizes, seed=seeds)
def test_the_feed_forward_network_matches_the_formula_of_the_paper(positions, d, hidden, seed):
    torch.manual_seed(seed)
    for dtype in DTYPES:
        network = FeedForward(d, hidden).to(dtype).eval()
        x = torch.randn(2, positions, d, dtype=dtype)
        (w1, b1), (w2, b2) = ((m.weight.T, m.bias) for m in (network.linear1, network.linear2))
        expected = (x @ w1 + b1).clamp(min=0) @ w2 + b2
        torch.testing.assert_close(network(x), expected, **tolerances(dtype))


@claim("sublayers#only-mixes")
@few
@given(a=st.lists(st.floats(-3, 3), min_size=2, max_size=2), seed=seeds)
def test_attention_to_a_single_token_is_a_linear_map_plus_a_constant(a, seed):
    torch.manual_seed(seed)
    attention = MultiHeadAttention(2, 1).double()

    def f(*facts):
        x = torch.tensor(facts, dtype=torch.float64).view(1, 1, 2)
        return attention(x, x, x)[0]

    both = f(*a) + f(1 - a[0], 1 - a[1])
    close(both, f(a[0], 1 - a[1]) + f(1 - a[0], a[1]))


@claim("sublayers#one-token", kind="mathematics")
def test_two_hidden_units_compute_whether_exactly_one_of_two_facts_holds():
    network = FeedForward(2, 2).eval()
    with torch.no_grad():
        network.linear1.weight.copy_(torch.tensor([[1.0, -1], [-1, 1]]))
        network.linear2.weight.copy_(torch.tensor([[-0.5, 0.5], [1, 1]]))
        for linear in network.linear1, network.linear2:
            linear.bias.zero_()
    for a in 0, 1:
        for b in 0, 1:
            assert network(torch.tensor([a, b]).float())[1] == a ^ b


@claim("sublayers#one-token")
def test_the_network_computed_by_hand_returns_the_numbers_of_the_page(printed):
    shown = printed("examples", "one_token")
    assert numbers(shown["(1, 1), output"]) == [0, 0]
    for x, hidden, output in ("(1, 0)", [1, 0], [-0.5, 1]), ("(3, 1)", [2, 0], [-1, 2]):
        assert numbers(shown[f"{x}, hidden units"]) == hidden
        assert numbers(shown[f"{x}, output"]) == output


@claim("sublayers#one-token")
@mutation(
    "examples/sublayers/one_token.py",
    "(x @ w1 @ w2).tolist()",
    "((x @ w1).relu() @ w2).tolist()",
    fault="the network without ReLU has one",
)
def test_without_relu_the_network_is_one_matrix_and_one_bias(printed):
    shown = printed("examples", "one_token")
    assert shown["(3, 1), without ReLU"] == shown["(3, 1), one matrix"]


@claim("sublayers#exercises")
def test_neither_needs_the_last_bias_and_a_but_not_b_needs_another_first_matrix(printed):
    shown = printed("exercises", "other_questions")
    assert numbers(shown["exactly one"]) == [0, 1, 1, 0]
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
    network = FeedForward(4, 8).double().eval()
    x = normal(2, positions, 4, seed=seed)
    alone = torch.stack([network(x[:, i]) for i in range(positions)], dim=1)
    close(network(x), alone)


@claim("sublayers#position-wise")
def test_the_examples_have_the_weights_and_the_numbers_of_the_pencil_model(printed):
    tables, layer = pencil_tables(), "encoder.layers.0"
    example, _ = run_snippet("examples", CHAPTER, "position_wise")
    assert torch.equal(example["normalized"], torch.tensor(tables[f"{layer}.norm1"].values))
    shown = printed("examples", "position_wise")
    expected = tables[f"{layer}.feed_forward.linear2"].values
    for output, row in zip(example["outputs"], expected, strict=True):
        assert [round(number, 2) for number in output.tolist()] == row
    assert shown["equal"] == "True"
    assert shown["positions that change"] == "[3]"


@claim("sublayers#exercises", kind="mathematics")
def test_the_network_is_two_convolutions_of_width_1():
    network, x = FeedForward(4, 8).double().eval(), normal(2, 5, 4)
    y = x.mT
    for linear in network.linear1, network.linear2:
        y = nn.functional.conv1d(y, linear.weight[..., None], linear.bias)
        y = y.relu() if linear is network.linear1 else y
    torch.testing.assert_close(network(x), y.mT)


# The residual connection


@claim("sublayers#gradients")
def test_only_without_residual_connections_the_gradient_of_the_first_layer_vanishes(printed):
    shown = printed("examples", "first_layer")
    without, residual = (float(shown[f"residual connections {kind}"]) for kind in (False, True))
    assert residual / without > 100_000


@claim("sublayers#exercises")
def test_nearly_all_of_the_gradient_comes_through_at_most_three_of_twelve_sublayers(printed):
    shown = printed("exercises", "paths")
    assert int(shown["of this through at most 3"].rstrip("%")) > 95
    assert shown["all paths together"] == f"{1.1**12:.3g}"
    assert shown["through 12 sublayers"] == "1 times 1e-12, together 1e-12"

"""The claims of the chapters on sublayers and on layer normalization."""

import math
import runpy
from fractions import Fraction

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from comparisons import compare_layer_norm
from helpers import DOCS, DTYPES, SNIPPETS, few, normal, numbers
from marks import claim, mutation
from transformer import (
    DecoderLayer,
    Encoder,
    EncoderLayer,
    FeedForward,
    LayerNorm,
    MultiHeadAttention,
    Residual,
    Transformer,
    TransformerConfig,
    initialise,
    layer_norm,
)

CHAPTER = "sublayers"
sizes = st.integers(1, 6)
seeds = st.integers(0, 2**32 - 1)
X = [1.0, 3.0, 3.0, 9.0]  # the vector that the page does by hand
Y = [-1.0, -1 / 3, -1 / 3, 5 / 3]


def close(dtype):
    return {"rtol": 0, "atol": 1e-5 if dtype == torch.float32 else 1e-12}


def config(**changes):
    sizes = {"d_model": 16, "nhead": 2, "dim_feedforward": 32, "dropout": 0.0}
    return TransformerConfig(9, 12, **(sizes | changes))


def written_out(norm):
    """The function layer_norm, with the weight, the bias and the eps of a module."""
    return lambda x: layer_norm(x, norm.weight, norm.bias, norm.eps)


def both(norm):
    """A LayerNorm computed in our two ways."""
    return written_out(norm), norm


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def run(kind, name):
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
        torch.testing.assert_close(network(x), expected, **close(dtype))


@claim("sublayers#feed-forward")
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
            f(*a) + f(1 - a[0], 1 - a[1]), f(a[0], 1 - a[1]) + f(1 - a[0], a[1]), **close(dtype)
        )


@claim("sublayers#only-mixes")
@mutation(
    "examples/sublayers/exactly_one.py",
    "torch.tensor([0.0, -1.0])",
    "torch.tensor([0.0, 0.0])",
    fault="the second hidden unit of the example has no bias",
)
def test_two_hidden_units_compute_whether_exactly_one_of_two_facts_holds(printed, capsys):
    run("examples", "exactly_one")
    lines = capsys.readouterr().out.splitlines()
    assert lines[:4] == [
        "[0, 0] -> [0, 0]",
        "[1, 0] -> [1, 0]",
        "[0, 1] -> [1, 0]",
        "[1, 1] -> [0, 1]",
    ]
    assert lines[4].split(": ")[1] == lines[5].split(": ")[1]


@claim("sublayers#only-mixes")
@mutation(
    "examples/sublayers/exactly_one.py",
    "[1.0, -2.0]",
    "[1.0, -1.0]",
    fault="the example subtracts its second hidden unit only once",
)
def test_without_relu_the_first_answer_would_be_two(capsys):
    network = run("examples", "exactly_one")["network"]
    facts = torch.zeros(2)
    assert network(facts)[0] == 0
    assert network.linear2(network.linear1(facts))[0] == 2


@claim("sublayers#exercises")
@mutation(
    "exercises/sublayers/other_questions.py",
    "[-1.0, 1.0]], [0.0, 1.0])",
    "[-1.0, 1.0]], [0.0, 0.0])",
    fault="the exercise asks whether neither fact holds without the last bias",
)
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
    ").relu()  # (network, 4, width)",
    ")  # (network, 4, width)",
    fault="the networks of different widths have no ReLU",
)
def test_wide_networks_learn_the_function_that_two_units_can_compute_but_rarely_learn(printed):
    shown = printed("exercises", "how_wide").items()
    learned, silent = (
        [int(value) for label, value in shown if kind in label] for kind in ("learn", "silent")
    )
    assert learned == sorted(learned)
    assert learned[0] < 20 and learned[-1] == 100
    failed = [100 - count for count in learned]
    assert sum(silent) > sum(failed) / 2


@claim("sublayers#feed-forward")
@mutation(
    "examples/sublayers/one_matrix.py",
    "bias = second.weight @ first.bias + second.bias",
    "bias = second.bias",
    fault="the single matrix of the example omits the first bias",
)
def test_without_relu_the_two_matrices_are_one(printed, dtype):
    shown = printed("examples", "one_matrix")
    assert shown["the same without relu"] == "True"
    assert shown["the same with relu"] == "False"
    assert shown["two matrices, weights"] == "2,097,152"
    assert shown["one matrix, weights"] == "262,144"


@claim("sublayers#feed-forward")
@mutation(
    "transformer.py",
    "hidden = self.linear1(x).relu()",
    "hidden = self.linear1(x).softmax(dim=-1)",
    fault="the hidden units go through a softmax",
)
@few
@given(d=sizes, hidden=sizes, seed=seeds)
def test_the_network_is_a_sum_of_one_vector_for_each_hidden_unit(d, hidden, seed):
    torch.manual_seed(seed)
    for dtype in DTYPES:
        network, x = FeedForward(d, hidden).to(dtype).eval(), torch.randn(d, dtype=dtype)
        total = network.linear2.bias.clone()
        for j in range(hidden):
            score = x @ network.linear1.weight[j] + network.linear1.bias[j]
            total = total + score.clamp(min=0) * network.linear2.weight[:, j]
        torch.testing.assert_close(network(x), total, **close(dtype))


@claim("sublayers#feed-forward")
@mutation(
    "transformer.py",
    "hidden = self.linear1(x).relu()",
    "hidden = F.gelu(self.linear1(x))",
    fault="the hidden units of the paper's network are activated by GELU",
)
def test_about_half_of_the_hidden_units_add_nothing(printed):
    shown = printed("examples", "memories")
    assert shown["256 small vectors added up"] == "True"
    assert 100 < int(shown["units that add nothing"]) < 156


@claim("sublayers#feed-forward")
@mutation(
    "transformer.py",
    "return x + self.dropout(sublayer(self.norm(x)))",
    "return x + sublayer(self.norm(x))",
    fault="pre-norm applies no dropout",
)
def test_a_sequential_with_the_norm_inside_is_the_network_in_a_pre_norm_residual(printed):
    assert printed("examples", "gelu")["the same, dropout included"] == "True"


@claim("sublayers#feed-forward", kind="measurement")
@pytest.mark.parametrize("x", [-3.0, -0.1, 0.0, 2.0])
def test_gelu_is_x_times_the_fraction_of_normal_numbers_below_x(x):
    number = torch.tensor(x, dtype=torch.float64)
    share = torch.distributions.Normal(0, 1).cdf(number)
    torch.testing.assert_close(nn.functional.gelu(number), number * share, check_dtype=False)


# Position-wise


@claim("sublayers#position-wise")
@mutation(
    "transformer.py",
    "hidden = self.linear1(x).relu()",
    "hidden = self.linear1(x).relu().softmax(dim=1)",
    fault="the feed-forward network averages over positions",
)
@few
@given(positions=st.integers(2, 6), place=st.integers(0, 5), seed=seeds)
def test_the_network_treats_every_position_independently_with_the_same_weights(
    positions, place, seed
):
    torch.manual_seed(seed)
    place %= positions
    for dtype in DTYPES:
        network = FeedForward(4, 8).to(dtype).eval()
        x = torch.randn(2, positions, 4, dtype=dtype)
        other = x.clone()
        other[:, place] = torch.randn(2, 4, dtype=dtype)
        same = [i for i in range(positions) if i != place]
        y = network(x)
        torch.testing.assert_close(y[:, same], network(other)[:, same], **close(dtype))
        order = torch.randperm(positions)
        torch.testing.assert_close(network(x[:, order]), y[:, order], **close(dtype))
        alone = torch.stack([network(x[:, i]) for i in range(positions)], dim=1)
        torch.testing.assert_close(y, alone, **close(dtype))


@claim("sublayers#position-wise")
@mutation(
    "transformer.py",
    "hidden = self.linear1(x).relu()",
    "hidden = self.linear1(x - x.mean(dim=1, keepdim=True)).relu()",
    fault="the feed-forward network subtracts the mean over the positions",
)
def test_changing_a_word_changes_every_attention_output_and_one_feed_forward_output(printed):
    shown = printed("examples", "position_wise")
    assert shown["positions that attention changes"] == "[0, 1, 2, 3, 4]"
    assert shown["positions that the feed-forward changes"] == "[3]"
    assert shown["words in another order, results in the same other order"] == "True"
    assert shown["each word on its own, the same results"] == "True"


@claim("sublayers#position-wise")
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
    torch.testing.assert_close(network(x), y, **close(dtype))


@claim("sublayers#exercises")
@mutation(
    "exercises/sublayers/convolutions.py",
    "kernel_size=3, padding=1",
    "kernel_size=1",
    fault="the wide convolution of the exercise has width 1",
)
def test_a_convolution_of_width_3_sees_the_neighbor_on_the_right(printed):
    shown = printed("exercises", "convolutions")
    assert shown["two convolutions of width 1 agree"] == "True"
    assert shown["width 3, positions changed by the last"] == "[3, 4]"


# Its fraction of the parameters


@claim("sublayers#share")
@mutation(
    "transformer.py",
    "nn.Linear(dim_feedforward, d_model)",
    "nn.Linear(dim_feedforward, d_model, bias=False)",
    fault="the second linear layer has no bias",
)
def test_the_network_is_two_thirds_of_an_encoder_layer_and_half_of_a_decoder_layer(
    printed,
):
    def count(module):
        return sum(p.numel() for p in module.parameters())

    base = TransformerConfig(9, 12)
    encoder, decoder = EncoderLayer(base), DecoderLayer(base)
    assert count(encoder.feed_forward) == 2 * 512 * 2048 + 2048 + 512 == 2_099_712
    assert count(encoder.self_attention) == 4 * (512 * 512 + 512) == 1_050_624
    assert count(encoder.residuals) == 2 * 2 * 512
    assert round(count(encoder.feed_forward) / count(encoder), 3) == 0.666
    assert round(count(decoder.feed_forward) / count(decoder), 3) == 0.499
    shown = printed("examples", "parameters")
    assert shown["encoder layer, feed-forward"] == "2,099,712"
    assert shown["encoder layer, all"] == f"{count(encoder):,}"
    assert shown["encoder layer, share of the feed-forward"] == "66.6%"


@claim("sublayers#share")
@mutation(
    "examples/sublayers/share_of_work.py",
    "FeedForward(512, 2048)",
    "FeedForward(512, 1024)",
    fault="the work of a network with half of the hidden units is counted",
)
def test_attention_needs_as_many_multiplications_as_the_network_at_length_two_d_model(printed):
    shown = printed("examples", "share_of_work")
    d = 512
    for label, share in shown.items():
        n = int(label.split()[0])
        assert share == f"{8 * d * d / (8 * d * d + 4 * d * d + 2 * n * d):.0%}"
    assert shown["1024 tokens, share of the feed-forward"] == "50%"


# The residual connection


@claim("sublayers#residual")
@mutation(
    "examples/sublayers/gradient_road.py",
    "x = x + y if add else y",
    "x = (x + y) / 2**0.5 if add else y",
    fault="the example of the vanishing gradient divides the sum by the root of 2",
)
def test_the_residual_connection_replaces_vanishing_with_mild_growth_as_computed(printed):
    shown = printed("examples", "gradient_road")
    for name in "f(x)", "x + f(x)":
        measured = float(shown[f"{name}, a sublayer multiplies the gradient by"])
        assert abs(measured - float(shown[f"{name}, expected"])) < 0.03
    assert float(shown["f(x), what 24 of them leave of 1"]) < 1e-5
    assert 10 < float(shown["x + f(x), what 24 of them leave of 1"]) < 100


@claim("sublayers#residual")
@mutation(
    "transformer.py",
    "nn.init.xavier_uniform_(module.weight)",
    "nn.init.xavier_uniform_(module.weight, gain=2**0.5)",
    fault="linear weights start with the gain of ReLU",
)
def test_a_fresh_network_multiplies_the_mean_square_by_0_32(dtype):
    network = FeedForward(256, 1024, 0.0).to(dtype).apply(initialise)
    y = network(torch.randn(2000, 256, dtype=dtype))
    assert abs(y.square().mean().item() - 0.32) < 0.03


@claim("sublayers#residual")
@mutation(
    "transformer.py",
    "nn.init.xavier_uniform_(module.weight)",
    "nn.init.normal_(module.weight, std=0.02)",
    fault="linear weights start with standard deviation 0.02",
)
def test_the_residual_sums_grow_forward_as_the_gradient_grows_backward():
    x = torch.randn(2000, 128)
    start = x.norm()
    with torch.no_grad():
        for _ in range(24):
            x = x + FeedForward(128, 512, 0.0).apply(initialise)(x)
    assert 15 < x.norm() / start < 60


@claim("sublayers#residual")
@mutation(
    "examples/sublayers/one_number.py",
    "lambda x: x + 0.1 * x",
    "lambda x: 0.9 * x + 0.1 * x",
    fault="the sum of the example with one number keeps nine tenths of x",
)
def test_a_product_of_twelve_tenths_vanishes_and_with_residual_connections_it_does_not(printed):
    shown = printed("examples", "one_number")
    assert float(shown["twelve times f(x), gradient"]) == 1e-12
    assert shown["twelve times x + f(x), gradient"] == f"{1.1**12:.3g}"


@claim("sublayers#exercises")
@mutation(
    "exercises/sublayers/paths.py",
    "[comb(12, k) * 0.1**k",
    "[0.1**k",
    fault="the exercise counts one path for each number of sublayers",
)
def test_nearly_all_of_the_gradient_comes_through_at_most_three_of_twelve_sublayers(printed):
    shown = printed("exercises", "paths")
    assert int(shown["of this through at most 3"].rstrip("%")) > 95
    assert shown["all paths together"] == f"{1.1**12:.3g}"
    assert shown["through 12 sublayers"] == "1 times 1e-12, together 1e-12"


@claim("sublayers#beyond-gradients")
@mutation(
    "examples/sublayers/alike.py",
    "x = x + y if add else y",
    "x = x + y",
    fault="the example without residual connections has one around attention",
)
def test_without_residual_connections_all_tokens_point_in_one_direction_after_two_layers(printed):
    shown = printed("examples", "alike")
    assert shown["f(x), after layer 2"] == "1.00"
    with_sum = [float(shown[f"x + f(x), after layer {i}"]) for i in range(1, 7)]
    assert with_sum == sorted(with_sum)
    assert with_sum[-1] < 0.9


@claim("sublayers#beyond-gradients")
@mutation(
    "transformer.py",
    "return self.norm(x + self.dropout(sublayer(x)))",
    "return self.norm(self.dropout(sublayer(x)))",
    fault="post-norm omits the residual connection",
)
def test_six_layers_can_copy_their_input_and_without_residual_connections_they_cannot(printed):
    shown = printed("examples", "take_away")
    right = {
        kind: int(shown[f"{kind}, tokens repeated rightly"].rstrip("%"))
        for kind in ("Residual", "NoSum")
    }
    assert right["Residual"] == 100
    assert right["NoSum"] < 40


@claim("sublayers#residual")
@mutation(
    "transformer.py",
    "return self.norm(x + self.dropout(sublayer(x)))",
    "return x + self.dropout(sublayer(x))",
    fault="post-norm omits its norm",
)
def test_with_norm_but_without_residual_connections_the_gradients_start_at_the_same_size():
    class NoSum(Residual):
        def forward(self, x, sublayer):
            return self.norm(sublayer(x))

    norms = {}
    for kind in Residual, NoSum:
        torch.manual_seed(0)
        settings = config(d_model=32, nhead=4, dim_feedforward=128)
        encoder = Encoder(settings)
        for layer in encoder.layers:
            layer.residuals = nn.ModuleList(kind(settings) for _ in range(2))
        model = nn.Sequential(nn.Embedding(10, 32), encoder, nn.Linear(32, 10)).apply(initialise)
        ids = torch.randint(10, (16, 6))
        nn.functional.cross_entropy(model(ids).flatten(0, 1), ids.flatten()).backward()
        norms[kind] = [
            layer.feed_forward.linear2.weight.grad.norm().item() for layer in encoder.layers
        ]
    for one, other in zip(norms[NoSum], norms[Residual], strict=True):
        assert 1 / 3 < one / other < 3


@claim("sublayers#beyond-gradients")
@mutation(
    "examples/sublayers/in_place.py",
    "y = dropout(x)\ny = y + x",
    "y = dropout(x)\ny += x",
    fault="both sums of the example are in place",
)
def test_an_in_place_sum_can_change_the_callers_tensor_and_break_the_backward_pass(printed):
    shown = printed("examples", "in_place")
    assert numbers(shown["the caller's x, after y += x"]) == [2, 2, 2]
    assert numbers(shown["the caller's x, after y = y + x"]) == [1, 1, 1]
    assert "inplace" in shown["backward"]


@claim("sublayers#residual")
@mutation(
    "transformer.py",
    "return x + self.dropout(sublayer(self.norm(x)))",
    "x += self.dropout(sublayer(self.norm(x))); return x",
    fault="pre-norm adds in place",
)
@pytest.mark.parametrize("norm_first", [False, True])
def test_our_sum_does_not_change_the_callers_tensor(norm_first, dtype):
    residual = Residual(config(norm_first=norm_first)).to(dtype).eval()
    x = torch.randn(2, 3, 16, dtype=dtype)
    before = x.clone()
    residual(x, nn.Identity())
    assert torch.equal(x, before)


# LayerNorm


@claim("layer-norm#layer-norm-by-hand")
@mutation(
    "examples/sublayers/without_norm.py",
    "return x + sublayer(x)",
    "return (x + sublayer(x)) / 2**0.5",
    fault="the blocks without a norm divide their sum by the root of 2",
)
def test_without_the_norm_vectors_grow_and_the_first_loss_is_far_above_uniform_guessing(printed):
    shown = {label: float(value) for label, value in printed("examples", "without_norm").items()}
    assert shown["Residual, length of a token"] == round(math.sqrt(32), 1)
    assert shown["NoNorm, length of a token"] > 10 * math.sqrt(32)
    assert shown["NoNorm, first loss"] > 4 * math.log(10)
    assert shown["Residual, first loss"] < 1.5 * math.log(10)


@claim("layer-norm#layer-norm-by-hand")
@mutation(
    "transformer.py",
    "(variance + eps).rsqrt()",
    "(variance + eps).reciprocal()",
    fault="layer_norm divides by the variance instead of its root",
)
@mutation(
    "transformer.py",
    "x, self.weight.shape, self.weight, self.bias, self.eps",
    "x, self.weight.shape, self.weight, self.bias",
    fault="the class does not pass on its epsilon",
)
def test_the_vector_normalized_by_hand_matches_the_code(printed, dtype):
    norm = LayerNorm(4, eps=0.0).to(dtype)
    x = torch.tensor(X, dtype=dtype)
    for y in (way(x) for way in both(norm)):
        torch.testing.assert_close(y, torch.tensor(Y, dtype=dtype), **close(dtype))
    with torch.no_grad():
        norm.weight.copy_(torch.tensor([1, 1, 2, 2]))
        norm.bias.copy_(torch.tensor([0, 0, 0, 1]))
    expected = torch.tensor([-1, -1 / 3, -2 / 3, 13 / 3], dtype=dtype)
    for y in (way(x) for way in both(norm)):
        torch.testing.assert_close(y, expected, **close(dtype))
    shown = printed("examples", "layer_norm_by_hand")
    assert (shown["mean"], shown["variance"], shown["standard deviation"]) == ("4.0", "9.0", "3.0")
    assert numbers(shown["centred"]) == [-3, -1, -1, 5]
    assert numbers(shown["divided"]) == numbers(shown["nn.LayerNorm"])


@claim("layer-norm#layer-norm-by-hand", kind="mathematics")
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_steps_of_layer_norm_computed_by_hand_on_the_page_are_correct(language):
    page = (DOCS / language / "layer-norm.md").read_text(encoding="utf-8")

    def as_tex(number: Fraction) -> str:
        if number.denominator == 1:
            return str(number)
        sides = [str(abs(number.numerator)), str(number.denominator)]
        if max(map(len, sides)) > 1:
            sides = [f"{{{side}}}" for side in sides]
        return rf"{'-' * (number < 0)}\frac{''.join(sides)}"

    x = [Fraction(number) for number in (1, 3, 3, 9)]
    centered = [number - sum(x) / 4 for number in x]
    assert sum(number**2 for number in centered) / 4 == 3**2
    divided = [number / 3 for number in centered]
    affine = [y * w + b for y, w, b in zip(divided, (1, 1, 2, 2), (0, 0, 0, 1), strict=True)]
    for step in (x, centered, divided, affine):
        assert f"({', '.join(map(as_tex, step))})" in page


@claim("layer-norm#layer-norm-by-hand")
@mutation(
    "transformer.py",
    "variance = centred.square().mean(dim=-1, keepdim=True)",
    "variance = x.var(dim=-1, keepdim=True)",
    fault="layer_norm uses the unbiased variance",
)
@mutation(
    "transformer.py",
    "rsqrt() * weight + bias",
    "rsqrt().add(bias) * weight",
    fault="layer_norm adds the bias before it multiplies by the weight",
)
@mutation(
    "transformer.py",
    "x, self.weight.shape, self.weight, self.bias, self.eps",
    "x, self.weight.shape, self.weight, None, self.eps",
    fault="the class does not pass on its bias",
)
@few
@given(
    shape=st.lists(sizes, min_size=1, max_size=3),
    seed=seeds,
    scale=st.floats(1e-3, 1e3),
    eps=st.sampled_from([1e-5, 0.1]),
)
def test_function_and_class_equal_torch_forward_and_backward(shape, seed, scale, eps):
    torch.manual_seed(seed)
    d = shape[-1] + 1
    for dtype in DTYPES:
        x = (scale * torch.randn(*shape[:-1], d, dtype=torch.float64)).to(dtype).requires_grad_()
        compare_layer_norm(x, eps)


@claim("layer-norm#layer-norm-by-hand")
@mutation(
    "transformer.py",
    "    centred = x - x.mean(dim=-1, keepdim=True)\n",
    "    x = x.float()\n    centred = x - x.mean(dim=-1, keepdim=True)\n",
    fault="layer_norm computes in float32",
)
def test_at_512_features_function_and_class_equal_torch_up_to_rounding(printed):
    shown = printed("examples", "same_as_torch")
    assert shown == {
        f"{way}, {dtype}, all 4 agree within": within
        for dtype, within in (("torch.float32", "1e-05"), ("torch.float64", "1e-13"))
        for way in ("function", "class")
    }


@claim("layer-norm#layer-norm-by-hand")
@mutation(
    "transformer.py",
    "return F.layer_norm(\n"
    "            x, self.weight.shape, self.weight, self.bias, self.eps\n"
    "        )",
    "x = F.layer_norm(x, self.weight.shape, eps=self.eps)\n"
    "        return x * self.weight + self.bias",
    fault="the class applies its weight and bias outside the kernel",
)
def test_for_the_backward_pass_the_kernel_saves_only_x_and_the_function_two_tensors_of_its_size(
    printed,
):
    assert printed("examples", "kept_for_backward") == {
        "kept by the function": "2",
        "kept by the kernel": "1",
        "and that is x itself": "True",
    }
    norms = [m for m in Transformer(TransformerConfig(9, 12)).modules() if isinstance(m, LayerNorm)]
    assert len(norms) == 30


@claim("layer-norm#layer-norm-by-hand")
@mutation(
    "transformer.py",
    "self.bias = nn.Parameter(torch.zeros(d_model))",
    "self.bias = nn.Parameter(torch.ones(d_model))",
    fault="LayerNorm starts with a bias of ones",
)
def test_the_weight_starts_as_ones_and_the_bias_as_zeros():
    norm = LayerNorm(5)
    assert {name: p.tolist() for name, p in norm.named_parameters()} == {
        "weight": [1.0] * 5,
        "bias": [0.0] * 5,
    }
    assert norm.eps == 1e-5


# Variance and epsilon


@claim("layer-norm#details")
@mutation(
    "examples/sublayers/epsilon.py",
    "y.std(correction=0) / y.std()",
    "y.std() / y.std(correction=0)",
    fault="the example divides the unbiased deviation by the biased one",
)
def test_the_unbiased_variance_shrinks_the_result_by_a_known_factor(printed):
    shown = printed("examples", "epsilon")
    for d in 4, 64, 512:
        expected = math.sqrt((d - 1) / d)
        assert shown[f"d = {d}, the unbiased deviation makes it"] == f"{expected:.4f}"


@claim("layer-norm#details")
@mutation(
    "transformer.py",
    "(variance + eps).rsqrt()",
    "(1 / (variance.sqrt() + eps))",
    fault="layer_norm adds epsilon outside the root (seen in its values)",
)
@pytest.mark.parametrize("deviation", [3.0, 0.03, 0.003, 0.0003])
def test_epsilon_is_compared_to_the_variance_inside_the_root_and_to_the_deviation_outside(
    deviation, printed
):
    inside = deviation / math.sqrt(deviation**2 + 1e-5)
    for way in both(LayerNorm(4).double()):
        y = way(torch.tensor(X, dtype=torch.float64) * deviation / 3)
        assert abs(y.std(correction=0).item() - inside) < 1e-9
    shown = printed("examples", "epsilon")
    outside = deviation / (deviation + 1e-5)
    assert shown[f"deviation {deviation:g}, eps inside, becomes"] == f"{inside:.4f}"
    assert shown[f"deviation {deviation:g}, eps outside, becomes"] == f"{outside:.4f}"


@claim("layer-norm#details")
@mutation(
    "transformer.py",
    "(variance + eps).rsqrt()",
    "(1 / (variance.sqrt() + eps))",
    fault="layer_norm adds epsilon outside the root",
)
def test_equal_features_give_zeros_and_a_finite_gradient(dtype):
    for way in both(LayerNorm(4).to(dtype)):
        x = torch.full((2, 3, 4), 7.0, dtype=dtype, requires_grad=True)
        y = way(x)
        assert not y.any()
        y[..., 0].sum().backward()
        assert x.grad.isfinite().all()
        assert x.grad.abs().max() <= 1e-5**-0.5


@claim("layer-norm#details")
@mutation(
    "examples/sublayers/equal_numbers.py",
    "(centred.square().mean().sqrt() + eps)",
    "(centred.square().mean() + eps).sqrt()",
    fault="the example adds epsilon inside the root where it belongs outside",
)
def test_epsilon_outside_the_root_gives_nan_for_equal_features(printed):
    shown = printed("examples", "equal_numbers")
    for name in "inside", "outside", "by_std":
        assert numbers(shown[f"{name}, output"]) == [0, 0, 0, 0]
    assert numbers(shown["inside, gradient"]) == [237, -79, -79, -79]
    assert all(map(math.isnan, numbers(shown["outside, gradient"])))
    assert numbers(shown["by_std, gradient"])[0] == 0.75 / 1e-5


# One token


@claim("layer-norm#one-token")
@mutation(
    "transformer.py",
    "centred = x - x.mean(dim=-1, keepdim=True)",
    "centred = x - x.mean()",
    fault="layer_norm takes the mean of the whole batch",
)
@few
@given(batch=st.integers(2, 4), positions=st.integers(2, 5), seed=seeds)
def test_each_token_is_normalized_independently(batch, positions, seed):
    torch.manual_seed(seed)
    for dtype in DTYPES:
        x = torch.randn(batch, positions, 6, dtype=dtype)
        for way in both(LayerNorm(6).to(dtype)):
            y = way(x)
            for i in range(batch):
                for j in range(positions):
                    torch.testing.assert_close(y[i, j], way(x[i, j]), **close(dtype))


@claim("layer-norm#one-token")
@mutation(
    "examples/sublayers/one_token.py",
    "nn.LayerNorm((5, 64))",
    "nn.LayerNorm(64)",
    fault="the wide norm of the example averages over the features only",
)
def test_averaging_over_positions_too_lets_the_last_token_reach_the_first(printed):
    shown = printed("examples", "one_token")
    assert shown["features, changed by another last token"] == "[4]"
    assert shown["features, changed by padding"] == "[]"
    assert shown["features, changed by the batch"] == "[]"
    assert shown["positions too, by another last token"] == "[0, 1, 2, 3, 4]"


# Distributions


@claim("layer-norm#distribution")
@mutation(
    "transformer.py",
    "centred = x - x.mean(dim=-1, keepdim=True)",
    "centred = x",
    fault="layer_norm does not subtract the mean",
)
@few
@given(d=st.integers(2, 64), seed=seeds)
def test_each_token_gets_mean_0_and_variance_1(d, seed):
    torch.manual_seed(seed)
    for dtype in DTYPES:
        x = torch.empty(20, d, dtype=dtype).exponential_() * 100 + 5
        size = {"rtol": 0, "atol": 1e-3 if dtype == torch.float32 else 1e-9}
        for y in (way(x) for way in both(LayerNorm(d, eps=0.0).to(dtype))):
            torch.testing.assert_close(y.mean(-1), torch.zeros(20, dtype=dtype), **size)
            torch.testing.assert_close(y.var(-1, correction=0), torch.ones(20, dtype=dtype), **size)


@claim("layer-norm#distribution")
@mutation(
    "transformer.py",
    "return F.layer_norm(\n"
    "            x, self.weight.shape, self.weight, self.bias, self.eps\n"
    "        )",
    "return (x - x.mean(dim=0)) * (x.var(dim=0) + self.eps).rsqrt()",
    fault="the class normalizes each feature over the batch",
)
def test_the_skewness_of_a_token_is_preserved_and_features_become_dependent(printed):
    shown = printed("examples", "distribution")
    assert shown["skew of a token, before"] == shown["skew of a token, after"]
    assert float(shown["skew of a token, after"]) > 1.9
    assert shown["before"] == "mean 1.00, variance 1.00"
    assert shown["after"] == "mean 0.00, variance 1.00"
    assert shown["beyond 3 on either side"] == "1.84%"
    assert shown["beyond 3 in a normal distribution"] == "0.27%"
    for d in 2, 4, 64:
        expected = shown[f"d = {d}, -1 / (d - 1)"]
        assert shown[f"d = {d}, correlation of two features"] == expected


@claim("layer-norm#distribution", kind="mathematics")
def test_the_skewness_of_the_worked_vector_is_24_over_27():
    for vector, mean in (X, 4), (Y, 0):
        centred = [v - mean for v in vector]
        deviation = math.sqrt(sum(c**2 for c in centred) / 4)
        assert math.isclose(sum(c**3 for c in centred) / 4 / deviation**3, 24 / 27)


@claim("layer-norm#distribution")
@mutation(
    "transformer.py",
    "return F.layer_norm(\n"
    "            x, self.weight.shape, self.weight, self.bias, self.eps\n"
    "        )",
    "return F.rms_norm(x, self.weight.shape, self.weight, self.eps)",
    fault="the class computes RMSNorm",
)
@few
@given(scale=st.floats(0.1, 100), shift=st.floats(-10, 10), seed=seeds)
def test_layer_norm_discards_the_mean_and_the_length(scale, shift, seed):
    torch.manual_seed(seed)
    norm = LayerNorm(8, eps=0.0).double()
    x = torch.randn(3, 8, dtype=torch.float64)
    torch.testing.assert_close(norm(scale * x + shift), norm(x), rtol=1e-7, atol=1e-7)
    torch.testing.assert_close(norm(x).norm(dim=-1), torch.full((3,), 8**0.5).double())


@claim("layer-norm#distribution")
@mutation(
    "transformer.py",
    "self.eps = eps",
    "self.eps = eps or 1e-5",
    fault="an epsilon of 0 becomes the default",
)
@few
@given(factor=st.floats(0.01, 100), seed=seeds)
def test_scaling_a_token_by_a_factor_divides_its_gradient_by_the_factor(factor, seed):
    torch.manual_seed(seed)
    norm = LayerNorm(8, eps=0.0).double()
    x = torch.randn(8, dtype=torch.float64)
    arriving = torch.randn(8, dtype=torch.float64)
    gradients = []
    for token in x, factor * x:
        token = token.clone().requires_grad_()
        gradients += torch.autograd.grad(norm(token), token, arriving)
    torch.testing.assert_close(gradients[0] / factor, gradients[1])


@claim("layer-norm#distribution")
@mutation(
    "transformer.py",
    "return F.layer_norm(\n"
    "            x, self.weight.shape, self.weight, self.bias, self.eps\n"
    "        )",
    "x = x - x.mean(dim=-1, keepdim=True)\n"
    "        return x / (x.std(dim=-1, keepdim=True) + self.eps)",
    fault="the class divides by the unbiased deviation",
)
def test_with_two_features_only_their_order_is_kept(dtype):
    norm = LayerNorm(2, eps=0.0).to(dtype)
    x = torch.randn(50, 2, dtype=dtype)
    larger = (x[:, 0] > x[:, 1]).to(dtype) * 2 - 1
    torch.testing.assert_close(norm(x), torch.stack([larger, -larger], 1), **close(dtype))
    assert not LayerNorm(1)(torch.randn(50, 1)).any()


# Exercises


@claim("layer-norm#exercises")
@mutation(
    "transformer.py",
    "self.weight = nn.Parameter(torch.ones(d_model))",
    "self.weight = nn.Parameter(torch.rand(d_model))",
    fault="LayerNorm starts with random weights",
)
def test_the_example_with_few_features_matches_the_formula(capsys):
    run("exercises", "few_features")
    rows = [line.split(": ") for line in capsys.readouterr().out.splitlines()]
    values = {d: [row.split() for name, row in rows if name == f"d = {d}"] for d in (1, 2, 3)}
    assert all(row == ["0.000"] for row in values[1])
    assert all(sorted(row) == ["-1.000", "1.000"] for row in values[2])
    for row in values[3]:
        assert abs(sum(float(number) ** 2 for number in row) - 3) < 0.01


@claim("layer-norm#exercises")
@mutation(
    "exercises/sublayers/own_backward.py",
    " - y * along)",
    ")",
    fault="the hand-written backward pass omits the component along y",
)
def test_our_backward_pass_agrees_with_autograd(printed):
    shown = printed("exercises", "own_backward")
    assert len(shown) == 4
    assert set(shown.values()) == {"True"}


@claim("layer-norm#exercises")
@mutation(
    "transformer.py",
    "return F.layer_norm(\n"
    "            x, self.weight.shape, self.weight, self.bias, self.eps\n"
    "        )",
    "return layer_norm(x, self.weight, self.bias, self.eps)",
    fault="the class calls the function, which overflows in float16",
)
def test_in_float16_large_features_become_zeros_in_the_function_and_not_in_the_class(printed):
    x = torch.tensor([-300.0, -100, -100, 500], dtype=torch.float16)
    norm = LayerNorm(4).half()
    assert not written_out(norm)(x).any()
    torch.testing.assert_close(norm(x).float(), torch.tensor(Y), rtol=0, atol=1e-3)
    shown = printed("exercises", "half_precision")
    assert shown["500 squared"] == "inf"
    assert numbers(shown["the function"]) == [0, 0, 0, 0]
    assert numbers(shown["the class"]) == numbers(shown["repaired"]) == [-1, -0.33, -0.33, 1.67]


@claim("layer-norm#exercises")
@mutation(
    "exercises/sublayers/repair.py",
    "return x + self.dropout(sublayer(self.norm(x)))",
    "return self.dropout(x + sublayer(self.norm(x)))",
    fault="the repaired block still applies dropout to the residual path",
)
def test_the_published_block_applies_norm_and_dropout_to_the_residual_path(printed):
    shown = printed("exercises", "repair")
    assert numbers(shown["Repaired"]) == X
    assert numbers(shown["Published"]) != X
    assert 0.0 in numbers(shown["Published"])


@claim("layer-norm#exercises")
@mutation(
    "transformer.py",
    "return self.norm(x + self.dropout(sublayer(x)))",
    "return self.norm(2 * x + self.dropout(sublayer(x)))",
    fault="post-norm doubles the residual path",
)
def test_in_post_norm_a_hundredth_of_the_input_is_left_after_twelve_layers(printed):
    shown = {k: float(v) for k, v in printed("exercises", "what_is_left").items()}
    assert 0.005 < shown["x counts, after layer 12"] < 0.02
    assert sorted(shown.values(), reverse=True) == list(shown.values())


# Post-norm and pre-norm


@claim("layer-norm#post-and-pre")
@mutation(
    "transformer.py",
    "return self.norm(x + self.dropout(sublayer(x)))",
    "return x + self.norm(self.dropout(sublayer(x)))",
    fault="post-norm normalizes before the sum",
)
@few
@given(d=st.integers(2, 6), norm_first=st.booleans(), seed=seeds)
def test_each_residual_order_matches_its_formula(d, norm_first, seed):
    torch.manual_seed(seed)
    for dtype in DTYPES:
        residual = Residual(config(d_model=d, norm_first=norm_first)).to(dtype)
        norm = nn.LayerNorm(d, dtype=dtype)
        with torch.no_grad():
            norm.weight.normal_()
            norm.bias.normal_()
        residual.norm.load_state_dict(norm.state_dict())
        f = nn.Linear(d, d, dtype=dtype)
        x = torch.randn(2, 3, d, dtype=dtype)
        expected = x + f(norm(x)) if norm_first else norm(x + f(x))
        torch.testing.assert_close(residual(x, f), expected, rtol=1e-3, atol=1e-3)


@claim("layer-norm#post-and-pre")
@mutation(
    "transformer.py",
    "self.norm = LayerNorm(config.d_model, config.layer_norm_eps)",
    "self.norm = LayerNorm(config.d_model)",
    fault="the residual's norm takes the default epsilon",
)
def test_the_norm_in_a_residual_takes_its_width_and_epsilon_from_the_configuration():
    norm = Residual(config(d_model=4, layer_norm_eps=0.5)).norm
    assert norm.weight.shape == (4,)
    assert norm.eps == 0.5


@claim("layer-norm#post-and-pre")
@mutation(
    "transformer.py",
    "return x + self.dropout(sublayer(self.norm(x)))",
    "x = self.norm(x)\n            return x + self.dropout(sublayer(x))",
    fault="the normalized token overwrites x",
)
def test_with_a_zero_sublayer_only_pre_norm_returns_its_input(printed, dtype):
    x = torch.tensor(X, dtype=dtype)
    for norm_first, expected in (True, X), (False, Y):
        residual = Residual(config(d_model=4, norm_first=norm_first, layer_norm_eps=0.0))
        y = residual.to(dtype)(x, torch.zeros_like)
        torch.testing.assert_close(y, torch.tensor(expected, dtype=dtype), **close(dtype))
    shown = printed("examples", "silent")
    assert numbers(shown["pre-norm"]) == X
    assert shown["post-norm"] == shown["x overwritten by its norm"]


@claim("layer-norm#post-and-pre")
@mutation(
    "transformer.py",
    "return x + self.dropout(sublayer(self.norm(x)))",
    "return self.dropout(sublayer(self.norm(x)))",
    fault="pre-norm omits the residual connection",
)
def test_a_pre_norm_output_is_the_input_plus_all_sublayer_outputs(dtype):
    residuals = [Residual(config(norm_first=True)).to(dtype) for _ in range(6)]
    networks = [FeedForward(16, 32, 0.0).to(dtype) for _ in residuals]
    x = start = torch.randn(2, 3, 16, dtype=dtype)
    added = []
    for residual, network in zip(residuals, networks, strict=True):

        def sublayer(y, network=network):
            added.append(network(y))
            return added[-1]

        x = residual(x, sublayer)
    torch.testing.assert_close(x, start + sum(added), **close(dtype))


# The module


@claim("layer-norm#residual-code")
@mutation(
    "transformer.py",
    "if self.norm_first:",
    "if not self.norm_first:",
    fault="norm_first selects post-norm",
)
def test_post_norm_tokens_have_the_length_root_d_and_pre_norm_tokens_grow(printed):
    shown = printed("examples", "stream")
    for layer in 1, 6, 12:
        assert shown[f"post-norm, layer {layer}, length"] == f"{math.sqrt(128):.1f}"
    lengths = [float(shown[f"pre-norm, layer {layer}, length"]) for layer in (1, 6, 12)]
    assert lengths == sorted(lengths)
    assert lengths[-1] > 30
    x = normal(50, 128)
    shorter = x - layer_norm(x, torch.ones(128), torch.zeros(128), 1e-5) / 2
    assert (shorter.norm(dim=-1) < x.norm(dim=-1)).all()
    assert shown["pre-norm, at the end"] == f"{math.sqrt(128):.1f}"
    post, pre = (
        [float(shown[f"{kind}, layer {layer}, change"]) for layer in (1, 6, 12)]
        for kind in ("post-norm", "pre-norm")
    )
    assert pre == sorted(pre, reverse=True)
    assert post == sorted(post)


@claim("layer-norm#residual-code")
@mutation(
    "transformer.py",
    "nn.ModuleList(DecoderLayer(config) for _ in range(count))\n"
    "        norm = LayerNorm(config.d_model, config.layer_norm_eps)\n"
    "        self.norm = norm if config.norm_first else nn.Identity()",
    "nn.ModuleList(DecoderLayer(config) for _ in range(count))\n"
    "        self.norm = LayerNorm(config.d_model, config.layer_norm_eps)",
    fault="the decoder ends in a LayerNorm in both orders",
)
@pytest.mark.parametrize("norm_first", [False, True])
def test_a_stack_ends_with_a_norm_if_and_only_if_norm_first(norm_first):
    model = Transformer(config(norm_first=norm_first))
    for stack in model.encoder, model.decoder:
        assert isinstance(stack.norm, LayerNorm) is norm_first


# Gradients


@claim("layer-norm#gradients")
@mutation(
    "transformer.py",
    "        x = self.residuals[1](x, read)\n",
    "",
    fault="the decoder layer skips cross-attention",
)
def test_only_the_post_norm_decoder_has_unequal_gradients(printed):
    shown = printed("examples", "gradients_by_layer")
    ratio = {
        label.removesuffix(", the last over the first"): float(value)
        for label, value in shown.items()
        if label.endswith("first")
    }
    assert ratio["post-norm, decoder"] > 20
    for rest in "post-norm, encoder", "pre-norm, encoder", "pre-norm, decoder":
        assert 1 / 3 < ratio[rest] < 3
    assert abs(math.log(ratio["post-norm, encoder"])) < abs(math.log(ratio["pre-norm, encoder"]))
    for stack in "encoder", "decoder":
        last = [
            float(shown[f"{kind}, {stack}, layers 1 and 12"].split()[-1])
            for kind in ("post-norm", "pre-norm")
        ]
        assert last[0] > last[1]


@claim("layer-norm#gradients")
@mutation(
    "transformer.py",
    "return x + self.dropout(sublayer(self.norm(x)))",
    "return self.norm(x + self.dropout(sublayer(self.norm(x))))",
    fault="pre-norm normalizes its sum, too",
)
def test_pre_norm_gradients_are_within_a_factor_of_three_and_post_norm_decoder_gradients_grow():
    gradient_norms = run("examples", "gradients_by_layer")["gradient_norms"]
    for row in gradient_norms(True, seeds=1):
        assert row.max() < 3 * row.min()
    climbing = gradient_norms(False, seeds=1)[1].tolist()
    assert climbing == sorted(climbing)


@claim("layer-norm#gradients")
@mutation(
    "transformer.py",
    "return self.cross_attention(y, memory, memory, memory_mask)[0]",
    "return y + self.cross_attention(y, memory, memory, memory_mask)[0]",
    fault="cross-attention adds its input a second time",
)
def test_the_post_norm_decoder_loses_its_gradient_at_cross_attention(printed):
    shown = printed("examples", "gradient_factors")
    post = "post-norm decoder, {} leaves".format
    assert abs(float(shown[post("cross-attention")]) - math.sqrt(0.5)) < 0.02
    for part in "self-attention", "feed-forward":
        assert abs(float(shown[post(part)]) - 1) < 0.05
        assert abs(float(shown[f"pre-norm decoder, {part} leaves"]) - 1) < 0.05
    assert shown["pre-norm decoder, cross-attention leaves"] == "1.00"


@claim("layer-norm#gradients")
@mutation(
    "transformer.py",
    "return self.cross_attention(y, memory, memory, memory_mask)[0]",
    "return self.cross_attention(y, memory, y, memory_mask)[0]",
    fault="cross-attention takes its values from the target",
)
def test_at_the_start_cross_attention_adds_a_vector_about_as_long_as_x_that_ignores_x():
    settings = TransformerConfig(1000, 1000, 128, 8, 12, 12, 512, dropout=0.0)
    model = Transformer(settings)
    ends = []
    for layer in model.decoder.layers:
        layer.cross_attention.register_forward_hook(
            lambda module, inputs, output: ends.append((inputs[0], output[0]))
        )
    src, tgt, other = torch.randint(1, 1000, (3, 8, 16))
    with torch.no_grad():
        model(src, tgt)
        model(src, other)
    ratios = [(y.norm() / x.norm()).item() for x, y in ends]
    assert 0.8 < sum(ratios) / 24 < 1.25
    for (x, y), (other_x, other_y) in zip(ends[:12], ends[12:], strict=True):
        change = (x - other_x).norm() / x.norm()
        assert (y - other_y).norm() < 0.1 * change * y.norm()


# Warm-up


@claim("layer-norm#warm-up")
@mutation(
    "examples/sublayers/warm_up.py",
    "min(1, step / warm_up)",
    "min(1, step)",
    fault="the example of the warm-up has none",
)
def test_post_norm_needs_warm_up_at_a_high_rate_and_pre_norm_does_not(printed):
    shown = printed("examples", "warm_up")
    right = [int(value.rstrip("%")) for value in shown.values()]
    assert right[0] < 30
    assert right[1:] == [100, 100]


@claim("layer-norm#warm-up")
@mutation(
    "transformer.py",
    "x = layer(x, mask)",
    "x = x + layer(x, mask)",
    fault="the encoder adds a residual connection around each layer",
)
def test_the_encoder_that_needs_warm_up_has_equal_gradients():
    settings = TransformerConfig(10, 10, 32, 4, dim_feedforward=128, dropout=0.0)
    encoder = Encoder(settings)
    model = nn.Sequential(nn.Embedding(10, 32), encoder, nn.Linear(32, 10)).apply(initialise)
    ids = torch.randint(10, (16, 6))
    nn.functional.cross_entropy(model(ids).flatten(0, 1), ids.flatten()).backward()
    norms = [layer.feed_forward.linear2.weight.grad.norm() for layer in encoder.layers]
    assert max(norms) / min(norms) < 2


@claim("layer-norm#warm-up")
@mutation(
    "examples/sublayers/amplification.py",
    "norm_first=norm_first\n",
    "norm_first=False\n",
    fault="both noisy stacks of the example are post-norm",
)
def test_a_deep_post_norm_stack_is_more_sensitive_to_weight_noise(printed):
    shown = {k: float(v.rstrip("%")) for k, v in printed("examples", "amplification").items()}
    post, pre = (
        [shown[f"{kind}, depth {depth}, the output moves by"] for depth in (1, 4, 16)]
        for kind in ("post-norm", "pre-norm")
    )
    assert post[0] == pre[0]
    assert post[1] > pre[1]
    assert post[2] > 1.5 * pre[2]


# Dropout


@claim("layer-norm#dropout")
@mutation(
    "transformer.py",
    "self.cross_attention = MultiHeadAttention(d, config.nhead, dropout)",
    "self.cross_attention = MultiHeadAttention(d, config.nhead)",
    fault="cross-attention gets no dropout",
)
def test_dropout_is_applied_in_four_places(printed, capsys):
    run("examples", "dropout_places")
    lines = capsys.readouterr().out.splitlines()
    assert sum("position.dropout" in line for line in lines) == 1
    assert sum("on its weights" in line for line in lines) == 3
    assert sum("feed_forward.dropout" in line for line in lines) == 2
    assert sum(".residuals." in line for line in lines) == 5
    assert len(lines) == 11
    assert all(line.endswith(" 0.1") for line in lines)


@claim("layer-norm#dropout")
@mutation(
    "transformer.py",
    "return self.norm(x + self.dropout(sublayer(x)))",
    "return self.norm(self.dropout(x + sublayer(x)))",
    fault="dropout is applied to the sum instead of the sublayer output",
)
@pytest.mark.parametrize("norm_first", [False, True])
def test_a_residual_applies_dropout_only_to_the_sublayer_output(norm_first):
    residual = Residual(config(d_model=1000, dropout=0.25, norm_first=norm_first))
    residual.norm = nn.Identity()
    x = torch.full((40, 1000), 5.0)
    y = residual(x, torch.ones_like)
    torch.testing.assert_close(y.unique(), torch.tensor([5.0, 5 + 4 / 3]))
    assert abs((y == 5.0).double().mean().item() - 0.25) < 0.02
    assert torch.equal(residual.eval()(x, torch.ones_like), x + 1)


@claim("layer-norm#dropout")
@mutation(
    "transformer.py",
    "return self.linear2(self.dropout(hidden))",
    "return self.dropout(self.linear2(hidden))",
    fault="the feed-forward network applies dropout to its output instead of its hidden units",
)
def test_the_network_applies_dropout_to_hidden_units():
    network = FeedForward(1000, 1000, dropout=0.25)
    with torch.no_grad():
        for linear in network.linear1, network.linear2:
            linear.weight.copy_(torch.eye(1000))
            linear.bias.fill_(1.0)
    y = network(torch.full((40, 1000), 2.0))  # hidden: 3
    torch.testing.assert_close(y.unique(), torch.tensor([1.0, 5.0]))  # never 0: not the output
    assert abs((y == 1.0).double().mean().item() - 0.25) < 0.02
    assert network.eval()(torch.full((1, 1000), 2.0)).unique().tolist() == [4.0]


@claim("layer-norm#dropout")
@mutation(
    "transformer.py",
    "return x + self.dropout(sublayer(self.norm(x)))",
    "return self.dropout(x + sublayer(self.norm(x)))",
    fault="pre-norm applies dropout to its sum",
)
def test_dropout_after_the_sum_would_lose_most_of_the_residual_path(printed):
    shown = printed("examples", "dropout_on_the_road")
    assert shown["dropped before the sum, lost of x"] == "0%"
    assert shown["dropped after the sum, lost of x"] == f"{1 - 0.9**12:.0%}"


@claim("layer-norm#dropout")
@mutation(
    "transformer.py",
    "return self.norm(x + self.dropout(sublayer(x)))",
    "return self.norm(x + sublayer(x))",
    fault="post-norm applies no dropout",
)
def test_sum_and_norm_inside_the_sublayer_class_differ_only_in_one_dropout(dtype):
    class WithSumAndNorm(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(16, 32), nn.Linear(32, 16)
            self.dropout, self.norm = nn.Dropout(0.5), nn.LayerNorm(16)

        def forward(self, x):
            return self.norm(x + self.dropout(self.second(self.first(x).relu())))

    theirs = WithSumAndNorm().to(dtype)
    residual = Residual(config(dropout=0.5)).to(dtype)
    network = FeedForward(16, 32, dropout=0.0).to(dtype)
    network.linear1, network.linear2 = theirs.first, theirs.second
    x = torch.randn(2, 5, 16, dtype=dtype)
    results = []
    for block in theirs, lambda x: residual(x, network):
        torch.manual_seed(1)
        results.append(block(x))
    torch.testing.assert_close(*results, **close(dtype))

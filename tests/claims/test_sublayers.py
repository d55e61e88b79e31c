"""The claims of the chapter on sublayers."""

import runpy

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from helpers import DTYPES, SNIPPETS, few, normal, numbers
from marks import claim, mutation
from transformer import (
    DecoderLayer,
    Encoder,
    EncoderLayer,
    FeedForward,
    MultiHeadAttention,
    TransformerConfig,
    initialize,
)

CHAPTER = "sublayers"
sizes = st.integers(1, 6)
seeds = st.integers(0, 2**32 - 1)


def tolerances(dtype):
    return {"rtol": 0, "atol": 1e-5 if dtype == torch.float32 else 1e-12}


def config(**changes):
    sizes = {"d_model": 16, "nhead": 2, "dim_feedforward": 32, "dropout": 0.0}
    return TransformerConfig(9, 12, **(sizes | changes))


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
            f(*a) + f(1 - a[0], 1 - a[1]),
            f(a[0], 1 - a[1]) + f(1 - a[0], a[1]),
            **tolerances(dtype),
        )


@claim("sublayers#only-mixes")
@mutation(
    "examples/sublayers/exactly_one.py",
    "torch.tensor([0.0, -1.0])",
    "torch.tensor([0.0, 0.0])",
    fault="the second hidden unit of the example has no bias",
)
def test_two_hidden_units_compute_whether_exactly_one_of_two_facts_holds(printed, capsys):
    run_file("examples", "exactly_one")
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
    network = run_file("examples", "exactly_one")["network"]
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


@claim("sublayers#feed-forward", kind="mathematics")
def test_special_weights_make_a_network_with_relu_a_single_matrix():
    x = normal(20)
    assert torch.equal(x.clamp(min=0) - (-x).clamp(min=0), x)


@claim("sublayers#feed-forward", kind="measurement")
def test_networks_of_current_models_are_mostly_between_two_and_a_half_and_four_times_as_wide():
    import transformers

    older = transformers.BertConfig()
    assert older.intermediate_size == 4 * older.hidden_size
    assert transformers.GPT2Config().n_inner is None  # four times the width
    names = ("Llama", "Mistral", "Gemma3Text", "Olmo3", "DeepseekV3", "Qwen3_5Text", "Cohere2")
    current = [getattr(transformers, f"{name}Config")() for name in names]
    assert all(2.5 <= each.intermediate_size / each.hidden_size <= 4 for each in current)


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
        torch.testing.assert_close(network(x), total, **tolerances(dtype))


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
        torch.testing.assert_close(y[:, same], network(other)[:, same], **tolerances(dtype))
        order = torch.randperm(positions)
        torch.testing.assert_close(network(x[:, order]), y[:, order], **tolerances(dtype))
        alone = torch.stack([network(x[:, i]) for i in range(positions)], dim=1)
        torch.testing.assert_close(y, alone, **tolerances(dtype))


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
    torch.testing.assert_close(network(x), y, **tolerances(dtype))


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
    assert count(encoder.norm1) + count(encoder.norm2) == 2 * 2 * 512
    assert round(count(encoder.feed_forward) / count(encoder), 3) == 0.666
    assert round(count(decoder.feed_forward) / count(decoder), 3) == 0.499
    shown = printed("examples", "parameters")
    assert shown["encoder layer, feed-forward"] == "2,099,712"
    assert shown["encoder layer, all"] == f"{count(encoder):,}"
    assert shown["encoder layer, share of the feed-forward"] == "66.6%"


@claim("sublayers#share")
@mutation(
    "examples/sublayers/share_of_work.py",
    "dim_feedforward=2048",
    "dim_feedforward=1024",
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
    network = FeedForward(256, 1024, 0.0).to(dtype).apply(initialize)
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
            x = x + FeedForward(128, 512, 0.0).apply(initialize)(x)
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
    "x = self.norm1(self.attend(x, mask))",
    "x = self.norm1(x + self.attend(x, mask))",
    fault="the example without residual connections has them around attention",
)
def test_tokens_become_alike_in_six_layers_without_residuals_and_more_slowly_with_them(printed):
    shown = printed("examples", "alike")
    assert numbers(shown["layers"]) == [1, 2, 3, 6, 12, 24]
    plain, post, pre = (
        numbers(shown[f"{name}, difference"])
        for name in ("f(x)", "x + f(x), post-norm", "x + f(x), pre-norm")
    )
    assert 0.01 < plain[1] < 0.2 and plain[2] < 0.005
    assert max(plain[3:]) < 1e-6
    for slow in post, pre:
        assert slow == sorted(slow, reverse=True)
        assert all(x < y for x, y in zip(plain, slow, strict=True))
    assert 0.01 < post[4] < 0.1 and post[5] < 0.001
    assert pre[5] > 0.3
    assert numbers(shown["f(x), cosine"])[1] < 0.99
    assert numbers(shown["x + f(x), post-norm, cosine"])[4] > 0.99


@claim("sublayers#beyond-gradients")
def test_without_residual_connections_few_layers_learn_to_copy_and_six_do_not(printed):
    shown = printed("examples", "take_away")
    after = {
        steps: {
            label.removesuffix(f", correct after {steps} steps"): int(value.rstrip("%"))
            for label, value in shown.items()
            if label.endswith(f" {steps} steps")
        }
        for steps in (80, 300)
    }
    assert after[80]["with both"] == after[80]["without the one around the network"] == 100
    one_answer = numbers(shown["the best answer for all positions"])[0]
    assert shown["without both, sentences with one answer for all positions"] == "100%"
    assert shown["with both, sentences with one answer for all positions"] == "0%"
    for name in "without both", "without the one around attention":
        assert after[80][name] <= after[300][name] <= one_answer
    assert after[80]["three layers without both"] < after[80]["two layers without both"]
    assert after[300]["three layers without both"] > 80
    assert after[300]["two layers without both"] == 100


class NoSum(EncoderLayer):
    """A post-norm layer without residual connections."""

    def forward(self, x, mask=None):
        x = self.norm1(self.attend(x, mask))
        return self.norm2(self.feed_forward(x))


@claim("sublayers#beyond-gradients")
@pytest.mark.parametrize("seed", range(3))
def test_only_without_residuals_the_upper_queries_and_keys_get_almost_no_gradient(seed):
    for kind in EncoderLayer, NoSum:
        settings = config(d_model=32, nhead=4, dim_feedforward=128)
        encoder = Encoder(settings)
        torch.manual_seed(seed)
        encoder.layers = nn.ModuleList(kind(settings) for _ in encoder.layers)
        model = nn.Sequential(nn.Embedding(10, 32), encoder, nn.Linear(32, 10)).apply(initialize)
        ids = torch.randint(10, (16, 6))
        nn.functional.cross_entropy(model(ids).flatten(0, 1), ids.flatten()).backward()
        lowest, *_, highest = (layer.self_attention for layer in encoder.layers)
        for name in "query.weight", "key.weight":
            ratio = highest.get_parameter(name).grad.norm() / lowest.get_parameter(name).grad.norm()
            assert ratio < 1e-4 if kind is NoSum else ratio > 1e-2


@claim("sublayers#residual")
@pytest.mark.parametrize("seed", range(8))
def test_with_norm_the_gradients_start_at_the_same_order_of_magnitude_without_residuals(seed):
    norms = {}
    for kind in EncoderLayer, NoSum:
        settings = config(d_model=32, nhead=4, dim_feedforward=128)
        encoder = Encoder(settings)
        torch.manual_seed(seed)
        encoder.layers = nn.ModuleList(kind(settings) for _ in encoder.layers)
        model = nn.Sequential(nn.Embedding(10, 32), encoder, nn.Linear(32, 10)).apply(initialize)
        ids = torch.randint(10, (16, 6))
        nn.functional.cross_entropy(model(ids).flatten(0, 1), ids.flatten()).backward()
        norms[kind] = [
            layer.feed_forward.linear2.weight.grad.norm().item() for layer in encoder.layers
        ]
    for one, other in zip(norms[NoSum], norms[EncoderLayer], strict=True):
        assert 0.1 < one / other < 10


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
    x = torch.ones(3)
    for module in nn.Identity(), nn.Dropout(0.0), nn.Dropout(0.1).eval():
        assert module(x) is x
    assert nn.Dropout(0.1)(x) is not x


@claim("sublayers#residual")
@pytest.mark.parametrize("norm_first", [False, True])
def test_our_sum_does_not_change_the_callers_tensor(norm_first, dtype):
    settings = config(norm_first=norm_first)
    x = torch.randn(2, 3, 16, dtype=dtype)
    before = x.clone()
    for layer, inputs in (EncoderLayer(settings), (x,)), (DecoderLayer(settings), (x, x)):
        for part in layer.children():
            if isinstance(part, MultiHeadAttention):
                part.forward = lambda x, *_: (x, None)
        layer.feed_forward = nn.Identity()
        layer.to(dtype).eval()(*inputs)
        assert torch.equal(x, before)

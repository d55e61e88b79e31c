"""The claims of the chapter on multi-head attention."""

import runpy

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.testing import assert_close

from attention_inputs import sizes, torch_copy
from evidence.comparisons import compare_attention
from helpers import SNIPPETS, few, seeds
from marks import claim, mutation
from transformer import MultiHeadAttention, initialize, scaled_dot_product_attention

CHAPTER = "multi-head-attention"


# In one minute


@claim("multi-head-attention#in-one-minute")
@mutation(
    "transformer.py",
    "self.output = nn.Linear(d_model, d_model)",
    "self.output = nn.Linear(d_model, d_model, bias=False)",
    fault="the output projection has no bias",
)
def test_the_first_example_has_a_table_for_each_head_and_counts_all_parameters(printed):
    shown = printed("examples", "in_one_minute")
    assert shown["weights, a table for each head"] == "(2, 8, 5, 5)"
    assert shown["output"] == "(2, 5, 512)"
    assert shown["parameters"] == f"{4 * (512 * 512 + 512):,}"


# Heads


@claim("multi-head-attention#one-average")
@mutation(
    "transformer.py",
    "self.nhead = nhead",
    "self.nhead = 1",
    fault="attention has one head, whatever its nhead",
)
@mutation(
    "examples/multi-head-attention/two_neighbors.py",
    "nn.Sequential(hidden, nn.ReLU(), nn.Linear",
    "nn.Sequential(hidden, nn.Linear",
    fault="the feed-forward reader has no ReLU and is a linear map",
)
def test_behind_one_head_a_feed_forward_network_names_neighbors_that_a_linear_map_does_not(printed):
    shown = printed("examples", "two_neighbors")
    right = {label.removesuffix(", right"): int(value[:-1]) for label, value in shown.items()}
    assert right["guessing"] == round(100 / 9)
    assert 50 < right["linear map, nhead = 1"] < 75
    assert right["feed-forward, nhead = 1"] > 95
    assert right["linear map, nhead = 2"] == right["feed-forward, nhead = 2"] == 100


@claim("multi-head-attention#multi-head-code")
@mutation(
    "examples/multi-head-attention/two_neighbors.py",
    "x = embedding(ids) + table",
    "x = embedding(ids)",
    fault="the example of the two neighbors omits the positions",
)
def test_one_of_two_heads_looks_right_and_the_other_left_and_one_head_is_uneven(capsys):
    trained = runpy.run_path(str(SNIPPETS / "examples" / CHAPTER / "two_neighbors.py"))["trained"]
    weights = trained["linear map", 2][1]
    middle = [[head[i].argmax().item() - i for i in (1, 2, 3)] for head in weights]
    assert sorted(middle) == [[-1, -1, -1], [1, 1, 1]]
    (alone,) = trained["feed-forward", 1][1]
    for i in (1, 2, 3):  # the left neighbor has the larger weight
        assert 1.5 < alone[i, i - 1] / alone[i, i + 1] < 4


def name_both(first: float, second: float, reader: nn.Module) -> list[float]:
    """Train a reader on weighted sums of two one-hot tokens; the fractions named right."""
    before, after = torch.cartesian_prod(torch.arange(9), torch.arange(9)).T
    one_hot = torch.eye(9)
    x = first * one_hot[before] + second * one_hot[after]
    optimizer = torch.optim.Adam(reader.parameters(), lr=0.03)
    for _ in range(600):
        guess = reader(x).unflatten(-1, (2, 9))
        loss = F.cross_entropy(guess.transpose(1, 2), torch.stack([before, after], dim=-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    best = guess.argmax(dim=-1)
    return [(best[:, 0] == before).float().mean(), (best[:, 1] == after).float().mean()]


@claim("multi-head-attention#one-average", kind="measurement")
def test_an_average_with_unequal_weights_shows_the_order_to_a_nonlinear_reader_only():
    torch.manual_seed(0)

    def network():
        return nn.Sequential(nn.Linear(9, 64), nn.ReLU(), nn.Linear(64, 18))

    assert min(name_both(2 / 3, 1 / 3, network())) == 1
    larger, smaller = name_both(2 / 3, 1 / 3, nn.Linear(9, 18))
    assert larger == 1 and smaller < 0.6
    assert sum(name_both(1 / 2, 1 / 2, network())) < 1.3  # equal weights lose the order


@claim("multi-head-attention#shapes")
@mutation(
    "examples/multi-head-attention/reshape_trap.py",
    "x.reshape(1, 8, 5, 64)",
    "x.reshape(1, 5, 8, 64).transpose(1, 2)",
    fault="the wrong reshape of the example keeps the tokens together",
)
def test_a_reshape_gives_a_head_few_tokens_and_has_the_right_shape(printed):
    shown = printed("examples", "reshape_trap")
    assert shown["same shape"] == "True"
    for head in (0, 1, 7):
        assert shown[f"split, head {head} holds tokens"] == "0 1 2 3 4"
    assert shown["reshape, head 0 holds tokens"] == "0 0 0 0 0"
    tokens = torch.arange(50.0)[None, :, None].expand(1, 50, 512).reshape(1, 8, 50, 64)
    assert tokens[0, 0].unique().tolist() == list(range(7))  # of 50, in every row only one
    assert all(len(row.unique()) == 1 for row in tokens.flatten(0, 2))


@claim("multi-head-attention#multi-head-code")
@few
@given(n=sizes, nhead=sizes, head_dim=sizes)
def test_splitting_heads_divides_the_features_and_merging_reverses_it(n, nhead, head_dim):
    attention = MultiHeadAttention(nhead * head_dim, nhead)
    x = torch.arange(2.0 * n * nhead * head_dim).reshape(2, n, nhead * head_dim)
    split = attention.split(x)
    assert split.shape == (2, nhead, n, head_dim)
    for head in range(nhead):
        cut = x[..., head * head_dim : (head + 1) * head_dim]
        assert torch.equal(split[:, head], cut)
    assert torch.equal(split.transpose(1, 2).flatten(2), x)


@claim("multi-head-attention#multi-head-code")
@mutation(
    "transformer.py",
    "v = self.split(self.value(value))",
    "v = self.split(self.value(key))",
    fault="the values are made from the keys' input",
)
@pytest.mark.parametrize("nhead", [1, 2, 8])
@pytest.mark.parametrize("masks", ["none", "causal", "padding", "random"])
def test_multi_head_attention_equals_that_of_torch_forward_and_backward(nhead, masks, dtype):
    compare_attention(masks, nhead, dtype)


@claim("multi-head-attention#multi-head-code")
@mutation(
    "transformer.py",
    "return self.output(joined), weights",
    "return self.output(joined), weights.mean(dim=1)",
    fault="our returned weights are averaged over the heads",
)
def test_torch_averages_the_weights_over_heads_by_default():
    torch.manual_seed(0)
    ours = MultiHeadAttention(16, 4)
    x = torch.randn(2, 5, 16)
    weights = ours(x, x, x, need_weights=True)[1]
    assert_close(torch_copy(ours)(x, x, x)[1], weights.mean(dim=1))


@claim("multi-head-attention#multi-head-code")
@mutation(
    "transformer.py",
    "return self.output(joined), weights",
    "if need_weights:\n"
    "            weights = F.dropout(weights, self.dropout, self.training)\n"
    "        return self.output(joined), weights",
    fault="the returned weights get a dropout of their own",
)
def test_the_weights_returned_in_training_are_those_before_dropout():
    torch.manual_seed(0)
    ours = MultiHeadAttention(16, 4, dropout=0.5)
    x = torch.randn(2, 5, 16)
    training = ours(x, x, x, need_weights=True)[1]
    assert torch.equal(training, ours.eval()(x, x, x, need_weights=True)[1])
    theirs = torch_copy(ours, dropout=0.5)(x, x, x, average_attn_weights=False)[1]
    assert not torch.allclose(theirs, training)


@claim("multi-head-attention#multi-head-code")
@pytest.mark.parametrize("nhead", [-1, 0, 3, 5, 32])
def test_a_number_of_heads_that_does_not_divide_d_model_is_rejected(nhead):
    message = f"{nhead=} must divide d_model=16"
    with pytest.raises(ValueError) as caught:
        MultiHeadAttention(16, nhead)
    assert str(caught.value) == message


@claim("multi-head-attention#multi-head-code")
@mutation(
    "transformer.py",
    "def split(self, x: Tensor) -> Tensor:",
    "def split(self, x: Tensor) -> Tensor:\n        x = x.transpose(0, 1)",
    fault="the model treats sentences as positions",
)
@pytest.mark.parametrize("need_weights", [True, False])
def test_a_sentence_does_not_see_the_rest_of_the_batch(need_weights, dtype):
    torch.manual_seed(0)
    attention = MultiHeadAttention(16, 4).to(dtype)
    batch = torch.randn(3, 5, 16, dtype=dtype)
    changed = batch.clone()
    changed[1:] = torch.randn(2, 5, 16, dtype=dtype)
    before, after = (attention(x, x, x, None, need_weights)[0] for x in (batch, changed))
    assert torch.equal(before[0], after[0])
    assert not torch.allclose(before[1], after[1])


@claim("multi-head-attention#multi-head-code")
@few
@given(seed=seeds, n=sizes, nhead=st.sampled_from([1, 2, 4]))
def test_self_attention_is_permutation_equivariant(seed, n, nhead):
    torch.manual_seed(seed)
    attention = MultiHeadAttention(8, nhead).double()
    x, order = torch.randn(1, n, 8, dtype=torch.float64), torch.randperm(n)
    moved = x[:, order]
    assert_close(attention(moved, moved, moved)[0], attention(x, x, x)[0][:, order])


@claim("multi-head-attention#whole-vector")
@mutation(
    "examples/multi-head-attention/whole_vector.py",
    "attention.split(attention.query(x))",
    "attention.split(x)",
    fault="the projected heads of the example are slices of the vector",
)
def test_each_head_depends_on_every_feature_of_the_vector(printed):
    shown = printed("examples", "whole_vector")
    assert shown["projected, head 0"] == shown["projected, head 7"] == "512 (0 to 511)"
    assert shown["sliced, head 7"] == "64 (448 to 511)"
    torch.manual_seed(0)
    attention = MultiHeadAttention(16, 4)
    x = torch.randn(1, 1, 16, requires_grad=True)
    for part in (attention.query, attention.key, attention.value):
        heads = attention.split(part(x))
        for head in range(4):
            gradient = torch.autograd.grad(heads[0, head].sum(), x, retain_graph=True)[0]
            assert gradient.all()


@claim("multi-head-attention#multi-head-code")
@mutation(
    "transformer.py",
    "return self.output(joined), weights",
    "return joined, weights",
    fault="the output projection is omitted",
)
@pytest.mark.parametrize("nhead", [1, 2, 4, 8])
def test_the_output_is_a_sum_of_low_rank_maps_one_per_head(nhead):
    torch.manual_seed(0)
    attention = MultiHeadAttention(16, nhead).double()
    x = torch.randn(2, 5, 16, dtype=torch.float64)
    output, weights = attention(x, x, x, need_weights=True)
    to_value = attention.value.weight.chunk(nhead)
    from_head = attention.output.weight.chunk(nhead, dim=1)
    total = attention.output(attention.value.bias).expand_as(output)
    for head in range(nhead):
        carried = from_head[head] @ to_value[head]
        assert torch.linalg.matrix_rank(carried) == 16 // nhead
        total = total + weights[:, head] @ x @ carried.T
    assert_close(total, output)


@claim("multi-head-attention#multi-head-code")
def test_the_order_of_the_heads_changes_nothing():
    torch.manual_seed(0)
    attention = MultiHeadAttention(16, 4).double()
    x = torch.randn(2, 5, 16, dtype=torch.float64)
    before = attention(x, x, x)[0]
    order = torch.tensor([2, 0, 3, 1])
    with torch.no_grad():
        for part in (attention.query, attention.key, attention.value):
            part.weight.copy_(part.weight.unflatten(0, (4, 4))[order].flatten(0, 1))
            part.bias.copy_(part.bias.unflatten(0, (4, 4))[order].flatten())
        columns = attention.output.weight.unflatten(1, (4, 4))[:, order].flatten(1)
        attention.output.weight.copy_(columns)
    assert_close(attention(x, x, x)[0], before)


@claim("multi-head-attention#multi-head-code")
@mutation(
    "transformer.py",
    "return self.output(joined), weights",
    "return self.output(joined.relu()), weights",
    fault="a ReLU comes before the output projection",
)
def test_with_one_head_the_output_matrix_can_be_left_out():
    torch.manual_seed(0)
    attention = MultiHeadAttention(16, 1).double()
    x = torch.randn(2, 5, 16, dtype=torch.float64)
    before = attention(x, x, x)[0]
    with torch.no_grad():
        attention.value.bias.copy_(attention.output(attention.value.bias))
        attention.value.weight.copy_(attention.output.weight @ attention.value.weight)
    attention.output = nn.Identity()
    assert_close(attention(x, x, x)[0], before)


@claim("multi-head-attention#multi-head-code")
def test_each_head_computes_attention_on_its_own_projections():
    torch.manual_seed(0)
    attention = MultiHeadAttention(16, 4).apply(initialize).double()
    x, y = torch.randn(2, 2, 5, 16, dtype=torch.float64)
    heads = [
        scaled_dot_product_attention(
            attention.query(x)[..., i : i + 4],
            attention.key(y)[..., i : i + 4],
            attention.value(y)[..., i : i + 4],
        )[0]
        for i in range(0, 16, 4)
    ]
    expected = attention.output(torch.cat(heads, dim=-1))
    assert_close(attention(x, y, y)[0], expected)


@claim("multi-head-attention#trained-head")
@mutation(
    "examples/multi-head-attention/trained_head.py",
    "weights_of(pair.source)[:, -1]",
    "weights_of(pair.source)[:, 0]",
    fault="the trained heads are counted at the first word",
)
def test_the_question_mark_looks_most_at_the_first_word_in_one_trained_head(printed):
    shown = printed("examples", "trained_head")
    assert shown["questions of the test set"] == "200"
    assert float(shown["head 2, weight that ? gives to why"]) > 0.9
    shares = [
        int(shown[f"head {head}, ? looks most at the first word"].rstrip("%")) for head in range(4)
    ]
    guess = int(shown["a word at random is the first word"].rstrip("%"))
    assert guess < 20 and shares[2] == max(shares) > 80
    assert 3 * guess < shares[3] == min(shares) < 60


@claim("multi-head-attention#trained-head")
@mutation(
    "examples/multi-head-attention/trained_head.py",
    "(torch.stack(most)[chosen, 2] == 0)",
    "(torch.stack(most)[:, 2] == 0)",
    fault="the first words are counted together, whatever they are",
)
def test_the_head_of_the_question_mark_finds_question_words_and_misses_most_verbs(printed):
    shown = printed("examples", "trained_head")
    assert int(shown["head 2, if the first word is a question word"].rstrip("%")) > 95
    assert int(shown["head 2, if the first word is a verb"].rstrip("%")) < 50


@claim("multi-head-attention#trained-head", kind="measurement")
def test_in_head_2_the_average_at_the_question_mark_is_nearly_the_value_of_why():
    example = runpy.run_path(str(SNIPPETS / "examples" / CHAPTER / "trained_head.py"))
    values, attention = [], example["first_layer"]
    attention.register_forward_pre_hook(
        lambda module, inputs: values.append(module.split(module.value(inputs[0]))[0, 2])
    )
    weights = example["weights_of"](example["sentence"])[2, -1]
    why = values[-1][0]
    assert (weights @ values[-1] - why).norm() < 0.1 * why.norm()


@claim("multi-head-attention#multi-head-code", kind="measurement")
def test_newer_models_choose_the_size_of_a_head_freely():
    transformers = pytest.importorskip("transformers")
    for config in (transformers.GemmaConfig(), transformers.Qwen3NextConfig()):
        assert config.num_attention_heads * config.head_dim != config.hidden_size


# Exercises


@claim("multi-head-attention#exercises")
@mutation(
    "transformer.py",
    "k = self.split(self.key(key))",
    "k = F.normalize(self.split(self.key(key)), dim=-1)",
    fault="keys are normalized to length one",
)
def test_the_key_bias_has_no_effect(printed):
    shown = printed("exercises", "key_bias")
    assert shown["largest gradient of the key bias"] == "0.0"
    assert float(shown["largest gradient of the query bias"]) > 0.1
    assert float(shown["largest gradient of the value bias"]) > 0.1
    assert shown["same output"] == "True"


@claim("multi-head-attention#exercises")
@mutation(
    "exercises/multi-head-attention/own_head_size.py",
    "heads, _ = fused_attention(q, k, v)",
    "heads, _ = fused_attention(q / 2, k, v)",
    fault="heads of any size are divided by the root of d_model",
)
def test_heads_may_have_any_size_and_only_the_products_matter(printed):
    shown = printed("exercises", "own_head_size")
    assert shown.pop("with heads that fill d_model, equal to the book's") == "True"
    assert all(value.startswith("(2, 5, 32), ") for value in shown.values())
    assert shown["4 heads, d_k 8, d_v 8"] == shown["1 heads, d_k 32, d_v 32"]


@claim("multi-head-attention#exercises")
@mutation(
    "exercises/multi-head-attention/repair.py",
    '("and the scale", ours.split, 8**0.5, 1)',
    '("and the scale", ours.split, 8**0.5, -1)',
    fault="the second repair corrects the axis too",
)
def test_three_mistakes_keep_the_shape_and_only_all_three_repairs_make_it_equal(printed):
    shown = printed("exercises", "repair")
    assert [value.rsplit(" ", 1)[1] for value in shown.values()] == ["False"] * 3 + ["True"]
    assert all(value.startswith("shape (2, 5, 32)") for value in shown.values())

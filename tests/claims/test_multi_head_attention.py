"""The claims of the chapter on multi-head attention."""

import runpy

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from torch.testing import assert_close

import heads
from attention_inputs import sizes, torch_copy
from evidence.comparisons import compare_attention
from helpers import SNIPPETS, few, numbers
from marks import claim, mutation
from transformer import MultiHeadAttention

CHAPTER = "multi-head-attention"


def variables(name: str) -> dict:
    """The variables of an example."""
    return runpy.run_path(str(SNIPPETS / "examples" / CHAPTER / f"{name}.py"))


@claim("multi-head-attention#two-heads")
@mutation(
    "heads.py",
    "[2.0, 0.0], [2.0, 1.0]",
    "[0.0, 0.0], [2.0, 1.0]",
    fault="no number of the keys in head 1 distinguishes the question mark",
)
def test_head_0_is_that_of_the_last_chapter_and_in_head_1_work_attends_to_the_last_word(printed):
    attention = runpy.run_path(str(SNIPPETS / "examples/attention/self_attention.py"))
    assert torch.equal(attention["x"], heads.x)
    for name, matrix in zip(("w_query", "w_key", "w_value"), heads.head_0, strict=True):
        assert torch.equal(attention[name], matrix)
    joined = numbers(printed("examples", "two_heads")["joined, work"])
    assert joined[:2] == pytest.approx(attention["output"][1].tolist(), abs=1e-4)
    w_query, w_key, w_value = heads.head_1
    scores = heads.x @ w_query @ (heads.x @ w_key).T
    assert scores[1].tolist() == [-1, 0, 4]
    average = (scores[1] / 2**0.5).softmax(dim=0) @ heads.x @ w_value
    assert joined[2:] == pytest.approx(average.tolist(), abs=1e-4)


@claim("multi-head-attention#two-heads")
def test_heads_that_start_equal_stay_equal_and_random_heads_become_more_different():
    torch.manual_seed(0)
    attention = MultiHeadAttention(8, 2)
    parts = attention.query, attention.key, attention.value
    x, target = torch.randn(2, 3, 5, 8)

    def train(steps):
        optimizer = torch.optim.SGD(attention.parameters(), lr=0.5)
        for _ in range(steps):
            optimizer.zero_grad()
            F.mse_loss(attention(x, x, x)[0], target).backward()
            optimizer.step()

    train(20)
    assert all((part.weight[4:] - part.weight[:4]).abs().max() > 0.1 for part in parts)
    with torch.no_grad():  # copy head 0 to head 1
        for part in parts:
            part.weight[4:], part.bias[4:] = part.weight[:4], part.bias[:4]
        attention.output.weight[:, 4:] = attention.output.weight[:, :4]
    before = attention.query.weight.clone()
    train(20)
    assert not torch.allclose(attention.query.weight, before)
    for part in parts:
        assert_close(part.weight[4:], part.weight[:4])


@claim("multi-head-attention#shapes")
@mutation(
    "examples/multi-head-attention/split.py",
    "return rows.transpose(0, 1)",
    "return rows.reshape(2, 3, 2)",
    fault="the example splits the heads by a reshape",
)
def test_one_matrix_and_a_split_give_the_same_as_the_loop(printed):
    split, loop = (printed("examples", name)["joined, work"] for name in ("split", "two_heads"))
    assert split == loop


@claim("multi-head-attention#shapes")
@mutation(
    "transformer.py",
    "return x.transpose(1, 2)  # (batch, head, n, head_dim)",
    "return x.reshape(len(x), self.nhead, x.size(1), -1)",
    fault="the heads are split by a reshape",
)
@torch.no_grad()
def test_the_book_class_gives_the_same_as_the_loop():
    attention, example = MultiHeadAttention(4, 2), variables("split")
    for part in ("query", "key", "value"):  # the words get a fourth number, 0
        getattr(attention, part).weight.copy_(F.pad(example[f"w_{part}"], (0, 0, 0, 1)).T)
        getattr(attention, part).bias.zero_()
    attention.output = torch.nn.Identity()
    x = F.pad(heads.x, (0, 1)).unsqueeze(0)
    assert_close(attention(x, x, x)[0][0], variables("two_heads")["joined"])


@claim("multi-head-attention#shapes")
def test_view_and_contiguous_split_and_join_like_our_code():
    b, n, h, d = 2, 5, 8, 64
    attention = MultiHeadAttention(h * d, h)
    x = torch.randn(b, n, h * d)
    split = attention.split(x)
    assert torch.equal(split, x.view(b, n, h, d).transpose(1, 2))
    moved = split.contiguous().transpose(1, 2)  # attention returns contiguous heads
    assert torch.equal(moved.contiguous().view(b, n, h * d), x)
    with pytest.raises(RuntimeError, match="view"):
        moved.view(b, n, h * d)


@claim("multi-head-attention#multi-head-code")
def test_the_number_of_heads_does_not_change_the_number_of_parameters():
    counts = {sum(p.numel() for p in MultiHeadAttention(512, h).parameters()) for h in (1, 8, 16)}
    assert counts == {4 * (512 * 512 + 512)}


@claim("multi-head-attention#two-heads")
def test_each_head_depends_on_every_number_of_the_vector():
    torch.manual_seed(0)
    attention = MultiHeadAttention(16, 4)
    x = torch.randn(1, 5, 16)
    before = attention(x, x, x, need_weights=True)[1]
    for number in range(16):
        changed = x.clone()
        changed[..., number] += 1
        after = attention(changed, x, x, need_weights=True)[1]
        assert all(not torch.allclose(after[:, head], before[:, head]) for head in range(4))


@claim("multi-head-attention#shapes")
def test_a_reshape_gives_a_head_few_tokens_and_has_the_right_shape(printed):
    shown = printed("examples", "reshape_trap")
    assert shown["same shape"] == "True"
    for head in (0, 1, 7):
        assert shown[f"split, head {head} holds tokens"] == "0 1 2 3 4"
    assert shown["reshape, head 0 holds tokens"] == "0 0 0 0 0"


@claim("multi-head-attention#multi-head-code")
@mutation(
    "examples/multi-head-attention/module.py",
    "heads.transpose(1, 2).flatten(2)",
    "heads.reshape(len(heads), heads.size(2), -1)",
    fault="the class on the page joins the heads in their order in memory",
)
def test_the_short_class_of_the_page_equals_the_book_class():
    shown, book = variables("module"), MultiHeadAttention(d_model=512, nhead=8)
    shown["attention"].load_state_dict(book.state_dict())
    x = shown["x"]
    assert_close(shown["attention"](x, x, x)[0], book(x, x, x)[0], atol=1e-5, rtol=1e-4)


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
@pytest.mark.parametrize("nhead", [1, 2, 8])
@pytest.mark.parametrize("masks", ["none", "causal", "padding", "random"])
def test_multi_head_attention_equals_that_of_torch_forward_and_backward(nhead, masks, dtype):
    compare_attention(masks, nhead, dtype)


@claim("attention-in-practice#torch-nn")
def test_torch_averages_the_weights_over_heads_by_default():
    torch.manual_seed(0)
    ours = MultiHeadAttention(16, 4)
    x = torch.randn(2, 5, 16)
    weights = ours(x, x, x, need_weights=True)[1]
    assert_close(torch_copy(ours)(x, x, x)[1], weights.mean(dim=1))


@claim("multi-head-attention#multi-head-code")
@pytest.mark.parametrize("nhead", [0, 3])
def test_a_number_of_heads_that_does_not_divide_d_model_is_rejected(nhead):
    with pytest.raises(ValueError, match=f"{nhead=} must divide d_model=16"):
        MultiHeadAttention(16, nhead)


@claim("multi-head-attention#multi-head-code")
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


@claim("overview#attention", kind="measurement")
def test_in_head_2_the_average_at_the_question_mark_is_nearly_the_value_of_why():
    example = runpy.run_path(str(SNIPPETS / "examples/attention-in-practice/trained_head.py"))
    values, attention = [], example["first_layer"]
    attention.register_forward_pre_hook(
        lambda module, inputs: values.append(module.split(module.value(inputs[0]))[0, 2])
    )
    weights = example["weights_of"](example["sentence"])[2, -1]
    why = values[-1][0]
    assert (weights @ values[-1] - why).norm() < 0.1 * why.norm()


@claim("multi-head-attention#exercises", kind="measurement")
def test_newer_models_choose_the_size_of_a_head_freely():
    transformers = pytest.importorskip("transformers")
    for config in (transformers.GemmaConfig(), transformers.Qwen3NextConfig()):
        assert config.num_attention_heads * config.head_dim != config.hidden_size


@claim("multi-head-attention#output-map", kind="mathematics")
def test_each_number_of_the_invented_output_uses_both_heads():
    joined, w_output = variables("two_heads")["joined"][1], torch.zeros(4, 3)
    for row, column, number in (0, 0, 1), (3, 0, 1), (1, 1, 1), (2, 1, 1), (0, 2, 1), (2, 2, -1):
        w_output[row, column] = number
    assert_close(joined @ w_output, torch.tensor([6.83, 6.90, 3.10]), atol=0.005, rtol=0)


# Exercises


@claim("multi-head-attention#exercises", kind="mathematics")
def test_the_first_number_of_the_query_finds_the_question_mark():
    w_query, w_key, _ = heads.head_1
    assert (heads.x[1] @ w_query).tolist() == [2, 1]
    assert (heads.x @ w_key).tolist() == [[0, -1], [0, 0], [2, 0]]


@claim("multi-head-attention#exercises")
def test_the_key_bias_has_no_effect(printed):
    shown = printed("exercises", "key_bias")
    assert shown["largest gradient of the key bias"] == "0.0"
    assert float(shown["largest gradient of the query bias"]) > 0.1
    assert float(shown["largest gradient of the value bias"]) > 0.1
    assert shown["same output"] == "True"


@claim("multi-head-attention#exercises")
def test_heads_may_have_any_size_and_only_the_products_matter(printed):
    shown = printed("exercises", "own_head_size")
    assert shown.pop("with heads that fill d_model, equal to the book's") == "True"
    assert all(value.startswith("(2, 5, 32), ") for value in shown.values())
    assert shown["4 heads, d_k 8, d_v 8"] == shown["1 heads, d_k 32, d_v 32"]


@claim("multi-head-attention#exercises")
def test_three_mistakes_keep_the_shape_and_only_all_three_repairs_make_it_equal(printed):
    shown = printed("exercises", "repair")
    assert [value.rsplit(" ", 1)[1] for value in shown.values()] == ["False"] * 3 + ["True"]
    assert all(value.startswith("shape (2, 5, 32)") for value in shown.values())

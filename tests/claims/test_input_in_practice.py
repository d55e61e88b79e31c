"""The claims of the page on embeddings and positions in practice."""

import functools
import inspect
import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn.functional import one_hot

from evidence.references import exact_rows
from helpers import DTYPES, few, run_snippet
from marks import claim
from transformer import (
    PositionalEncoding,
    TokenEmbedding,
    Transformer,
    TransformerConfig,
    sinusoidal_positional_encoding,
)

CHAPTER = "input-in-practice"
run = functools.partial(run_snippet, "examples", CHAPTER)


def exact_table(n: int, d: int) -> torch.Tensor:
    """The table in float64."""
    return exact_rows(torch.arange(n), d, 10000.0)


# The gradient, and the cost of the product


@claim("input-in-practice#gradient", kind="mathematics")
@few
@given(ids=st.lists(st.integers(0, 8), min_size=1, max_size=8))
def test_the_gradient_of_the_table_is_one_hot_transposed_times_the_incoming_gradient(ids):
    for dtype in DTYPES:
        embedding = nn.Embedding(9, 4, dtype=dtype)
        ids = torch.as_tensor(ids)
        arriving = torch.randn(len(ids), 4, dtype=dtype)
        embedding(ids).backward(arriving)
        expected = one_hot(ids, 9).to(dtype).T @ arriving
        torch.testing.assert_close(embedding.weight.grad, expected)


@claim("input-in-practice#gradient")
def test_a_row_used_twice_gets_the_sum_of_both_gradients(printed):
    assert printed("examples", "gradient_rows")["rows with a gradient"] == "[6, 7]"
    embedding = nn.Embedding(9, 2)
    embedding(torch.tensor([6, 7, 6])).backward(torch.tensor([[1.0], [2.0], [3.0]]).expand(3, 2))
    assert embedding.weight.grad[[6, 7]].tolist() == [[4.0, 4.0], [2.0, 2.0]]


@claim("input-in-practice#one-hot-cost", kind="mathematics")
def test_a_nan_in_an_unused_row_spoils_the_product_but_not_the_lookup():
    for bad in (math.nan, math.inf):
        table = torch.ones(4, 3)
        table[0, 1] = bad
        product = one_hot(torch.tensor([2, 1]), 4).float() @ table
        assert product[:, 1].isnan().all()
        assert product[:, [0, 2]].eq(1).all()
        assert torch.equal(table[[2, 1]], torch.ones(2, 3))


@claim("input-in-practice#one-hot-cost", kind="measurement")
def test_under_autocast_the_product_is_rounded_and_the_lookup_is_not():
    embedding, ids = nn.Embedding(9, 64), torch.tensor([4, 5, 6])
    with torch.autocast("cpu", dtype=torch.bfloat16):
        product = one_hot(ids, 9).float() @ embedding.weight
        vectors = embedding(ids)
    assert product.dtype == torch.bfloat16
    assert torch.equal(vectors, embedding.weight[ids])
    assert not torch.equal(product.float(), vectors)


# Initialization


@claim("input-in-practice#two-jobs")
def test_an_output_table_of_n_0_1_starts_far_worse_than_guessing(printed):
    shown = {label: float(value) for label, value in printed("examples", "first_loss").items()}
    assert shown["a blind guess"] == round(math.log(1000), 1)
    assert shown["rows from N(0, 1/d)"] == pytest.approx(math.log(1000) + 0.5, abs=0.2)
    assert shown["rows from N(0, 1)"] == pytest.approx(10 * shown["a blind guess"], rel=0.2)
    assert shown["rows from N(0, 1), d = 64"] < 0.5 * shown["rows from N(0, 1)"]


# Invalid ids


@claim("input-in-practice#shape")
def test_every_invalid_id_on_the_page_is_rejected(printed):
    shown = printed("examples", "wrong_ids")
    assert shown["a token"].startswith("'wolk' is not in the vocabulary; near it: work")
    assert shown["one axis"].startswith("ValueError, ids must be (batch, position)")
    for name in "id 9", "id -1":
        assert shown[name] == "IndexError, index out of range in self"


# Pretrained vectors


@claim("input-in-practice#pretrained", kind="measurement")
def test_from_pretrained_takes_embeddings_and_freezes_by_default():
    parameters = inspect.signature(nn.Embedding.from_pretrained).parameters
    assert list(parameters)[:3] == ["embeddings", "freeze", "padding_idx"]
    assert parameters["freeze"].default is True
    assert not nn.Embedding.from_pretrained(torch.ones(9, 4)).weight.requires_grad
    assert nn.Embedding.from_pretrained(torch.ones(9, 4), freeze=False).weight.requires_grad


@claim("input-in-practice#pretrained", kind="measurement")
def test_padding_idx_in_from_pretrained_keeps_the_row_and_blocks_its_gradient(dtype):
    vectors = torch.ones(9, 4, dtype=dtype)
    embedding = nn.Embedding.from_pretrained(vectors, freeze=False, padding_idx=0)
    assert embedding.weight[0].tolist() == [1.0] * 4
    embedding(torch.tensor([[6, 0]])).sum().backward()
    assert not embedding.weight.grad[0].any()
    assert embedding.weight.grad[6].all()


@claim("input-in-practice#pretrained")
def test_from_pretrained_does_not_copy(printed):
    vectors = torch.ones(9, 4)
    embedding = nn.Embedding.from_pretrained(vectors, freeze=False)
    assert embedding.weight.data_ptr() == vectors.data_ptr()
    shown = printed("examples", "pretrained")
    assert shown["row 6 of our own tensor"] == shown["row 6 after a step"]
    assert shown["row 0 after a step"] == shown["row 0 at first"]


# The sum of a token and a position


@claim("input-in-practice#position-sum")
def test_token_and_position_can_be_found_again_from_their_sum():
    torch.manual_seed(0)
    tokens, positions = 200, 50
    x = TokenEmbedding(tokens, 64)(torch.arange(tokens).unsqueeze(1).expand(-1, positions))
    sums = PositionalEncoding(64, dropout=0.0)(x).flatten(0, 1)
    distance = torch.cdist(sums, sums).fill_diagonal_(math.inf)
    assert distance.min() > 0.5


# The table in float32, and buffers


@claim("input-in-practice#four-ways")
def test_four_implementations_give_the_same_table():
    names, _ = run("four_ways")
    exact = exact_table(200, 64)
    for way in ("plain_loop", "with_numpy", "exp_and_log"):
        torch.testing.assert_close(names[way](200, 64), exact, rtol=0, atol=1e-12)
    assert names["ours"] is sinusoidal_positional_encoding


@claim("input-in-practice#four-ways", kind="measurement")
def test_frequencies_from_exp_and_log_have_about_ten_times_the_error_of_a_power():
    even = torch.arange(0, 512, 2, dtype=torch.float64)
    ways = torch.exp(even * (-math.log(10000) / 512)), 10000 ** (-even / 512)
    with localcontext(prec=40):
        exact = [10000 ** (-Decimal(i) / 512) for i in range(0, 512, 2)]
        worst, small = (
            max(abs(Decimal(x) / y - 1) for x, y in zip(way.tolist(), exact, strict=True))
            for way in ways
        )
    assert 5 < worst / small < 20
    assert worst < 1e-14  # float32 has an error of 6e-8


@claim("input-in-practice#four-ways")
def test_the_table_is_exact_to_float32_up_to_position_20000():
    table = sinusoidal_positional_encoding(20001, 512)
    assert table.dtype == torch.float32
    assert (table - exact_table(20001, 512)).abs().max() < 3.1e-8  # half a unit in the last place


@claim("input-in-practice#four-ways")
def test_in_float32_alone_the_error_grows_with_the_position(printed):
    values = printed("examples", "float32_error")
    errors = [float(values[f"all in float32, up to {p}"]) for p in (100, 1000, 5000, 20000)]
    assert errors == pytest.approx([6.6e-6, 5.5e-5, 3.9e-4, 1.6e-3], rel=0.3)
    assert all(float(values[f"float64 first, up to {p}"]) < 4e-8 for p in (100, 20000))


@claim("input-in-practice#four-ways", kind="mathematics")
def test_an_angle_near_20000_has_two_or_three_correct_decimals_in_float32():
    assert 0.001 < np.spacing(np.float32(20000)) < 0.01
    assert np.spacing(np.float32(1)) < 1e-6
    position = torch.arange(20001)  # the fastest pair, whose frequency is 1
    error = position.float().sin() - position.double().sin()
    assert error.abs().max() < 1e-7


@claim("input-in-practice#buffer")
def test_the_module_has_no_parameters():
    assert not list(PositionalEncoding(8).parameters())
    assert [name for name, _ in PositionalEncoding(8).named_buffers()] == ["table"]


@claim("input-in-practice#buffer")
def test_a_checkpoint_does_not_hold_the_table(printed):
    assert PositionalEncoding(8).state_dict() == {}
    values = printed("examples", "checkpoint")
    assert values["PositionalEncoding, bytes in a checkpoint"] == "0"
    assert values["Persistent, bytes in a checkpoint"] == f"{6000 * 512 * 4:,}"


@claim("input-in-practice#buffer")
def test_the_table_moves_with_the_module():
    assert PositionalEncoding(8).to("meta").table.device.type == "meta"
    assert PositionalEncoding(8).double().table.dtype == torch.float64


@claim("input-in-practice#buffer")
def test_double_changes_the_dtype_and_not_the_values():
    table = PositionalEncoding(64, max_len=100).double().table
    assert torch.equal(table, table.float().double())
    assert (table - exact_table(100, 64)).abs().max() > 1e-8


@claim("input-in-practice#buffer")
def test_no_checkpoint_fills_a_table_made_on_the_meta_device():
    with torch.device("meta"):
        module = PositionalEncoding(8, max_len=4)
    module.to_empty(device="cpu")
    module.table.fill_(7.0)  # uninitialized memory may hold anything
    assert not module.load_state_dict({}, strict=True).missing_keys
    assert (module.table == 7.0).all()


@claim("input-in-practice#buffer")
def test_to_empty_and_assigned_weights_make_two_parameters_of_tied_ones():
    config = TransformerConfig(9, 9, 8, 2, 1, 1, 8, tie_embeddings=True)
    state = {name: value.clone() for name, value in Transformer(config).state_dict().items()}
    for fill in (
        lambda model: model.to_empty(device="cpu"),
        lambda model: model.load_state_dict(state, assign=True),
    ):
        with torch.device("meta"):
            model = Transformer(config)
        shared = model.tgt_embedding.embedding
        assert model.output.weight is shared.weight
        fill(model)
        assert model.output.weight is not shared.weight
        assert model.output.weight.data_ptr() != shared.weight.data_ptr()


@claim("input-in-practice#buffer")
def test_gradients_are_the_same_with_and_without_detach(printed):
    shown = printed("examples", "detach")
    assert shown["gradients identical"] == shown["table unchanged"] == "True"

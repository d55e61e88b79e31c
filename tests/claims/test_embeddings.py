"""The claims of the chapter on embeddings."""

import math
import re
from collections import Counter
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn.functional import one_hot

import by_hand
import byte_pair_encoding as bpe
import pencil_words
from helpers import DTYPES, few, run_snippet, seeds
from marks import claim, mutation
from pencil_numbers import pencil_weight
from transformer import (
    TokenEmbedding,
    Transformer,
    TransformerConfig,
    sinusoidal_positional_encoding,
)

CHAPTER = "embeddings"
VOCABULARY = ["why", "do", "we", "work", "?"]


def pencil_rows(words: list[str]) -> torch.Tensor:
    ids = [by_hand.load().source.index(word) for word in words]
    return pencil_weight("src_embedding.embedding.weight")[ids]


TABLE = pencil_rows(VOCABULARY)


# Tokens


@claim("byte-pair-encoding#cut")
def test_the_merges_of_the_exercise_and_its_tie(printed):
    shown = printed("exercises", "fourth_merge")
    assert shown["merges"] == "['wo', 'wor', 'work', ' work', 'ed']"
    pieces = bpe.words("work works worked talked")
    for pair in ("w", "o"), ("wo", "r"), ("wor", "k"):
        pieces = [bpe.join(piece, pair) for piece in pieces]
    counts = Counter(pair for piece in pieces for pair in pairwise(piece))
    assert {pair for pair, count in counts.items() if count == 2} == {(" ", "work"), ("e", "d")}
    assert max(counts.values()) == 2


# The lookup


@claim("embeddings#lookup")
def test_the_examples_have_the_table_of_the_pencil_model():
    assert pencil_words.words == VOCABULARY
    assert pencil_words.table.tolist() == TABLE.tolist()


# The gradient


@claim("embeddings#learned")
def test_one_step_changes_only_the_rows_that_occur_against_their_gradients():
    expected = TABLE.clone()
    expected[[2, 3]] = torch.tensor([[-4.0, -4, 4, 0], [2, 2, -4, 1]])
    assert torch.equal(run_snippet("examples", CHAPTER, "one_step")[0]["table"], expected)


@claim("embeddings#exercises")
def test_a_row_that_is_used_twice_gets_the_sum_of_both_gradients(printed):
    assert printed("exercises", "twice") == {
        "gradient of we": "[4.0, 0.0, 2.0, 2.0]",
        "gradient of work": "[0.0, 1.0, 0.0, 0.0]",
        "we after the step": "[-5.0, -4.0, 2.0, 1.0]",
    }


@claim("input-in-practice#gradient", kind="measurement")
def test_adam_moves_a_row_that_was_used_a_step_ago_and_plain_sgd_does_not():
    for optimizer, moves in (torch.optim.SGD, False), (torch.optim.Adam, True):
        embedding = nn.Embedding(9, 4)
        step = optimizer(embedding.parameters(), lr=0.1)
        for ids in ([6, 7], [4, 5]):
            before = embedding.weight[6].tolist()
            step.zero_grad()
            embedding(torch.tensor(ids)).sum().backward()
            step.step()
        assert (embedding.weight[6].tolist() != before) == moves


@claim("input-in-practice#two-jobs", kind="mathematics")
def test_a_step_of_sgd_moves_a_scaled_output_d_times_as_far():
    moved = []
    for factor in 1.0, 8.0:  # the root of d = 64
        row = torch.zeros(64, requires_grad=True)
        (factor * row).sum().backward()
        moved.append((factor * 0.01 * row.grad).norm().item())
    assert moved[1] / moved[0] == pytest.approx(64)


@claim("embeddings#quiz", kind="measurement")
def test_the_gradients_of_a_row_are_added_and_divided_by_their_count_only_on_request():
    ids, arriving = torch.tensor([[1, 3, 1, 1]]), torch.ones(1, 4, 2)
    for scaled, expected in (False, 3.0), (True, 1.0):
        embedding = nn.Embedding(4, 2, scale_grad_by_freq=scaled)
        embedding(ids).backward(arriving)
        assert embedding.weight.grad[1].tolist() == [expected] * 2


# Padding


@claim("embeddings#token-embedding")
@mutation(
    "transformer.py",
    "nn.init.zeros_(self.embedding.weight[padding_idx])",
    "pass",
    fault="the padding row is not set to zero again",
)
def test_the_padding_row_starts_at_zero_and_gets_no_gradient(dtype):
    for module in nn.Embedding, TokenEmbedding:
        embedding = module(9, 4, padding_idx=0).to(dtype)
        table = next(embedding.parameters())
        assert not table[0].any()
        embedding(torch.tensor([[6, 7, 0, 0]])).sum().backward()
        assert not table.grad[0].any()
        assert table.grad[6].all()


@claim("input-in-practice#padding-row", kind="measurement")
def test_initializing_again_fills_the_padding_row():
    embedding = nn.Embedding(9, 4, padding_idx=0)
    nn.init.normal_(embedding.weight)
    assert embedding.weight[0].all()


@claim("input-in-practice#padding-row", kind="measurement")
def test_weight_decay_shrinks_an_overwritten_padding_row():
    embedding = nn.Embedding(9, 4, padding_idx=0)
    with torch.no_grad():
        embedding.weight[0] = 7.0
    optimizer = torch.optim.AdamW(embedding.parameters(), lr=0.1, weight_decay=0.1)
    embedding(torch.tensor([[6, 0]])).sum().backward()
    optimizer.step()
    torch.testing.assert_close(embedding.weight[0], torch.full((4,), 7.0 * (1 - 0.1 * 0.1)))


@claim("input-in-practice#padding-row")
@pytest.mark.parametrize(
    ("dtype", "harmless", "too_large"), [(torch.float32, 1e10, 3e38), (torch.float16, 1e3, 1e4)]
)
def test_the_numbers_in_the_padding_row_do_not_matter_until_they_overflow(
    norm_first, dtype, harmless, too_large
):
    torch.manual_seed(0)
    sizes = {"d_model": 64, "nhead": 4, "num_encoder_layers": 2, "num_decoder_layers": 2}
    config = TransformerConfig(9, 12, **sizes, dim_feedforward=128, norm_first=norm_first)
    model = Transformer(config).eval().to(dtype)
    ids = torch.tensor([[4, 5, 6, 7, 8, 0, 0]]), torch.tensor([[1, 4, 5, 6]])
    with torch.no_grad():
        row = model.src_embedding.embedding.weight[0]
        signs = torch.randn(64).sign().to(dtype)
        expected = model(*ids)
        row.copy_(harmless * signs)
        assert torch.equal(model(*ids), expected)
        row.copy_(too_large * signs)
        assert row.isfinite().all()
        assert model(*ids).isnan().all()


# Initialization, and the root of d


@claim("embeddings#token-embedding", kind="measurement")
def test_entries_of_nn_embedding_start_as_n_0_1():
    torch.manual_seed(0)
    weight = nn.Embedding(1000, 512).weight
    assert isinstance(weight, nn.Parameter)
    assert abs(weight.mean().item()) < 0.01
    assert weight.std().item() == pytest.approx(1.0, abs=0.01)


@claim("embeddings#token-embedding")
def test_our_entries_start_as_n_0_1_over_d():
    torch.manual_seed(0)
    weight = TokenEmbedding(2000, 512).embedding.weight
    assert abs(weight.mean().item()) < 0.02 * 512**-0.5
    assert weight.std().item() == pytest.approx(512**-0.5, rel=0.02)


@claim("positional-encoding#scale")
def test_token_vectors_start_with_length_about_root_d_and_positions_with_root_half_d():
    torch.manual_seed(0)
    length = TokenEmbedding(2000, 512)(torch.arange(2000).unsqueeze(0)).norm(dim=-1)
    assert length.mean().item() == pytest.approx(math.sqrt(512), rel=0.02)
    position = sinusoidal_positional_encoding(2000, 512).norm(dim=-1)
    torch.testing.assert_close(position, torch.full((2000,), math.sqrt(512 / 2)))


# The class


@claim("embeddings#token-embedding")
@few
@given(seed=seeds, vocab_size=st.integers(1, 9), d_model=st.integers(1, 5))
def test_token_embedding_is_one_hot_times_the_table_times_root_d(seed, vocab_size, d_model):
    torch.manual_seed(seed)
    ids = torch.randint(vocab_size, (2, 3))
    for dtype in DTYPES:
        embedding = TokenEmbedding(vocab_size, d_model).to(dtype)
        expected = one_hot(ids, vocab_size).to(dtype) @ embedding.embedding.weight
        torch.testing.assert_close(embedding(ids), expected * math.sqrt(d_model))


@claim("embeddings#token-embedding")
@mutation(
    "transformer.py",
    "self.scale = math.sqrt(d_model)",
    "self.scale = nn.Parameter(torch.tensor(math.sqrt(d_model)))",
    fault="the root of d becomes a parameter",
)
def test_the_root_of_d_is_neither_parameter_nor_buffer():
    assert list(TokenEmbedding(9, 4).state_dict()) == ["embedding.weight"]


@claim("embeddings#token-embedding")
@pytest.mark.parametrize("ids", [torch.tensor([4, 5, 6]), torch.tensor([[[4], [5]]])])
def test_ids_of_another_shape_raise_a_value_error_with_the_shape(ids):
    message = f"ids must be (batch, position), got {ids.shape}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        TokenEmbedding(9, 4)(ids)


# Where the vectors come from


@claim("embeddings#learned")
def test_training_makes_words_with_the_same_neighbors_similar(printed):
    shown = {label: float(value) for label, value in printed("examples", "learned").items()}
    assert shown["work and walk before"] < 0.5
    assert shown["work and walk after"] > 0.8
    assert shown["work and we after"] < 0.2

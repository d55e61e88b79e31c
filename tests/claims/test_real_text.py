"""The claims of the chapter on real text and real weights."""

import ast
import json
import sys
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

import decode
from decode import beam_search, greedy_decode, sentence_score
from helpers import ROOT, SNIPPETS, number_of
from marian_reference import (
    EOS,
    OPUS_MT,
    SMALL,
    VOCAB_SIZE,
    Models,
    generate,
    random_ids,
    random_models,
    relative_differences,
)
from marks import claim, mutation
from transformer import PositionalEncoding
from variants import opus_mt
from variants.marian import Marian, load_marian
from variants.opus_mt import Tokens

CHAPTER = "real-text"
SEEDS = {"en-zh": 0, "zh-en": 1}  # both directions have the same shapes and other weights


# The architecture


@pytest.fixture(scope="module", params=SEEDS)
def models(request: pytest.FixtureRequest) -> Models:
    """The shapes of OPUS-MT, with a vocabulary of 60."""
    return random_models(60, SEEDS[request.param], attn_implementation="eager")


@pytest.fixture(scope="module")
def small() -> Models:
    """Small shapes; every translation depends on its source."""
    return random_models(60, std=0.6, **SMALL)


@claim("real-text#proof")
@mutation(
    "variants/marian.py",
    "F.silu(self.linear1(x))",
    "self.linear1(x).relu()",
    fault="Marian's feed-forward network has a ReLU",
)
@mutation(
    "variants/marian.py",
    "torch.cat([table[:, ::2], table[:, 1::2]], dim=1)",
    "torch.cat([table[:, 1::2], table[:, ::2]], dim=1)",
    fault="the cosines of Marian's positions come before the sines",
)
@mutation(
    "variants/marian.py",
    r'r"^(decoder.*)final_layer_norm": r"\1residuals.2.norm"',
    r'r"^(decoder.*)final_layer_norm": r"\1residuals.1.norm",'
    "\n"
    r'    r"residuals.1.norm\.(\w+)$": r"residuals.2.norm.\1"',
    fault="the decoder's last norm is exchanged with that of cross-attention",
)
@mutation(
    "variants/marian.py",
    'r"q_proj": "query"',
    'r"q_proj": "value"',
    fault="the published queries are loaded as values",
)
@mutation(
    "variants/marian.py",
    "return super().logits(x) + self.bias",
    "return super().logits(x)",
    fault="Marian's logits have no bias",
)
@mutation(
    "variants/marian.py",
    "table[pad_id, None]",
    "table[:1]",
    fault="the start token of Marian has the vector of </s>",
)
def test_every_layer_and_the_logits_equal_those_of_transformers(models):
    differences = relative_differences(
        models, random_ids(60, 4, 11, padded=4), random_ids(60, 4, 7)
    )
    assert len(differences) == 6 + 6 + 1
    for difference in differences.values():
        assert difference < 1e-5


@claim("real-text#proof")
@mutation(
    "variants/marian.py",
    'max_len=sizes["max_position_embeddings"]',
    "max_len=64",
    fault="Marian has only 64 positions",
)
def test_every_position_of_a_long_sentence_has_the_same_logits(small):
    models = random_models(60, **SMALL | {"max_position_embeddings": 100})
    differences = relative_differences(models, random_ids(60, 1, 100), random_ids(60, 1, 99))
    assert differences["logits"] < 1e-5


@claim("real-text#proof")
@mutation(
    "variants/marian.py",
    "pad_id=pad_id,",
    "pad_id=1,",
    fault="Marian takes the token 1 for padding",
)
def test_with_the_whole_vocabulary_the_logits_are_the_same():
    models = random_models(VOCAB_SIZE, encoder_layers=1, decoder_layers=1)
    src, target = random_ids(VOCAB_SIZE, 2, 5, padded=2), random_ids(VOCAB_SIZE, 2, 4)
    assert relative_differences(models, src, target)["logits"] < 1e-5


@claim("real-text#positions")
@mutation(
    "variants/marian.py",
    "self.position.table = torch.cat([table[:, ::2], table[:, 1::2]], dim=1)",
    "pass",
    fault="the sines and cosines of Marian alternate",
)
def test_the_published_positions_are_our_table_with_all_sines_first(small):
    theirs, ours = small
    published = theirs.state_dict()["model.encoder.embed_positions.weight"]
    torch.testing.assert_close(ours.position.table, published, rtol=0, atol=1e-6)
    table = PositionalEncoding(64, 64).table
    assert ours.position.table[:, :32].equal(table[:, 0::2])
    assert not ours.position.table.equal(table)


@claim("real-text#swish")
@mutation(
    "variants/marian.py",
    'if sizes["activation_function"] != "swish":',
    "if False:",
    fault="load_marian accepts any activation function",
)
def test_a_model_with_another_activation_function_is_rejected():
    with pytest.raises(ValueError, match="not swish: gelu"):
        load_marian(OPUS_MT | {"activation_function": "gelu"}, {})


@claim("real-text#start")
@mutation(
    "variants/marian.py",
    "value=-torch.inf",
    "value=0.0",
    fault="a translation of Marian can contain <bos>",
)
def test_no_translation_contains_the_start_token(small):
    _, ours = small
    logits = ours(random_ids(60, 3, 5), random_ids(60, 3, 5))
    assert logits[..., -1].eq(-torch.inf).all()
    assert logits[..., :-1].isfinite().all()


@claim("real-text#start")
@mutation(
    "transformer.py",
    "return (ids != pad_id)[:, None, None, :]",
    "return (ids == ids)[:, None, None, :]",
    fault="the padding mask hides nothing",
)
def test_with_the_padding_token_as_the_start_the_logits_differ(small):
    """Our masks hide it, and MarianMTModel doesn't."""
    _, ours = small
    src, target = random_ids(60, 3, 6), random_ids(60, 3, 5)
    one, other = (F.pad(target, (1, 0), value=start) for start in (59, 60))
    with decode.eval_mode(ours):
        changes = (ours(src, one) - ours(src, other))[..., :60].abs().amax(dim=(0, 2))
    assert changes.min() > 0.1
    with pytest.raises(ValueError, match="bos_id must"):
        greedy_decode(ours, src, 5, bos_id=59, eos_id=EOS)


@claim("real-text#shared")
@mutation(
    "variants/marian.py",
    "self.src_embedding = self.tgt_embedding",
    "pass",
    fault="Marian's source and target have tables of their own",
)
def test_one_table_serves_source_target_and_logits(small):
    _, ours = small
    tables = (ours.src_embedding.embedding, ours.tgt_embedding.embedding, ours.output)
    assert len({id(module.weight) for module in tables}) == 1


@claim("real-text#same", kind="measurement")
def test_the_architecture_takes_at_most_80_lines_of_code():
    text = (SNIPPETS / "variants" / "marian.py").read_text(encoding="utf-8")
    tree = ast.parse(text)
    lines = {
        line
        for node in ast.walk(tree)
        if hasattr(node, "lineno")
        and not (isinstance(node, ast.Expr | ast.Constant) and is_text(node))
        for line in (node.lineno, node.end_lineno)
    }
    assert len(lines) <= 80


def is_text(node: ast.AST) -> bool:
    value = node.value if isinstance(node, ast.Expr) else node
    return isinstance(value, ast.Constant) and isinstance(value.value, str)

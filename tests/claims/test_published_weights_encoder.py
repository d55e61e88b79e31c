"""The claims of the page on published weights about the encoder of sentences."""

import hashlib
import json

import pytest
import torch

from bookbuild.generated.claim_results import code_key
from evidence import published_encoder as reference
from evidence.hugging_face_models import compare_bert
from helpers import SNIPPETS, run_command
from marks import claim, mutation
from variants import similar
from variants.similar import load_encoder, mean_pooling, sentence_vectors

CHAPTER = "published-weights"
RESULTS = SNIPPETS / "results" / "published-encoder.json"


@pytest.fixture(scope="module")
def recorded() -> dict:
    return json.loads(RESULTS.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def published():
    """The model with the published weights, and its tokenizer."""
    return load_encoder(similar.installed_folder())


@claim("published-weights#pooling")
def test_the_mean_is_that_of_the_real_positions():
    torch.manual_seed(0)
    states = torch.randn(3, 5, 4)
    lengths = 5, 2, 1
    real = torch.arange(5) < torch.tensor(lengths)[:, None]
    expected = [each[:length].mean(dim=0) for each, length in zip(states, lengths, strict=True)]
    torch.testing.assert_close(mean_pooling(states, real), torch.stack(expected))


@claim("published-weights#padding")
def test_a_sentence_has_the_same_vector_alone_and_beside_a_longer_one(published):
    sentence, long, *_ = reference.SENTENCES
    both = sentence_vectors(*published, [sentence, long])
    alone = sentence_vectors(*published, [sentence])
    torch.testing.assert_close(both[:1], alone, atol=1e-5, rtol=0)


@claim("published-weights#padding", kind="measurement")
def test_without_the_mask_padding_makes_all_sentences_similar(recorded):
    first, *rows = recorded["padding"]
    assert first["padding"] == 0 and first["without"] == pytest.approx(1, abs=1e-5)
    for row in rows:
        assert row["with mask"] == pytest.approx(1, abs=1e-5)
    without = [row["without"] for row in recorded["padding"]]
    unrelated = [row["unrelated, without"] for row in recorded["padding"]]
    assert without == sorted(without, reverse=True) and without[-1] < 0.6
    assert unrelated == sorted(unrelated) and unrelated[0] < 0.1 and unrelated[-1] > 0.6
    assert without[-1] < unrelated[-1]  # than the same sentence without padding


@claim("published-weights#sentences", kind="measurement")
def test_sentences_with_the_same_meaning_are_the_most_similar(recorded, published):
    vectors = sentence_vectors(*published, reference.SENTENCES)
    assert recorded["sentences"] == reference.SENTENCES
    found = vectors @ vectors.T
    torch.testing.assert_close(found, torch.tensor(recorded["similarity"]), atol=1e-4, rtol=0)
    others = found - 2 * torch.eye(6)
    assert others.argmax(dim=1)[:4].tolist() == [1, 0, 3, 2]
    assert found[0, 1] > found[0, 4] + 0.2  # although 1 and 5 share more words
    assert found[5, :5].abs().max() < 0.1  # nothing is like the guitar


@claim("published-weights#bert")
@mutation(
    "variants/minilm.py",
    '"attention.output.LayerNorm": "norm1",',
    '"attention.output.LayerNorm": "norm2",',
    fault="a layer has the wrong norm",
)
def test_our_encoder_computes_the_outputs_of_bert():
    assert compare_bert(seed=0)["encoder outputs"] < 1e-5


@claim("published-weights#bert", kind="measurement")
def test_the_measurements_are_of_this_code_and_of_this_file(recorded):
    hint = "stale; run scripts/experiment published_encoder"
    assert recorded["key"] == code_key(reference.FILES), hint
    weights = similar.installed_folder() / "model.safetensors"
    with weights.open("rb") as file:
        assert hashlib.file_digest(file, "sha256").hexdigest() == recorded["sha256"]
    assert recorded["texts"] == len(reference.BATCH) == 26
    assert 0 < recorded["difference"] < 1e-5 < 1 < recorded["largest"]


@pytest.mark.slow
@claim("published-weights#bert", kind="measurement")
def test_hidden_states_of_the_published_model_equal_those_of_transformers(published):
    model, tokenizer = published
    theirs = reference.their_model(similar.installed_folder())
    assert reference.states_difference(model, theirs, tokenizer)["difference"] < 1e-5


@claim("published-weights#encoder", kind="measurement")
def test_the_command_prints_the_output_of_the_page(recorded):
    assert run_command("variants.similar", *reference.SENTENCES[:3]) == recorded["command"]


@claim("published-weights#encoder")
def test_an_empty_text_has_a_vector_and_a_long_one_is_cut(published):
    vectors = sentence_vectors(*published, ["", "word " * 300])
    assert torch.isfinite(vectors).all()
    cut = sentence_vectors(*published, ["word " * 254])  # and two special tokens
    torch.testing.assert_close(vectors[1:], cut, atol=1e-5, rtol=0)

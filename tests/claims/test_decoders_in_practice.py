"""The claims of the page on decoders in practice: equal to transformers, sizes, long texts."""

import math

import pytest
import torch

from evidence.hugging_face_models import (
    FILES,
    compare_bert,
    compare_decoders,
    compare_gpt2,
)
from marks import claim, mutation
from small_decoders import BOUND, make_decoder, seeds
from tables_of_models import assert_shown
from variants.rope_scaling import rope_frequencies

CHAPTER = "decoders-in-practice"


@claim("decoders-in-practice#equal")
@seeds
def test_our_decoder_computes_the_logits_of_llama(seed):
    assert max(compare_decoders("Llama", seed).values()) < BOUND


@claim("decoders-in-practice#rope-scaling")
@seeds
@pytest.mark.parametrize("scaling", ["YaRN", "linear scaling", "NTK scaling"])
def test_with_scaled_rotations_it_computes_the_logits_of_llama_with_the_same_scaling(scaling, seed):
    assert max(compare_decoders(f"Llama with {scaling}", seed).values()) < BOUND


@claim("decoders-in-practice#equal")
@seeds
def test_our_encoder_computes_the_outputs_of_bert(seed):
    assert compare_bert(seed)["encoder outputs"] < BOUND


@claim("decoders-in-practice#equal")
@seeds
def test_our_decoder_only_model_computes_the_logits_of_gpt2(seed):
    assert compare_gpt2(seed)["logits"] < BOUND


@claim("decoders-in-practice#equal")
def test_the_differences_in_the_table_belong_to_this_code(printed):
    assert_shown("modern", FILES, printed("examples", "equal"))


@claim("decoders-in-practice#tied")
@mutation(
    "variants/decoder_2025.py",
    "self.output.weight = self.embedding.weight",
    "self.output.weight.data = self.embedding.weight.data.clone()",
    fault="tied embeddings are only a copy",
)
def test_tied_embeddings_are_one_parameter():
    one, two = make_decoder(tie_embeddings=True), make_decoder()
    assert one.output.weight is one.embedding.weight
    counts = [sum(p.numel() for p in model.parameters()) for model in (one, two)]
    assert counts[1] - counts[0] == 40 * 32


@claim("decoders-in-practice#tied")
def test_with_the_table_of_nn_embedding_the_tied_decoder_starts_with_a_large_loss(printed):
    shown = printed("examples", "tied")
    uniform = float(shown["all tokens equally probable, loss"])
    assert uniform == round(math.log(1000), 2)
    assert abs(float(shown["tied, loss"]) - uniform) < 1
    assert float(shown["tied, standard deviation 1, loss"]) > 20 * uniform


@claim("decoders-in-practice#cost")
def test_with_the_published_sizes_it_has_the_published_numbers_of_parameters(printed):
    shown = printed("examples", "parameters")
    assert shown["Qwen3 8B, billions"] == "8.19"
    assert shown["Qwen3 8B without embeddings, billions"] == "6.95"
    assert shown["Qwen3 30B-A3B, billions"] == "30.5"
    assert shown["Qwen3 30B-A3B, billions for a token"] == "3.35"  # published as 3.3


@claim("decoders-in-practice#rope-scaling")
def test_each_scaling_divides_the_slowest_frequency_and_only_linear_the_fastest():
    plain, _ = rope_frequencies(128)
    for scaling, fastest in (("linear", 4), ("ntk", 1), ("yarn", 1)):
        scaled, _ = rope_frequencies(128, scaling=scaling, factor=4)
        assert (plain[0] / scaled[0]).item() == pytest.approx(fastest)
        assert (plain[-1] / scaled[-1]).item() == pytest.approx(4)


@claim("decoders-in-practice#rope-scaling")
def test_each_scaling_changes_the_scores_of_short_texts(printed):
    """Pairs of features with variance 1: the change is known exactly."""
    shown = printed("examples", "short_texts")
    plain, _ = rope_frequencies(128)
    for distance in (50, 500):
        for scaling in ("linear", "ntk", "yarn"):
            scaled, size = rope_frequencies(128, scaling=scaling, factor=4)
            cosine = torch.cos(distance * (scaled - plain))
            change = (size**4 + 1 - 2 * size**2 * cosine).mean().sqrt().item()
            printed_change = float(shown[f"{scaling}, {distance} tokens apart, change"])
            assert printed_change == pytest.approx(change, abs=0.05)
            assert change > 0.3

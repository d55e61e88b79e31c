"""The pitfalls: the tests that their pages name, and the exercises."""

import pytest
import torch
from torch import nn

from helpers import load_pitfall, numbers, run_snippet
from marks import claim

CHAPTER = "pitfalls"
pytestmark = pytest.mark.usefixtures("seeded")


@claim("pitfalls#exercises")
def test_the_encoder_of_the_exercise_fails_each_of_the_four_checks():
    pitfall = load_pitfall("batch_first_forgotten")
    names, _ = run_snippet("examples", "pitfalls", "four_mistakes")
    model, ids = names["model"].eval(), names["ids"]
    assert model.tokens(ids).norm(dim=-1).mean() * 32**0.5 > 4 * model.table[0].norm()
    with pytest.raises(RuntimeError, match="meta"):
        model.to("meta")(ids.to("meta"))
    assert len(list(model.parameters())) == 1
    wrong = pitfall.reached(nn.TransformerEncoderLayer(32, 4).eval(), torch.randn(2, 5, 32), 1, 4)
    assert (0, 4) in wrong
    assert all(not layer.self_attn.batch_first for layer in model.layers)


@claim("pitfalls#exercises")
def test_the_norm_over_the_sentence_is_the_leak_and_the_other_two_suspects_are_not(printed):
    moved = numbers(printed("exercises", "suspects")["each position moves by"])
    assert min(moved) > 0.1
    shown = printed("exercises", "guilty")
    assert float(shown["norm over the sentence, the past moves by"]) > 0.1
    assert float(shown["norm over each token, the past moves by"]) == 0
    assert float(shown["the other two, off from the usual way by"]) == 0
    assert "nan" in shown["with such scores"]

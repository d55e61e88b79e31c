"""The claims of the overview, on the trained translator and its example sentence."""

from typing import cast

import pytest
import torch

import translator as translators
from attention_weights import weights_of
from helpers import SNIPPETS
from marks import claim
from transformer import EncoderLayer, Transformer, TransformerConfig
from translator import BOS, EOS, Translator, load_translator

CHAPTER = "overview"
ENGLISH = ["why", "do", "we", "work", "?"]
CHINESE = "我们为什么工作？"
WEIGHTS = SNIPPETS / "translator.safetensors"


@pytest.fixture(scope="module")
def trained() -> Translator:
    return load_translator(WEIGHTS)


@pytest.fixture(scope="module")
def ids(trained) -> tuple[torch.Tensor, torch.Tensor]:
    """Those of the English and of the Chinese sentence, the latter between <bos> and <eos>."""
    target = [BOS, *trained.target.encode(list(CHINESE)), EOS]
    return torch.tensor([trained.source.encode(ENGLISH)]), torch.tensor([target])


@pytest.fixture(scope="module")
def first_layer(trained, ids) -> torch.Tensor:
    """The weights of the encoder's first layer, (head, query, key)."""
    return weights_of(trained.model, "encoder.layers.0.self_attention", *ids)[0]


def right_probabilities(model: Transformer, src: torch.Tensor, tgt: torch.Tensor) -> torch.Tensor:
    """The probability of the right next token after each beginning of the translation."""
    with torch.no_grad():
        probabilities = model(src, tgt[:, :-1])[0].softmax(dim=-1)
    return probabilities.gather(-1, tgt[0, 1:, None])


@claim("overview#vectors")
def test_the_same_word_has_another_vector_at_another_position(trained, ids):
    with torch.no_grad():
        rows = trained.model.src_embedding(ids[0][:, [2, 2]])[0]  # we we
        sums = trained.model.position(rows[None])[0]
    assert torch.equal(rows[0], rows[1])
    assert not torch.allclose(sums[0], sums[1])


@claim("overview#layer")
def test_without_attention_no_word_affects_another(trained):
    layer = cast(EncoderLayer, load_translator(WEIGHTS).model.encoder.layers[0])
    torch.nn.init.zeros_(layer.self_attention.output.weight)
    x = torch.randn(1, 5, trained.model.config.d_model)
    changed = x.clone()
    changed[0, 3] += 1
    with torch.no_grad():
        difference = (layer(x) - layer(changed)).abs().amax(dim=-1)[0]
    assert (difference > 0).tolist() == [False, False, False, True, False]


@claim("overview#layer", kind="measurement")
def test_our_encoder_has_two_layers_of_four_heads_and_that_of_the_paper_has_six(trained):
    config = trained.model.config
    assert (config.num_encoder_layers, config.nhead) == (2, 4)
    assert TransformerConfig(9, 12).num_encoder_layers == 6


@claim("overview#attention", kind="measurement")
def test_why_at_the_beginning_decides_whether_ma_comes_before_the_question_mark(trained, ids):
    sentences, model = [ENGLISH, ENGLISH[1:]], trained.model
    assert ["".join(each) for each in trained.translate(sentences)] == [CHINESE, "我们工作吗？"]
    with torch.no_grad():
        memory, other = (model.encode(torch.tensor([trained.source.encode(s)])) for s in sentences)
        memory[0, -1] = other[0, -1]
        after_work = model.logits(model.decode(ids[1][:, :8], memory))[0, -1]
    assert trained.target.decode([after_work.argmax().item()]) == ["吗"]


@claim("overview#attention", kind="measurement")
def test_in_a_head_of_the_first_layer_the_question_mark_takes_nearly_everything_from_why(
    first_layer,
):
    question_mark, why = first_layer[:, ENGLISH.index("?")], ENGLISH.index("why")
    assert question_mark[:, why].argmax() == 2 and question_mark[2, why] > 0.9
    assert (question_mark.argmax(dim=-1) == why).all()


@claim("overview#writing", kind="measurement")
def test_the_first_characters_of_we_why_and_work_look_at_their_words(trained, ids):
    src, tgt = ids
    weights = weights_of(trained.model, "decoder.layers.1.cross_attention", src, tgt[:, :-1])
    means = weights[0].mean(dim=0)
    for character, word in (("我", "we"), ("为", "why"), ("工", "work")):
        row = means[CHINESE.index(character)]
        assert row.argmax() == ENGLISH.index(word)
        assert row.max() > 0.5  # the thickest line by far


@claim("overview#training", kind="measurement")
def test_training_raises_each_right_character_from_below_1_to_about_90_percent(trained, ids):
    about, _ = translators.read_file(WEIGHTS)
    torch.manual_seed(about["seed"])
    untrained = Transformer(TransformerConfig(**about["config"])).eval()
    assert right_probabilities(untrained, *ids).max() < 0.01
    probabilities = right_probabilities(trained.model, *ids)
    assert probabilities.min() > 0.85 and probabilities.max() < 0.95

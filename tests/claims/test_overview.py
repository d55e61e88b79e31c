"""The claims of the overview, on the trained translator and its example sentence."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

import pytest
import torch

import translator as translators
from helpers import SNIPPETS
from marks import claim, mutation
from transformer import EncoderLayer, Transformer, TransformerConfig
from translator import BOS, EOS, Translator, load_translator

CHAPTER = "overview"
ENGLISH = ["why", "do", "we", "work", "?"]
CHINESE = "我们为什么工作？"
WEIGHTS = SNIPPETS / "translator.safetensors"


@pytest.fixture(scope="module")
def trained() -> Translator:
    return load_translator(WEIGHTS)


@contextmanager
def recorded_weights(attentions: list) -> Iterator[list[torch.Tensor]]:
    """Collects the attention weights of each module's next call, (head, query, key)."""
    weights: list[torch.Tensor] = []

    def record(module, inputs, _) -> None:
        weights.append(module.forward(*inputs, need_weights=True)[1][0])

    hooks = [attention.register_forward_hook(record) for attention in attentions]
    with torch.no_grad():
        yield weights
    for hook in hooks:
        hook.remove()


def source_ids(translator: Translator) -> torch.Tensor:
    return torch.tensor([translator.source.encode(ENGLISH)])


def target_ids(translator: Translator) -> list[int]:
    return [BOS, *translator.target.encode(list(CHINESE)), EOS]


def right_probabilities(model: Transformer, translator: Translator) -> list[float]:
    """The probability of the right next token after each beginning of the translation."""
    ids = target_ids(translator)
    with torch.no_grad():
        logits = model(source_ids(translator), torch.tensor([ids[:-1]]))[0]
    return logits.softmax(dim=-1)[range(len(ids) - 1), ids[1:]].tolist()


@claim("overview#vectors")
def test_the_same_word_has_another_vector_at_another_position(trained):
    ids = source_ids(trained)[:, [2, 2]]  # we we
    with torch.no_grad():
        rows = trained.model.src_embedding(ids)[0]
        sums = trained.model.position(rows[None])[0]
    assert torch.equal(rows[0], rows[1])
    assert not torch.allclose(sums[0], sums[1])


@claim("overview#layer")
@mutation(
    "transformer.py",
    "hidden = self.linear1(x).relu()",
    "hidden = self.linear1(x.mean(dim=1, keepdim=True) + x).relu()",
    fault="the feed-forward network averages over the words",
)
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
def test_why_at_the_beginning_decides_whether_ma_comes_before_the_question_mark(trained):
    sentences = [ENGLISH, ENGLISH[1:]]
    assert ["".join(each) for each in trained.translate(sentences)] == [CHINESE, "我们工作吗？"]


@claim("overview#attention", kind="measurement")
def test_in_a_head_of_the_first_layer_the_question_mark_takes_nearly_everything_from_why(trained):
    first = trained.model.encoder.layers[0].self_attention
    with recorded_weights([first]) as weights:
        trained.model.encode(source_ids(trained))
    from_why = weights[0][:, ENGLISH.index("?"), ENGLISH.index("why")]
    assert from_why.argmax() == 2 and from_why[2] > 0.9
    assert (weights[0][:, ENGLISH.index("?")].argmax(dim=-1) == ENGLISH.index("why")).all()


@claim("overview#attention", kind="measurement")
def test_the_four_heads_of_the_first_layer_look_at_different_words(trained):
    first = trained.model.encoder.layers[0].self_attention
    with recorded_weights([first]) as weights:
        trained.model.encode(source_ids(trained))
    favorites = {tuple(head.argmax(dim=-1).tolist()) for head in weights[0]}
    assert len(favorites) == 4


@claim("overview#writing", kind="measurement")
def test_the_first_characters_of_we_why_and_work_look_at_their_words(trained):
    assert trained.translate([ENGLISH]) == [list(CHINESE)]
    attentions = [layer.cross_attention for layer in trained.model.decoder.layers]
    with recorded_weights(attentions) as weights:
        trained.model(source_ids(trained), torch.tensor([target_ids(trained)[:-1]]))
    means = weights[-1].mean(dim=0)
    for character, word in (("我", "we"), ("为", "why"), ("工", "work")):
        row = means[CHINESE.index(character)]
        assert row.argmax() == ENGLISH.index(word)
        assert row.max() > 0.5  # the thickest line by far


@claim("overview#training", kind="measurement")
def test_training_raises_each_right_character_from_below_1_to_about_90_percent(trained):
    about, _ = translators.read_file(WEIGHTS)
    torch.manual_seed(about["seed"])
    untrained = Transformer(TransformerConfig(**about["config"])).eval()
    assert max(right_probabilities(untrained, trained)) < 0.01
    assert all(0.85 < p < 0.95 for p in right_probabilities(trained.model, trained))

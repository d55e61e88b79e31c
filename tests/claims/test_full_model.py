"""The claims of the chapter on the full model."""

import math
from copy import deepcopy
from dataclasses import FrozenInstanceError, asdict

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.testing import assert_close

from evidence.comparisons import compare_model, randomized
from helpers import DTYPES, few
from marks import claim, mutation
from pencil_numbers import pencil_tables
from transformer import (
    LayerNorm,
    Transformer,
    TransformerConfig,
)

CHAPTER = "full-model"
WHY = [4, 5, 6, 7, 8]  # why do we work ?
SRC = torch.tensor([WHY, [6, 7, 0, 0, 0]])
TGT = torch.tensor([[1, 4, 5, 6, 7, 8, 9, 10, 11], [1, 4, 5, 9, 10, 0, 0, 0, 0]])
sizes = {
    "batch": st.integers(1, 3),
    "source": st.integers(1, 6),
    "target": st.integers(1, 6),
    "norm_first": st.booleans(),
    "dtype": st.sampled_from(DTYPES),
    "seed": st.integers(0, 1000),
}


tied_or_not = pytest.mark.parametrize("tied", [False, True], ids=["untied", "tied"])


def configuration(**changes) -> TransformerConfig:
    small = {"d_model": 16, "nhead": 2, "num_encoder_layers": 2, "num_decoder_layers": 2}
    small |= {"dim_feedforward": 24, "dropout": 0.0, "max_len": 20}
    return TransformerConfig(9, 12, **(small | changes))


def make_model(seed: int = 0, **changes) -> Transformer:
    torch.manual_seed(seed)
    return Transformer(configuration(**changes))


def padded_ids(batch: int, length: int, vocabulary: int, pad: int = 0) -> torch.Tensor:
    """Random ids, 3 and up; the first is always real, the last ones perhaps padding."""
    ids = torch.randint(3, vocabulary, (batch, length))
    lengths = torch.randint(1, length + 1, (batch, 1))
    return ids.masked_fill(torch.arange(length) >= lengths, pad)


# Initialization


@claim("initialization#xavier")
@tied_or_not
def test_the_model_initializes_every_linear_layer(tied):
    model = make_model(d_model=64, dim_feedforward=96, tie_embeddings=tied)
    layers = [module for module in model.modules() if isinstance(module, nn.Linear)]
    assert len(layers) == 2 * (4 + 2) + 2 * (8 + 2) + 1
    for layer in layers[:-1]:
        n, m = layer.in_features, layer.out_features
        assert_close(layer.weight.var().item(), 2 / (n + m), rtol=0.1, atol=0)
        assert layer.weight.abs().max() <= math.sqrt(6 / (n + m))
        assert not layer.bias.any()
    assert model.output.bias is None


@claim("initialization#xavier")
@pytest.mark.parametrize("pad_id", [0, 3])
@tied_or_not
def test_embeddings_and_layer_norms_keep_their_own_initialization(tied, pad_id):
    torch.manual_seed(0)
    config = TransformerConfig(800, 900, 64, 2, 1, 1, 8, pad_id=pad_id, tie_embeddings=tied)
    model = Transformer(config)
    for module in model.modules():
        if isinstance(module, LayerNorm):
            assert module.weight.eq(1).all() and not module.bias.any()
    for embedding in (model.src_embedding, model.tgt_embedding):
        weight = embedding.embedding.weight
        assert not weight[pad_id].any()
        others = weight[torch.arange(len(weight)) != pad_id]
        assert_close(others.std().item(), 1 / 8, rtol=0.02, atol=0)
        assert others.any(dim=1).all()


# The class


@claim("full-model#transformer")
@few
@given(**sizes)
def test_no_later_token_and_no_padding_changes_a_logit(
    batch, source, target, norm_first, dtype, seed
):
    model = randomized(make_model(seed, norm_first=norm_first), dtype)
    src, tgt = padded_ids(batch, source, 9), padded_ids(batch, target, 12)
    before = model(src, tgt)
    longer_src = nn.functional.pad(src, (0, 3))
    longer_tgt = torch.cat([tgt, torch.randint(0, 12, (batch, 2))], dim=1)
    real = (tgt != 0)[..., None]
    after = model(longer_src, longer_tgt)[:, :target]
    assert_close(after * real, before * real)


@claim("full-model#transformer")
@pytest.mark.parametrize(("sources", "targets"), [(2, 3), (3, 1)])
def test_batches_of_different_size_raise_a_value_error(sources, targets):
    message = f"^{sources} sources, {targets} targets$"
    src, tgt = SRC[:1].expand(sources, -1), TGT[:1].expand(targets, -1)
    model = make_model()
    with pytest.raises(ValueError, match=message):
        model(src, tgt)
    with pytest.raises(ValueError, match=message):
        model.decode(tgt, model.encode(src))


# Tying


@claim("full-model#tying")
@mutation(
    "transformer.py",
    "self.output.weight = self.tgt_embedding.embedding.weight",
    "self.output.weight.data.copy_(self.tgt_embedding.embedding.weight)",
    fault="tied weights are copied, not shared",
)
def test_with_tied_embeddings_the_output_layer_is_the_target_table():
    model = make_model(tie_embeddings=True)
    assert model.output.weight is model.tgt_embedding.embedding.weight
    assert model.output.weight is not model.src_embedding.embedding.weight
    untied = make_model()
    assert untied.output.weight is not untied.tgt_embedding.embedding.weight


# Logits


@claim("full-model#logits")
@mutation(
    "transformer.py",
    "return self.output(x)",
    "return self.output(x).softmax(dim=-1)",
    fault="the model ends with a softmax",
)
def test_logits_can_have_any_sign_and_size():
    model = randomized(make_model())
    logits = model(SRC, TGT)
    assert (logits < 0).any() and (logits > 1).any()
    x = torch.randn(3, 16)
    assert_close(model.logits(10 * x), 10 * model.logits(x))


@claim("full-model#logits")
def test_computed_by_hand_the_loss_is_0_408(printed):
    shown = printed("examples", "by_hand")
    assert shown["softmax"] == "[0.665, 0.245, 0.09]"
    assert shown["its -log"] == shown["cross_entropy"] == "0.408"
    assert shown["softmax before it"] != "0.408"


@claim("full-model#shifted")
def test_the_first_loss_of_twelve_tokens_is_about_3_46(printed):
    formula = math.log(12) + 1024 / 524 / 2
    assert formula == pytest.approx(3.46, abs=0.005)
    assert float(printed("examples", "shifted")["loss"]) == pytest.approx(formula, abs=0.2)


@claim("initialization#first-loss")
def test_the_first_loss_is_ln_v_plus_half_the_variance(printed):
    shown = printed("examples", "first_loss", "initialization")
    variances = {"not tied": 2 * 64 / 1064, "tied": 1.0}
    for name, variance in variances.items():
        assert float(shown[f"{name}, variance of the logits"]) == pytest.approx(variance, abs=0.1)
        expected = math.log(1000) + variance / 2
        assert float(shown[f"{name}, first loss"]) == pytest.approx(expected, abs=0.1)


@claim("initialization#first-loss")
def test_an_untrained_tied_pre_norm_model_predicts_its_input_token_and_starts_with_a_higher_loss(
    printed,
):
    shown = printed("examples", "first_loss", "initialization")
    name, six = "tied, pre-norm, d_model 512", "the same with 6 layers"
    predicted = {
        label.removesuffix(", predicts its input token"): share
        for label, share in shown.items()
        if label.endswith("input token")
    }
    assert predicted[name] == predicted[six] == "100%"
    assert predicted["not tied"] == predicted[f"{six}, post-norm"] == "0%"
    assert float(shown[f"{name}, variance of the logits"]) == pytest.approx(1.0, abs=0.2)
    assert float(shown[f"{name}, first loss"]) > math.log(1000) + 1 / 2 + 2


# Targets


@claim("full-model#shifted")
def test_decoder_inputs_and_targets_are_shifted_by_one(printed):
    shown = printed("examples", "shifted")
    inputs, targets = shown["inputs"].split(), shown["targets"].split()
    assert inputs[1:] == targets[:-1]
    assert (inputs[0], targets[4]) == ("<bos>", "<eos>")
    assert shown["positions counted"] == "14 of 18"


# The output layer and the configuration


@claim("full-model#output", kind="mathematics")
def test_the_output_layer_by_hand_is_that_of_the_pencil_model(printed):
    shown = printed("examples", "output_by_hand")
    logits = pencil_tables()["logits"]
    row = logits.values[logits.rows.index("<bos>")]
    typed = [float(shown[token].split(", ")[0]) for token in logits.columns]
    assert typed == pytest.approx(row, abs=0.021)
    assert shown["next token"] == "我们"


@claim("full-model#configuration")
@mutation("transformer.py", "nhead: int = 8", "nhead: int = 4", fault="half the paper's heads")
def test_the_configuration_is_fixed_and_by_default_the_base_model_with_tables_not_shared():
    config = TransformerConfig(37000, 37000)
    assert len(asdict(config)) == 13
    assert (config.d_model, config.dim_feedforward) == (512, 2048)
    assert (config.nhead, config.num_encoder_layers, config.num_decoder_layers) == (8, 6, 6)
    assert (config.dropout, config.norm_first, config.tie_embeddings) == (0.1, False, False)
    with pytest.raises(FrozenInstanceError):
        config.d_model = 256


# Parameters


@claim("full-model#parameters")
@few
@given(
    d=st.sampled_from([4, 8, 12]),
    width=st.integers(1, 20),
    layers=st.tuples(st.integers(0, 3), st.integers(0, 3)),
    words=st.tuples(st.integers(2, 30), st.integers(2, 30)),
    norm_first=st.booleans(),
    tied=st.booleans(),
)
def test_parameters_counted_by_hand_and_by_code_agree(d, width, layers, words, norm_first, tied):
    config = TransformerConfig(
        *words, d, 2, *layers, width, norm_first=norm_first, tie_embeddings=tied
    )
    model = Transformer(config)
    attention, network, norm = 4 * (d * d + d), 2 * d * width + width + d, 2 * d
    stacks = layers[0] * (attention + network + 2 * norm)
    stacks += layers[1] * (2 * attention + network + 3 * norm)
    stacks += 2 * norm * norm_first
    tables = sum(words) * d
    output = 0 if tied else words[1] * d
    assert sum(p.numel() for p in model.parameters()) == stacks + tables + output


@claim("full-model#parameters")
def test_the_base_model_has_the_parameters_of_the_table(printed):
    shown = printed("examples", "count")
    numbers = {name: int(shown[name].replace(",", "")) for name in shown if shown[name][-1] != "%"}
    assert numbers["encoder"] == 6 * (12 * 512**2 + 13 * 512)
    assert numbers["decoder"] == 6 * (16 * 512**2 + 19 * 512)
    assert numbers["one table"] == 37000 * 512
    stacks = numbers["encoder"] + numbers["decoder"]
    assert 3 * numbers["one table"] > stacks
    assert numbers["all, with one table"] == stacks + 37000 * 512
    assert numbers["by PyTorch"] == stacks + 3 * 37000 * 512
    pencil = TransformerConfig(8, 10, 4, 2, 1, 1, 4)
    assert sum(p.numel() for p in Transformer(pencil).parameters()) == 472
    # the vocabularies that would explain table 3 of the paper
    big = 168 * 1024**2 + 192 * 1024
    vocabularies = (65e6 - stacks) / 512, (213e6 - big) / 1024
    assert vocabularies == pytest.approx((40750, 35790), abs=50)


# Equal to nn.Transformer


@claim("full-model#transformer")
@few
@given(**sizes, nhead=st.sampled_from([1, 2, 4]), eps=st.sampled_from([1e-5, 1e-2]))
def test_logits_and_all_gradients_equal_those_of_nn_transformer(
    batch, source, target, norm_first, dtype, seed, nhead, eps
):
    changes = {"norm_first": norm_first, "nhead": nhead, "layer_norm_eps": eps}
    model = randomized(make_model(seed, **changes), dtype)
    src, tgt = padded_ids(batch, source, 9), padded_ids(batch, target, 12)
    compare_model(model, src, tgt)


# Exercises


@claim("full-model#exercises")
def test_with_two_softmaxes_the_loss_can_decrease_by_less_than_one(printed):
    shown = printed("exercises", "least_loss")
    for size in (12, 1000, 37000):
        measured, formula = shown[f"{size} tokens, the least loss"].split(" = ")
        assert measured == formula
        guess = float(shown[f"{size} tokens, a blind guess"])
        assert 0 < guess - float(measured) <= 1.001


@claim("full-model#exercises")
def test_with_all_three_matrices_shared_the_table_counts_once_and_every_row_gets_a_gradient(
    printed,
):
    shown = printed("exercises", "joint_vocabulary")
    numbers = {name: int(value.replace(",", "")) for name, value in shown.items()}
    for name, d in (("base", 512), ("big", 1024)):
        assert numbers[name] == 168 * d**2 + 192 * d + 37000 * d
    rows = "rows of the source's table with a gradient"
    assert numbers[f"not shared, {rows}"] == 5
    assert numbers[f"shared, {rows}"] == 1000


@claim("full-model#exercises")
def test_of_the_changed_fields_seven_are_rejected_two_are_harmless_and_four_are_silent(printed):
    shown = printed("exercises", "which_fields")
    assert len(shown) == 13
    groups: dict[str, set[str]] = {}
    for field, what in shown.items():
        groups.setdefault(what, set()).add(field)
    assert len(groups["refused"]) == 7
    assert groups["loads, the same logits"] == {"dropout", "max_len"}
    silent = {"nhead", "pad_id", "tie_embeddings", "layer_norm_eps"}
    assert groups["loads, OTHER logits"] == silent


@claim("full-model#exercises")
def test_an_untied_checkpoint_in_a_tied_model_loses_its_table():
    untied, model = make_model(), make_model(tie_embeddings=True)
    model.load_state_dict(deepcopy(untied.state_dict()))
    assert torch.equal(model.tgt_embedding.embedding.weight, untied.output.weight)


@claim("full-model#exercises")
def test_two_of_four_published_mistakes_are_silent(printed):
    shown = printed("exercises", "repair")
    assert shown["a, the last token moves the first logits"] == "True"
    assert shown["b, zeros after two"] == "19%"
    assert shown["c"] == "torch.Size([16])"
    assert shown["d"].endswith("has no attribute 'weight'")
    assert TGT[:1, 1:].view(-1).shape == (TGT.size(1) - 1,)  # one row is in one piece
    with pytest.raises(RuntimeError, match="view size is not compatible"):
        TGT[:, 1:].view(-1)

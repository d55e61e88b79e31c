"""The six checks of the chapter on pitfalls: what they pass, and what they catch."""

import re
from functools import partial

import pytest
import torch
from torch import nn

import transformer
from checks import (
    CHECKS,
    check_modes_agree,
    check_no_peeking,
    check_overfits_one_batch,
    check_padding_invariance,
    check_past_matters,
    check_weights_move,
)
from helpers import DOCS, run_snippet
from marks import claim
from transformer import Transformer, TransformerConfig

pytestmark = pytest.mark.usefixtures("seeded")
SRC = torch.tensor([[5, 6, 7, 8, 9], [11, 12, 13, 0, 0]])
TGT = torch.tensor([[1, 4, 3, 9, 7, 2], [1, 15, 14, 10, 2, 0]])
EMPTY_SRC = torch.tensor([[5, 6, 7, 8, 9], [0, 0, 0, 0, 0]])


def our_model(dropout=0.1):
    return Transformer(TransformerConfig(20, 20, 32, 2, 1, 1, 64, dropout, norm_first=True))


def torch_model():
    return run_snippet("examples", "pitfalls", "wrapped")[0]["Wrapped"]()


class Changed(nn.Module):
    """A model with a change before or after it."""

    def __init__(self, change, model=None):
        super().__init__()
        self.model = model or our_model()
        self.change = change

    def forward(self, src, tgt):
        return self.change(self.model, src, tgt)


class WithoutBatchFirst(nn.Module):
    """A decoder of one layer, which adds the mean of the source."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 32)
        self.layer = nn.TransformerEncoderLayer(32, 2, 64)
        self.output = nn.Linear(32, 20)

    def forward(self, src, tgt):
        source = self.embed(src[:, :1])
        return self.output(self.layer(self.embed(tgt) + source))


def scores_of(query, key):
    return query @ key.mT / query.size(-1) ** 0.5


def filled(value, dim=-1):
    """Attention that replaces hidden scores by this number."""

    def attention(query, key, values, mask, dropout):
        scores = scores_of(query, key)
        if mask is not None:
            scores = scores.masked_fill(~mask, value)
        return scores.softmax(dim) @ values, None

    return attention


# A replacement for attention: query, key, value, mask, dropout -> values, no weights.
right = transformer.fused_attention


def inverted(query, key, value, mask, dropout):
    return right(query, key, value, mask if mask is None else ~mask, dropout)


def mask_per_head(query, key, value, mask, dropout):
    if mask is not None and mask.size(0) > 1:
        mask = mask.transpose(0, 1)
    return right(query, key, value, mask, dropout)


def half_precision(query, key, value, mask, dropout):
    scores = scores_of(query, key)
    if mask is not None:
        scores = scores + (~mask).to(scores.dtype) * torch.tensor(-1e9).to(scores.dtype)
    return scores.softmax(dim=-1) @ value, None


def after_softmax(query, key, value, mask, dropout):
    weights = scores_of(query, key).softmax(dim=-1)
    return (weights if mask is None else weights * mask) @ value, None


def mixed_heads(query, key, value, mask, dropout):
    heads, _ = right(query, key, value, mask, dropout)
    batch, count, n, size = heads.shape
    return heads.reshape(batch, n, count, size).transpose(1, 2), None


def query_length(query, key, value, mask, dropout):
    shape = query.shape
    return right(query, key.reshape(shape), value.reshape(shape), mask, dropout)


def frozen():
    model = our_model()
    model.src_embedding.embedding.weight.requires_grad_(False)
    return model


def in_a_list():
    model = our_model()
    layers = list(model.encoder.layers)
    del model.encoder.layers
    model.encoder.layers = layers
    return model


half_invariance = partial(check_padding_invariance, tolerance=0.05)

# The entries of the pages that name a check: the check, and a model and attention with the mistake.
CAUGHT = {
    "pretrained": (check_weights_move, frozen),
    "mixed-heads": (check_no_peeking, our_model, mixed_heads),
    "batch-first-forgotten": (check_padding_invariance, WithoutBatchFirst),
    "modules-in-a-list": (check_modes_agree, in_a_list),
    "inverted-mask": (check_no_peeking, our_model, inverted),
    "mask-per-head": (check_padding_invariance, our_model, mask_per_head),
    "half-precision": (half_invariance, lambda: our_model().half(), half_precision),
    "after-softmax": (check_no_peeking, our_model, after_softmax),
    "empty-row": (check_overfits_one_batch, our_model, filled(-torch.inf)),
    "source-is-target": (check_no_peeking, lambda: Changed(lambda model, _, tgt: model(tgt, tgt))),
    "softmax-axis": (check_no_peeking, our_model, filled(-1e9, dim=1)),
    "softmax-before-loss": (
        check_overfits_one_batch,
        lambda: Changed(lambda model, src, tgt: model(src, tgt).softmax(dim=-1)),
    ),
}


@claim("pitfalls#checks")
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("model", [our_model, torch_model])
def test_a_right_model_passes_each_check(model, check):
    check(model(), SRC, TGT)


@claim("pitfalls#checks")
@pytest.mark.parametrize("entry", CAUGHT)
def test_a_check_fails_on_the_mistake_of_each_entry_that_names_it(monkeypatch, entry):
    check, model, *attentions = CAUGHT[entry]
    src = EMPTY_SRC if entry == "empty-row" else SRC
    if entry in ("half-precision", "empty-row"):  # the right model passes these too
        check(model(), src, TGT)
    for attention in attentions:
        monkeypatch.setattr(transformer, "fused_attention", attention)
    with pytest.raises(AssertionError):
        check(model(), src, TGT)


@claim("pitfalls#checks")
@pytest.mark.parametrize(
    ("ignored", "change"),
    [
        ("src", lambda model, src, tgt: model(src * 0 + 5, tgt)),
        ("tgt", lambda model, src, tgt: model(src, tgt[:, -1:]).expand(-1, tgt.size(1), -1)),
    ],
)
def test_a_model_that_ignores_the_source_or_the_past_is_caught(ignored, change):
    with pytest.raises(AssertionError, match=f"{ignored} has no effect"):
        check_past_matters(Changed(change), SRC, TGT)


@claim("pitfalls#checks")
def test_lengths_that_differ_raise_the_error_of_view_in_cross_attention(monkeypatch):
    monkeypatch.setattr(transformer, "fused_attention", query_length)
    for check in (check_padding_invariance, check_no_peeking, check_past_matters):
        with pytest.raises(RuntimeError, match=r"shape .* is invalid for input of size"):
            check(our_model(), SRC, TGT)


@claim("pitfalls#checks")
def test_only_dropout_that_no_module_knows_is_a_difference_between_the_modes():
    check_modes_agree(our_model(dropout=0.5), SRC, TGT)
    drop = Changed(lambda model, src, tgt: nn.functional.dropout(model(src, tgt), 0.1))
    with pytest.raises(AssertionError, match="differ by"):
        check_modes_agree(drop, SRC, TGT)


# The pages


def entries(language):
    """The text of each entry, by its anchor."""
    found = {}
    for page in sorted((DOCS / language).glob("pitfalls-*.md")):
        text = page.read_text(encoding="utf-8")
        for part in re.split(r"^##+ ", text, flags=re.M)[1:]:
            anchor = re.search(r"\{ #([\w-]+) \}", part)[1]
            if '--8<-- "pitfalls/' in part:
                found[anchor] = part
    return found


LABELS = {
    "en": ["Symptom", "Cause.", "Fix.", "Test."],
    "zh": ["症状", "原因。", "改法。", "测试。"],
}


@claim("pitfalls#how", kind="measurement")
@pytest.mark.parametrize("language", LABELS)
def test_each_entry_has_a_symptom_a_cause_a_fix_and_a_test_that_a_mutation_fails(language):
    """Each test that an entry names has a mutation, and the silent ones are marked."""
    from bookbuild.generated import claims  # here, since a mutated copy does without bookbuild

    tested = {each.test.partition("::")[2] for each in claims.all_claims() if each.mutations}
    page = (DOCS / language / "pitfalls.md").read_text(encoding="utf-8")
    found = entries(language)
    assert len(found) == 33
    silent = {"en": "(silent)", "zh": "（不报错）"}[language]
    for anchor, text in found.items():
        labels = re.findall(r"^\*\*(\w+。?\.?)", text, re.M)
        assert [*map(str, labels)] == LABELS[language], anchor
        named = re.findall(r"`(test_\w+)`", text.partition(LABELS[language][3])[2])
        quoted = anchor == "pretrained" or tested.issuperset(named)
        assert named and quoted, anchor
        row = re.search(rf"^.*\{{ #{anchor} \}}.*$", page, re.M)[0]
        is_marked = {"en": "**error**", "zh": "**报错**"}[language] in row
        assert is_marked != (silent in text), anchor


@claim("pitfalls#checks", kind="measurement")
@pytest.mark.parametrize("language", LABELS)
def test_the_entries_and_the_table_name_the_check_that_catches_each_mistake(language):
    page = (DOCS / language / "pitfalls.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\|.*\{ #([\w-]+) \} \|.*\| ([^|]*) \|$", page, re.M))
    found = entries(language)
    assert rows.keys() == found.keys()
    assert sorted(CAUGHT) == sorted(each for each in rows if "check_" in rows[each])
    for anchor, (check, *_) in CAUGHT.items():
        name = getattr(check, "func", check).__name__
        assert rows[anchor] == f"`{name}`" and name in found[anchor]
    assert not [name for name in found if "check_" in found[name] and name not in CAUGHT]

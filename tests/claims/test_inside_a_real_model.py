"""The claims of the page that looks inside a published model: its code, and what was measured."""

import copy
import json
from statistics import median

import pytest
import torch
from torch.nn.functional import log_softmax

from bookbuild.generated.claim_results import code_key
from evidence import published_weights as reference
from experiments import inside as experiment
from helpers import SNIPPETS, close, run_command, run_snippet
from marks import claim
from small_decoders import make_decoder
from transformer import causal_mask
from variants.inside import induction_scores, lens, look, loss_from, repeated_ids
from variants.smollm2 import FILE

CHAPTER = "inside-a-real-model"
OPTIONS: list[dict] = [
    {"qk_norm": False, "tie_embeddings": True},
    {"norm_after": True, "scale_embedding": True, "score_dim": 7},
]


@pytest.fixture(scope="module")
def recorded() -> dict:
    return json.loads((SNIPPETS / "results" / "inside.json").read_text(encoding="utf-8"))


@pytest.fixture
def ids() -> torch.Tensor:
    return torch.randint(40, (2, 9), generator=torch.Generator().manual_seed(0))


# The code


@claim("inside-a-real-model#look")
@pytest.mark.parametrize("options", OPTIONS)
@torch.no_grad()
def test_the_weights_reproduce_each_state_and_the_last_state_gives_the_logits(options, ids):
    model = make_decoder(**options)
    states, weights = look(model, ids)
    close(lens(model, states[-1]), model(ids))
    close(weights.sum(dim=-1), torch.ones(3, 2, 4, 9).double())
    assert (weights.triu(1) == 0).all()
    for x, following, layer, found in zip(states, states[1:], model.layers, weights, strict=False):
        attention = layer.attention
        values = attention.split(attention.value(layer.attention_norm(x)))
        heads = [found[:, head] @ values[:, head // 2] for head in range(4)]
        x = x + layer.after_attention(attention.output(torch.cat(heads, dim=-1)))
        y = layer.feed_forward(layer.feed_forward_norm(x))
        close(following, x + layer.after_feed_forward(y))


@claim("inside-a-real-model#look")
@torch.no_grad()
def test_switching_off_heads_equals_zero_columns_of_the_output_map(ids):
    model = make_decoder()
    changed = copy.deepcopy(model)
    off = [(0, 1), (1, 3), (1, 0)]
    for layer, head in off:
        columns = slice(12 * head, 12 * head + 12)
        changed.get_submodule(f"layers.{layer}.attention.output").weight[:, columns] = 0
    states, _ = look(model, ids, off)
    close(lens(model, states[-1]), changed(ids))
    assert (changed(ids) - model(ids)).abs().max() > 1e-3


@claim("inside-a-real-model#find")
def test_the_score_is_the_mean_weight_on_the_token_after_the_earlier_one():
    ids = repeated_ids(5, 10**6, 7, seed=3)[0].tolist()
    weights = torch.rand(2, 3, 14, 14, generator=torch.Generator().manual_seed(0)).double()
    expected = torch.zeros(2, 3).double()
    for i in range(7, 14):
        expected += weights[..., i, ids.index(ids[i]) + 1] / 7
    close(induction_scores(weights), expected)


@claim("inside-a-real-model#by-hand")
def test_a_head_that_repeats_has_the_score_1_by_hand(printed):
    shown = printed("examples", "repeated")
    assert shown["3 A"] == "[0, 1, 0, 0, 0, 0] reads B"
    assert shown["4 B"] == "[0, 0, 1, 0, 0, 0] reads C"
    assert shown["5 C"] == "[0, 0, 0, 1, 0, 0] reads A"
    assert shown["score of this head"] == "1.00"
    assert shown["score of equal weights"] == f"{(1 / 4 + 1 / 5 + 1 / 6) / 3:.2f}"


@claim("inside-a-real-model#switch-off")
@torch.no_grad()
def test_the_loss_is_that_of_the_tokens_of_the_second_half(ids):
    model = make_decoder()
    expected = -log_softmax(model(ids), dim=-1)
    losses = [expected[batch, i - 1, ids[batch, i]] for batch in (0, 1) for i in range(5, 9)]
    found = loss_from(model, ids, 5, look(model, ids)[0][-1])
    assert found == pytest.approx(torch.stack(losses).mean().item(), abs=1e-9)


@claim("inside-a-real-model#sinks")
@torch.no_grad()
def test_hiding_the_first_token_from_all_is_a_text_without_it(ids):
    model = make_decoder()
    allowed = causal_mask(9)[0, 0]
    allowed[1:, 0] = False
    hidden, _ = look(model, ids, allowed=allowed)
    without, _ = look(model, ids[:, 1:])
    close(hidden[:, :, 1:], without, 1e-6)


@claim("inside-a-real-model#sinks")
def test_without_the_first_token_the_other_weights_grow_by_hand(printed):
    shown = printed("examples", "hidden")
    assert float(shown["output"]) == pytest.approx(0.15 * 2 - 0.05)
    assert shown["weights without the first"] == "[0.75, 0.25]"
    assert float(shown["output without the first"]) == pytest.approx(0.75 * 2 - 0.25)


@claim("inside-a-real-model#lens")
def test_a_layer_can_change_the_most_probable_token_by_hand(printed):
    shown = printed("examples", "two_layers")
    assert shown["after layer 1"] == "[2.0, 1.0]"
    assert shown["after layer 2"] == "[2.0, 4.0]"


# The command


@claim("inside-a-real-model#command", kind="measurement")
def test_the_command_prints_the_output_of_the_page(tmp_path):
    path = tmp_path / ".cache" / "smollm2" / FILE
    path.parent.mkdir(parents=True)
    path.symlink_to(reference.installed_file())
    _, printed = run_snippet("examples", CHAPTER, "command")
    assert run_command("variants.inside", HOME=str(tmp_path)) == printed


# What is measured


@claim("inside-a-real-model", kind="measurement")
def test_the_measurements_are_of_this_code(recorded):
    hint = "stale; run scripts/experiment inside"
    assert recorded["key"] == code_key(experiment.FILES), hint


@claim("inside-a-real-model#find", kind="measurement")
def test_few_heads_have_a_high_score_in_every_seed(recorded):
    heads = recorded["induction"]
    scores = sorted((score for row in heads["scores"] for score in row), reverse=True)
    layer, head = heads["best"][0]
    assert len(scores) == 270 and heads["scores"][layer][head] == scores[0] > 0.8
    assert min(heads["scores of the best"]) > 0.7
    assert scores[4] > 0.5 and median(scores) < 0.05
    assert {layer for layer, _ in heads["best"]} == {17, 18}


@claim("inside-a-real-model#switch-off", kind="measurement")
def test_the_repetition_is_lost_without_the_heads_of_induction_and_some_of_the_first_layers(
    recorded,
):
    heads = recorded["induction"]
    best = {tuple(place) for place in heads["best"]}
    (layer, head), *_ = heads["best"]
    single = {(i, j): loss for i, row in enumerate(heads["single"]) for j, loss in enumerate(row)}
    others = [loss for place, loss in single.items() if place not in best]
    assert heads["loss"] < heads["loss of the first half"] / 3
    assert single[layer, head] == max(single[place] for place in best) > heads["loss"] + 1
    assert sorted(single[place] for place in best)[1] < heads["loss"] + 0.2  # two cost little
    higher = [place for place, loss in single.items() if loss > single[layer, head]]
    assert len(higher) == 5 and not best & {*higher}
    assert all(heads["scores"][layer][head] < 0.03 for layer, head in higher)
    assert sum(layer in (1, 2) for layer, _ in higher) == 4
    assert median(others) == pytest.approx(heads["loss"], abs=0.1)
    assert heads["together"][-1] > max(heads["others"]) + 1
    assert heads["first half without them"] == pytest.approx(
        heads["loss of the first half"], rel=0.02
    )


@claim("inside-a-real-model#switch-off", kind="measurement")
def test_without_the_head_of_the_previous_token_the_induction_heads_find_nothing(recorded):
    heads = recorded["induction"]
    layer, head, score = heads["previous"][0]
    (best_layer, best_head), *_ = heads["best"]
    assert score > 0.9 and layer == min(layer for layer, _ in heads["best"]) - 1
    assert heads["single"][layer][head] > heads["single"][best_layer][best_head]
    assert max(heads["scores without previous"]) < 0.3
    assert median(heads["scores without previous"]) < 0.1


@claim("inside-a-real-model#sinks", kind="measurement")
def test_most_attention_of_the_later_layers_goes_to_the_first_token(recorded):
    sinks = recorded["sinks"]
    first = sinks["first"]
    assert sinks["equal"] < 0.02 and max(first[:2]) < 0.05
    assert max(first) > 0.6 and min(first[12:]) > 0.25
    second, hidden = sinks["second"], sinks["second, first hidden"]
    assert sum(hidden) > 5 * sum(second)  # the second token is the sink then
    assert sinks["hidden from all"] == pytest.approx(sinks["loss"], abs=0.05)
    assert sinks["hidden from the second half"] > sinks["loss"] + 0.5
    for loss in sinks["others hidden"]:
        assert loss == pytest.approx(sinks["loss"], abs=0.05)


@claim("inside-a-real-model#lens", kind="measurement")
def test_the_final_token_appears_in_the_last_layers(recorded):
    agreement = recorded["lens"]["agreement"]
    assert len(agreement) == 31 and agreement[-1] == 1
    assert agreement[20] < 0.25 and agreement[27] < 0.5 < agreement[28]
    sentences = recorded["lens"]["sentences"]
    assert [row["tokens"][-1] for row in sentences] == [
        *("ĠParis", "Ġfour", "Ġcold", "Ġdoor", "Ġhelium"),
    ]
    assert all(row["from"] > 25 for row in sentences)


@claim("inside-a-real-model#template", kind="measurement")
def test_only_in_the_template_are_all_questions_answered(recorded):
    sleep, france, colors = recorded["template"]
    assert france["without"].strip() == "" and france["with"] == "The capital of France is Paris."
    assert "sleep" in sleep["with"] and "sleep" not in sleep["without"]
    assert "red" in colors["with"].lower()

"""The claims of the page on how decoders have been trained since 2023."""

import json
from math import log

import pytest
import torch
import torch.nn.functional as F

from bookbuild.generated.claim_results import code_key
from evidence import training_decoders as reference
from helpers import SNIPPETS, close, normal
from marks import claim
from variants.decoder_2023 import Decoder2023, DecoderConfig
from variants.multi_token import MultiTokenDecoder, multi_token_loss, write
from variants.muon import muon_step, orthogonalize
from variants.verifiable import group_advantages, policy_loss, sample

CHAPTER = "training-decoders"
RESULTS = SNIPPETS / "results" / "training-decoders.json"
SIZES = {"d_model": 16, "nhead": 2, "num_kv_heads": 1, "num_layers": 2, "dim_feedforward": 24}


@pytest.fixture(scope="module")
def recorded() -> dict:
    return json.loads(RESULTS.read_text(encoding="utf-8"))


@pytest.fixture(params=range(3))
def model(request) -> MultiTokenDecoder:
    torch.manual_seed(request.param)
    return MultiTokenDecoder(DecoderConfig(vocab_size=8, **SIZES)).eval()


def draw_ids(*shape: int) -> torch.Tensor:
    return torch.randint(1, 8, shape, generator=torch.Generator().manual_seed(0))


# Multi-token prediction


@claim("training-decoders#multi-token")
def test_the_loss_by_hand_is_that_of_the_table(printed):
    shown = printed("examples", "loss_by_hand")
    first, second = 4 / 3 * log(2), 5 / 2 * log(2)
    assert shown["next token"] == f"{first:.3f}"
    assert shown["second token"] == f"{second:.3f}"
    assert shown["together"] == f"{first + 0.3 * second:.3f}"


@claim("training-decoders#multi-token")
@torch.no_grad()
def test_the_loss_adds_the_token_after_the_next_position_by_position(model):
    ids = draw_ids(2, 6)
    ids[1, 4:] = 0  # padding
    first, second = [], []
    for text in (ids[0], ids[1, :4]):
        x = model.states(text[None])
        next_log_probs = model(text[None])[0].log_softmax(dim=-1)
        first += [-next_log_probs[i, text[i + 1]] for i in range(len(text) - 1)]
        for i in range(len(text) - 2):
            logits = model.after_next(x[:, : i + 1], text[None, 1 : i + 2])
            second.append(-logits[0, -1].log_softmax(dim=-1)[text[i + 2]])
    expected = torch.stack(first).mean() + 0.5 * torch.stack(second).mean()
    close(multi_token_loss(model, ids, weight=0.5), expected, 1e-5)


@claim("training-decoders#multi-token")
@torch.no_grad()
def test_without_its_further_layer_it_is_the_decoder_of_2023(model):
    plain = Decoder2023(model.config)
    plain.load_state_dict(model.state_dict(), strict=False)
    ids = draw_ids(3, 5)
    close(plain.eval()(ids), model(ids))
    own = {name for name, _ in model.named_parameters()} - dict(plain.named_parameters()).keys()
    parts = {"state_norm", "token_norm", "join", "further", "further_norm"}
    assert {name.split(".")[0] for name in own} == parts  # no embedding, no output layer


@claim("training-decoders#multi-token", kind="measurement")
def test_the_further_layer_of_deepseek_has_the_documented_size(printed):
    from transformers import AutoConfig

    config = AutoConfig.for_model("deepseek_v3")
    assert config.num_nextn_predict_layers == 1
    assert config.num_hidden_layers == 61
    shown = printed("examples", "further_layer")
    assert shown["further layer, billions"] == "11.5"
    assert shown["with the matrix that joins"] == "11.6"


# Speculative decoding


@claim("training-decoders#speculative", kind="mathematics")
def test_accepted_proposals_give_the_expected_tokens_per_call():
    """A call writes the accepted beginning of the proposals, and one token of the large model."""
    torch.manual_seed(0)
    accepted = torch.rand(400_000, 4) < 0.8
    tokens = 1 + accepted.int().cumprod(dim=1).sum(dim=1)
    assert tokens.double().mean().item() == pytest.approx(sum(0.8**i for i in range(5)), abs=0.01)


@torch.no_grad()
def write_greedily(model: Decoder2023, ids: list[int], tokens: int, eos_id: int) -> list[int]:
    text = [*ids]
    for _ in range(tokens):
        new = int(model(torch.tensor([text]))[0, -1].argmax())
        if new == eos_id:
            break
        text.append(new)
    return text[len(ids) :]


@claim("training-decoders#speculative")
@pytest.mark.parametrize("tokens", [1, 10])
@pytest.mark.parametrize("eos_id", [0, 3])
def test_writing_with_guesses_gives_the_tokens_of_greedy_decoding(model, tokens, eos_id):
    for start in range(1, 8):
        written, calls = write(model, [start, 5], tokens, eos_id)
        assert written == write_greedily(model, [start, 5], tokens, eos_id)
        assert (tokens + 1) // 2 <= calls <= tokens or len(written) < tokens


@claim("training-decoders#speculative")
def test_with_correct_guesses_half_as_many_calls_are_enough(model):
    """Its texts count upwards, so that the last token decides both predictions."""
    size = model.config.d_model
    with torch.no_grad():
        for part in (model.layers, model.further):
            for name, weight in part.named_parameters():
                if name.endswith("output.weight") or "linear2" in name or "down" in name:
                    weight.zero_()  # both kinds of layers return their input
        model.embedding.weight.copy_(torch.eye(8, size))
        model.join.weight.copy_(torch.cat([torch.zeros(size, size), torch.eye(size)], dim=1))
        model.output.weight.copy_(torch.eye(8, size).roll(1, dims=0))
    written, calls = write(model, [1], tokens=6, eos_id=0)
    assert written == [2, 3, 4, 5, 6, 7]
    assert calls <= 4


# FP8


@claim("training-decoders#fp8", kind="measurement")
def test_the_two_formats_have_the_stated_numbers(printed):
    shown = printed("examples", "fp8_by_hand")
    for name, bits, largest in (("float8_e4m3fn", 3, 448), ("float8_e5m2", 2, 57344)):
        kind = getattr(torch, name)
        every = torch.arange(256, dtype=torch.uint8).view(kind).float()
        finite = every[every.isfinite()]
        assert finite.max() == largest
        assert ((finite >= 1) & (finite < 2)).sum() == 2**bits
        assert shown[f"{name}, largest"] == str(largest)
        assert shown[f"{name}, step after 1"] == str(2.0**-bits)
    small = torch.arange(8) / 512
    assert torch.equal(small.to(torch.float8_e4m3fn).float(), small)
    numbers = torch.tensor([17.0, 0.001, 105.0])
    assert numbers.to(torch.float8_e4m3fn).tolist() == [16.0, 1 / 512, 104.0]
    assert numbers.to(torch.float8_e5m2).tolist()[2] == 112.0


@claim("training-decoders#fp8")
def test_only_a_very_large_outlier_needs_a_scale_for_each_block(printed):
    errors = {
        name.removeprefix("outlier "): [float(x.strip(" %")) for x in line.split(", in blocks")]
        for name, line in printed("examples", "fp8_product").items()
    }
    assert list(errors) == ["1", "1,000", "100,000", "1,000,000"]
    assert all(2 < blocks < 3 for _, blocks in errors.values())
    assert errors["1,000"][0] < 3
    assert errors["100,000"][0] > 10
    assert errors["1,000,000"][0] > 90


@claim("training-decoders#fp8", kind="mathematics")
def test_an_outlier_of_1000_would_harm_four_bit_integers():
    x = normal(4096)
    scale = 1000 / 7
    assert torch.equal((x / scale).round(), torch.zeros_like(x))


# Muon


@claim("training-decoders#muon")
def test_the_update_by_hand_keeps_directions_and_lengths(printed):
    shown = printed("examples", "muon_by_hand")
    assert shown["[1.0, 1.0] becomes"] == "[3.0, 9.0]"
    assert shown["[1.0, -1.0] becomes"] == "[3.0, -1.0]"
    root = 5**-0.5
    expected = [[round(2 * root, 3), round(-root, 3)], [round(root, 3), round(2 * root, 3)]]
    assert shown["update"] == str(expected)
    assert shown["[1.0, 1.0], orthogonal"] == str([round(root, 3), round(3 * root, 3)])


@claim("training-decoders#muon")
@pytest.mark.parametrize("shape", [(6, 6), (9, 4), (4, 9)])
@pytest.mark.parametrize("seed", range(5))
def test_newton_schulz_keeps_the_directions_and_brings_singular_values_near_1(shape, seed):
    matrix = normal(*shape, seed=seed)
    u, s, vt = torch.linalg.svd(matrix, full_matrices=False)
    s = s / s.norm()
    for _ in range(5):
        s = 3.4445 * s - 4.775 * s**3 + 2.0315 * s**5
    update = orthogonalize(matrix)
    close(update, u @ s.diag() @ vt, 1e-8)
    values = torch.linalg.svdvals(update)
    assert 0.6 < values.min() < values.max() < 1.3


@claim("training-decoders#muon")
@pytest.mark.parametrize("shape", [(24, 6), (6, 24)])
def test_our_step_is_that_of_torch_up_to_its_16_bit_products(shape):
    start = normal(*shape).float()
    ours, theirs = start.clone(), torch.nn.Parameter(start.clone())
    optimizer = torch.optim.Muon([theirs], lr=0.1, weight_decay=0.0)
    momentum = torch.zeros_like(start)
    for seed in range(1, 4):
        theirs.grad = normal(*shape, seed=seed).float()
        optimizer.step()
        muon_step(ours, theirs.grad, momentum, lr=0.1)
    change = (theirs - start).norm()
    assert (ours - theirs).norm() / change < 0.02


# Rewards


@claim("training-decoders#verifiable")
def test_advantages_compare_the_answers_to_one_question(printed):
    shown = printed("examples", "advantages")
    assert shown["rewards [1, 0, 0, 1]"] == "[1.0, -1.0, -1.0, 1.0]"
    assert shown["rewards [1, 0, 0, 0]"] == "[1.73, -0.58, -0.58, -0.58]"
    assert shown["rewards [0, 0, 0, 0]"] == "[0.0, 0.0, 0.0, 0.0]"
    rewards = torch.tensor([[1.0, 0, 0, 0, 0], [1, 1, 1, 1, 1]])
    expected = torch.tensor([[2, -0.5, -0.5, -0.5, -0.5], [0, 0, 0, 0, 0]])
    close(group_advantages(rewards), expected, 1e-5)


@claim("training-decoders#verifiable")
def test_a_step_makes_good_answers_more_and_bad_ones_less_probable(model):
    prompts, answers = draw_ids(2, 3), torch.tensor([[1, 2], [3, 4]])

    def log_probs() -> torch.Tensor:
        ids = torch.cat([prompts, answers], dim=1)
        losses = F.cross_entropy(model(ids)[:, 2:-1].mT, answers, reduction="none")
        return -losses.sum(dim=1)

    before = log_probs()
    loss = policy_loss(model, prompts, answers, torch.tensor([1.0, -1.0]))
    close(loss, (before[1] - before[0]) / 4, 1e-5)
    loss.backward()
    with torch.no_grad():
        for weight in model.parameters():
            if weight.grad is not None:
                weight -= 0.1 * weight.grad
    assert log_probs()[0] > before[0]
    assert log_probs()[1] < before[1]


@claim("training-decoders#verifiable")
@pytest.mark.parametrize("reward", [0.0, 1.0])
def test_without_a_difference_in_the_group_the_gradient_is_zero(model, reward):
    prompts = draw_ids(1, 3).expand(4, -1)
    answers = sample(model, prompts, tokens=2)
    advantages = group_advantages(torch.full((1, 4), reward)).flatten()
    policy_loss(model, prompts, answers, advantages).backward()
    gradients = [weight.grad for weight in model.parameters() if weight.grad is not None]
    assert gradients
    assert all(gradient.abs().max() == 0 for gradient in gradients)


@claim("training-decoders#verifiable")
@torch.no_grad()
def test_answers_are_drawn_by_the_probabilities_of_the_model(model):
    torch.manual_seed(0)
    prompts = draw_ids(1, 3).expand(20_000, -1)
    answers = sample(model, prompts, tokens=1)
    found = answers.flatten().bincount(minlength=8) / len(prompts)
    close(found, model(prompts[:1])[0, -1].softmax(dim=-1), 0.02)


# The trainings


@claim("training-decoders", kind="measurement")
def test_the_results_belong_to_this_code_and_are_those_on_the_page(recorded, printed):
    hint = "stale; run scripts/experiment training_decoders"
    assert recorded["key"] == code_key(reference.FILES), hint
    for run in recorded["rewards"]:
        assert run["after"]["right"] > 1.8 * run["before"]["right"]
        assert abs(run["after"]["one of eight right"] - run["before"]["one of eight right"]) < 0.15
    assert recorded["untrained"]["after"]["right"] < 0.02
    shown = printed("examples", "tokens")
    runs = recorded["tokens"]
    rate = sum(run["tokens"] for run in runs) / sum(run["calls"] for run in runs)
    assert shown["tokens per call"] == f"{rate:.2f}"
    assert all(run["right, Chinese"] > run["right, English"] for run in runs)


@claim("training-decoders#muon", kind="measurement")
def test_muon_reaches_the_smaller_loss_at_the_best_peaks_and_not_at_the_smallest(recorded):
    losses = {(run["name"], run["peak"]): run["losses"] for run in recorded["optimizers"]}
    best = {
        name: min((sum(each), each) for (own, _), each in losses.items() if own == name)[1]
        for name in ("AdamW", "Muon")
    }
    assert max(best["Muon"]) < min(best["AdamW"])
    assert best["Muon"] == losses["Muon", 0.064]
    assert max(losses["AdamW", 0.008]) < min(losses["Muon", 0.008])

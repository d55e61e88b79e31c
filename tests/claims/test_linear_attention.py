"""The claims of the page on linear attention and the delta rule."""

from unittest import mock

import pytest
import torch
from torch.nn.functional import normalize

from evidence.hugging_face_models import randomize
from helpers import close, measured, normal, run_snippet
from marks import claim
from small_decoders import BOUND
from variants import copying
from variants.delta_rule import chunked_delta_rule, delta_rule

CHAPTER = "linear-attention"
FORMS = (delta_rule, chunked_delta_rule)
forms = pytest.mark.parametrize("form", FORMS)


def inputs(n: int, seed: int = 0, d_k: int = 6, d_v: int = 5):
    """Queries, keys of length 1, values, log decays and betas; two sentences, three heads."""
    query, key = normal(2, 2, 3, n, d_k, seed=seed)
    value, gates = normal(2, 3, n, d_v, seed=seed + 1), normal(2, 2, 3, n, seed=seed + 2)
    log_decay, beta = -gates[0].abs(), gates[1].sigmoid()
    return query, normalize(key, dim=-1), value, log_decay, beta


# A state, by hand


@claim("linear-attention#by-hand")
def test_a_state_stores_two_pairs_and_adds_values_of_the_same_key(printed):
    shown = printed("examples", "sum_by_hand")
    assert shown["one pair"] == "[[3.0, 5.0], [0.0, 0.0]]"
    assert shown["two pairs"] == "[[3.0, 5.0], [2.0, 4.0]]"
    assert shown["read with the first key"] == "[3.0, 5.0]"
    assert shown["read with the second key"] == "[2.0, 4.0]"
    assert shown["a new value for the first key"] == "[4.0, 6.0]"


@claim("linear-attention#why-linear", kind="mathematics")
def test_the_state_of_sums_is_causal_attention_without_softmax():
    query, key, value, *_ = inputs(9)
    state = (key.unsqueeze(-1) * value.unsqueeze(-2)).cumsum(-3)  # (..., n, d_k, d_v)
    read = (query.unsqueeze(-2) @ state).squeeze(-2)
    close(read, (query @ key.mT).tril() @ value)


@claim("linear-attention#delta")
def test_the_delta_rule_replaces_a_value_wholly_or_in_part(printed):
    shown = printed("examples", "delta_by_hand")
    assert shown["stored"] == "[3.0, 5.0]"
    assert shown["beta 1.0"] == "[[1.0, 1.0], [2.0, 4.0]]"
    assert shown["beta 0.5"] == "[[2.0, 3.0], [2.0, 4.0]]"
    assert shown["after a decay of 0.5"] == "[[1.5, 2.5], [1.0, 2.0]]"


@claim("linear-attention#delta")
def test_a_key_of_length_1_reads_exactly_the_value_that_was_written_last():
    _, key, value, log_decay, _ = inputs(9)
    outputs, _ = delta_rule(key, key, value, log_decay, torch.ones_like(log_decay))
    close(outputs, value)


@claim("linear-attention#delta")
def test_with_a_key_of_length_2_every_further_write_triples_the_error():
    key, value = torch.tensor([[2.0, 0.0]]), torch.tensor([[1.0, 1.0]])
    nothing, one, state = torch.zeros(1), torch.ones(1), None
    for error in (3.0, -9.0, 27.0):
        _, state = delta_rule(key, key, value, nothing, one, state)
        close(key @ state - value, torch.full((1, 2), error))


# Two forms


@claim("linear-attention#chunks")
@pytest.mark.parametrize(("n", "chunk_size"), [(7, 3), (65, 64)])
def test_the_chunks_give_the_same_outputs_state_and_gradients(n, chunk_size):
    tensors = [x.requires_grad_() for x in (*inputs(n), normal(2, 3, 6, 5, seed=5))]
    one, other = delta_rule(*tensors), chunked_delta_rule(*tensors, chunk_size=chunk_size)
    for mine, theirs in zip(one, other, strict=True):
        close(mine, theirs)
    sums = [sum(x.square().sum() for x in form) for form in (one, other)]
    gradients = [torch.autograd.grad(total, tensors) for total in sums]
    for mine, theirs in zip(*gradients, strict=True):
        close(mine, theirs, 1e-8)


@claim("linear-attention#recurrent")
@forms
def test_a_text_can_be_continued_from_its_state(form):
    tensors = inputs(11)
    whole, last = form(*tensors)
    start, state = form(*(x[:, :, :4] for x in tensors))
    rest, end = form(*(x[:, :, 4:] for x in tensors), state)
    close(torch.cat([start, rest], dim=-2), whole)
    close(end, last)


@claim("linear-attention#qwen3-next")
@forms
@pytest.mark.parametrize("theirs", ["recurrent", "chunk"])
@pytest.mark.parametrize("seed", range(3))
def test_both_forms_compute_the_gated_delta_rule_of_transformers(form, theirs, seed):
    from transformers.models.qwen3_next import modeling_qwen3_next

    tensors = [x.float().transpose(1, 2) for x in inputs(70, seed)]
    reference = getattr(modeling_qwen3_next, f"torch_{theirs}_gated_delta_rule")
    expected, last = reference(*tensors, output_final_state=True)
    query, *rest = (x.transpose(1, 2) for x in tensors)
    outputs, state = form(query / 6**0.5, *rest)
    close(outputs.transpose(1, 2), expected, 1e-5)
    close(state, last, 1e-5)


@claim("linear-attention#qwen3-next")
@forms
@torch.no_grad()
def test_with_our_rule_in_it_qwen3_next_computes_the_same_logits(form):
    from transformers import AutoConfig, AutoModelForCausalLM
    from transformers.models.qwen3_next import modeling_qwen3_next

    config = AutoConfig.for_model(
        "qwen3_next",
        vocab_size=40,
        hidden_size=32,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=16,
        num_hidden_layers=4,
        intermediate_size=24,
        linear_num_key_heads=2,
        linear_num_value_heads=4,
        linear_key_head_dim=8,
        linear_value_head_dim=12,
        mlp_only_layers=[0, 1, 2, 3],
    )
    assert config.layer_types == 3 * ["linear_attention"] + ["full_attention"]
    model = AutoModelForCausalLM.from_config(config).eval()
    randomize(model, 0)
    calls = []

    def replacement(query, key, value, g, beta, initial_state=None, **_):
        """Normalizes and scales as transformers does, and repeats keys for the value heads."""
        calls.append(query.size(1))
        query, key = (
            normalize(x, dim=-1).transpose(1, 2).repeat_interleave(2, dim=1) for x in (query, key)
        )
        value, g, beta = (x.transpose(1, 2) for x in (value, g, beta))
        outputs, state = form(query / 8**0.5, key, value, g, beta, initial_state)
        return outputs.transpose(1, 2), state

    def run() -> torch.Tensor:
        ids = torch.arange(14).remainder(40)[None] * 7 % 40
        first = model(ids[:, :10], use_cache=True)
        parts, cache = [first.logits], first.past_key_values
        for t in range(10, 14):
            parts.append(model(ids[:, t : t + 1], past_key_values=cache).logits)
        return torch.cat(parts, dim=1)

    expected = run()
    with (
        mock.patch.object(modeling_qwen3_next, "torch_chunk_gated_delta_rule", replacement),
        mock.patch.object(modeling_qwen3_next, "torch_recurrent_gated_delta_rule", replacement),
    ):
        logits = run()
    assert calls == 3 * [10] + 12 * [1]
    assert (logits - expected).abs().max() / expected.abs().max() < BOUND


# Cost


@claim("linear-attention#cost")
def test_the_state_has_the_same_size_for_every_number_of_tokens(printed):
    shown = printed("examples", "memory")
    parts = [line.split(", cache ") for line in shown.values()]
    assert {state for state, _ in parts} == {"state 16,384 bytes"}
    cache = [int(size.removesuffix(" bytes").replace(",", "")) for _, size in parts]
    assert cache == [2 * 4 * int(name.split()[0]) * 32 * 4 for name in shown]


@claim("linear-attention#three-of-four")
def test_the_printed_sizes_are_those_of_qwen3_next(printed):
    from transformers import AutoConfig

    config = AutoConfig.for_model("qwen3_next")
    kinds = config.layer_types
    assert kinds == 12 * (3 * ["linear_attention"] + ["full_attention"])
    state = config.linear_num_value_heads * config.linear_key_head_dim
    state *= config.linear_value_head_dim * 4
    cache = 2 * config.num_key_value_heads * config.head_dim * 2
    shown = printed("examples", "qwen3_next")
    assert shown["state of a delta-rule layer, MB"] == f"{state / 1e6:.1f}"
    assert shown["cache of a softmax layer, kB a token"] == f"{cache / 1e3:.1f}"
    assert int(shown["tokens with the same memory"]) * cache == state
    hybrid = 12 * cache * 2**17 + 36 * state
    assert shown["three of four layers with a state, GB"] == f"{hybrid / 1e9:.1f}"
    assert shown["all layers with a cache, GB"] == f"{48 * cache * 2**17 / 1e9:.1f}"


# What it can't recall


@pytest.fixture(scope="module")
def recall():
    """The functions of the example."""
    return run_snippet("examples", CHAPTER, "recall")[0]


@claim("linear-attention#recall", kind="measurement")
def test_orthogonal_keys_are_recalled_exactly_up_to_the_width(recall):
    for n in (1, 16, 63, 64):
        for seed in range(5):
            for errors in recall["recall"](n, seed, orthogonal=True).values():
                assert errors.max() < 1e-5


@claim("linear-attention#recall", kind="measurement")
def test_random_keys_interfere_in_a_state_and_not_in_attention(recall):
    for n in (16, 64, 256):
        means = recall["mean_errors"](n)
        assert means["attention"] < 1e-3
        assert means["sum"] == pytest.approx(((n - 1) / 64) ** 0.5, rel=0.05)
        assert 0.2 < means["delta rule"] < 0.8 * means["sum"]


@claim("linear-attention#recall", kind="measurement")
def test_the_newest_pair_is_exact_and_the_oldest_is_lost(recall):
    errors = torch.stack([recall["recall"](64, seed)["delta rule"] for seed in range(100)])
    assert errors[:, -1].max() < 1e-5
    assert errors[:, 0].mean() > 0.9
    assert errors[:, :16].mean() > errors[:, 16:32].mean() > errors[:, 48:].mean()


@pytest.fixture(scope="module")
def copied():
    """The measured fractions, by layer and length."""
    found: dict[tuple[str, int], list[float]] = {}
    for run in measured("copying")[1]["runs"]:
        found.setdefault((run["mix"], run["n"]), []).append(run["copied"])
    assert {len(runs) for runs in found.values()} == {3}
    return found


@claim("linear-attention#copying", kind="measurement")
def test_a_trained_layer_with_attention_copies_every_length_and_a_state_does_not(copied):
    """A state copies more than its width, and not 128 tokens."""
    for n in (8, 16, 32, 64, 128):
        assert min(copied["attention", n]) > 0.999
    for mix in ("sum", "delta rule"):
        assert min(min(copied[mix, n]) for n in (8, 16, 32)) > 0.98
        assert max(copied[mix, 64]) < min(copied[mix, 32])
        assert max(copied[mix, 128]) < min(0.6, *copied[mix, 64])


@claim("linear-attention#copying")
def test_the_task_shows_the_text_and_then_each_token_after_it_was_to_be_written():
    ids, text = copying.make_batch(3, 5, torch.Generator().manual_seed(0))
    start = torch.full((5, 1), copying.START)
    assert ids.equal(torch.cat([text, start, text[:, :-1]], dim=1))


@claim("linear-attention#recall", kind="mathematics")
def test_no_linear_memory_reads_more_than_d_arbitrary_values_exactly():
    """The outputs of 64 + 1 keys of width 64 depend linearly on one another."""
    keys = normal(65, 64)
    assert torch.linalg.matrix_rank(keys) == 64
    values = normal(65, 64, seed=1)
    best = torch.linalg.lstsq(keys, values).solution
    assert (keys @ best - values).norm() > 1e-3

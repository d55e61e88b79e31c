"""The claims of the chapter on variants about whole models."""

from threading import Event

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import transformer
from corpus import Pair
from helpers import SNIPPETS, close, normal, run_snippet
from marks import claim
from trainer import Settings, Trainer
from transformer import Encoder, TransformerConfig, causal_mask
from translator import BOS, EOS, PAD, exact_match, padded
from variants.class_token import Classifier
from variants.decoder_2023 import Decoder2023, DecoderConfig
from variants.decoder_only import DecoderOnly
from variants.encoder_einops import Attention, EinopsEncoder
from variants.one_sequence import OneSequence, generate, new_one_sequence

CHAPTER = "variants"
SIZES = {"d_model": 32, "nhead": 4, "num_encoder_layers": 2, "dim_feedforward": 48}


def config(vocab_size: int = 20, **options) -> TransformerConfig:
    return TransformerConfig(vocab_size, vocab_size, **SIZES | {"dropout": 0.0} | options)


def decoder_only(**options) -> DecoderOnly:
    torch.manual_seed(0)
    return DecoderOnly(config(norm_first=True, **options)).eval()


def decoder_2023(**options) -> Decoder2023:
    torch.manual_seed(0)
    sizes = {"d_model": 32, "nhead": 4, "num_kv_heads": 2, "num_layers": 2, "dim_feedforward": 24}
    return Decoder2023(DecoderConfig(20, **sizes | options)).eval()


both = pytest.mark.parametrize("make", [decoder_only, decoder_2023])


def some_ids(batch: int, length: int, seed: int = 0) -> torch.Tensor:
    return torch.randint(3, 20, (batch, length), generator=torch.Generator().manual_seed(seed))


# The encoder with einops


@claim("models#einops")
def test_a_pattern_splits_tokens_into_heads_like_unflatten_and_transpose():
    names, _ = run_snippet("examples", "models", "split_by_name")
    x, heads = names["x"], names["heads"]
    assert heads.equal(x.unflatten(2, (2, 2)).transpose(1, 2))


@claim("models#einops")
def test_the_encoder_with_einops_equals_the_pre_norm_encoder_of_pytorch():
    ours = EinopsEncoder(32, 2, 4, 8, hidden_dim=48).double().eval()
    layer = nn.TransformerEncoderLayer(
        32, 4, 48, 0.0, "gelu", norm_first=True, batch_first=True, dtype=torch.float64
    )
    theirs = nn.TransformerEncoder(layer, 2, nn.LayerNorm(32, dtype=torch.float64), False)
    for target, attention, network in zip(
        theirs.layers, ours.attentions, ours.networks, strict=True
    ):
        target.self_attn.in_proj_weight.data = attention.to_qkv.weight.data
        nn.init.zeros_(target.self_attn.in_proj_bias)
        target.self_attn.out_proj.load_state_dict(attention.to_out[0].state_dict())
        target.norm1.load_state_dict(attention.norm.state_dict())
        target.norm2.load_state_dict(network[0].state_dict())
        target.linear1.load_state_dict(network[1].state_dict())
        target.linear2.load_state_dict(network[4].state_dict())
    x = normal(2, 7, 32)
    close(ours(x), theirs(x))


@claim("models#einops")
@pytest.mark.parametrize(("heads", "dim_head"), [(1, 32), (4, 8), (1, 16)])
def test_only_a_single_head_of_the_full_width_has_no_output_projection(heads, dim_head):
    attention = Attention(32, heads, dim_head)
    assert isinstance(attention.to_out, nn.Identity) == ((heads, dim_head) == (1, 32))
    assert attention(torch.randn(2, 5, 32)).shape == (2, 5, 32)


# The class token


def make_classifier(**options) -> Classifier:
    torch.manual_seed(0)
    return Classifier(config(norm_first=True, **options), classes=3).double().eval()


@claim("models#class-token")
def test_the_class_token_reads_all_real_tokens_and_no_padding():
    model, ids = make_classifier(), some_ids(1, 5)
    before = model(ids)
    close(model(F.pad(ids, (0, 4), value=PAD)), before)
    changed = ids.repeat(5, 1)
    changed.diagonal().copy_(ids[0] % 17 + 3)
    assert (model(changed) - before).abs().amax(dim=-1).min() > 1e-6


@claim("models#class-token")
def test_the_class_token_is_first_and_is_learned():
    model = make_classifier()
    seen = []
    model.encoder.register_forward_hook(lambda _, inputs, __: seen.append(inputs[0]))
    ids = some_ids(2, 5)
    model(ids).sum().backward()
    close(seen[0][:, 0], (model.class_token + model.position.table[0]).expand(2, -1))
    close(seen[0][:, 1:], model.embedding(ids) + model.position.table[1:6])
    assert model.class_token.grad.abs().sum() > 0


@claim("models#class-token")
def test_questions_are_classified_without_the_question_mark(printed):
    shown = printed("examples", "question")
    assert float(shown["with positions"].split("%")[0]) > 99
    assert float(shown["with positions, the teacher is busy"]) < 0.1
    assert float(shown["with positions, is the teacher busy"]) > 0.9
    one, other = "the teacher is busy", "is the teacher busy"
    assert shown[f"without positions, {one}"] == shown[f"without positions, {other}"]
    assert 90 < float(shown["without positions"].split("%")[0]) < 99


# Both decoders


@claim("models#decoder-2023")
def test_is_causal_lets_a_single_query_see_only_the_first_of_three_keys(printed):
    shown = printed("examples", "first_key", "models")
    assert shown == {"no mask": "2.0", "is_causal": "1.0"}


@claim("models#decoder-only")
@both
def test_later_tokens_do_not_change_a_single_bit(make):
    model, ids = make(), some_ids(2, 9)
    for place in range(1, 9):
        changed = ids.clone()
        changed[:, place:] = (ids[:, place:] + 1) % 17 + 3
        one, other = model(ids), model(changed)
        assert one[:, :place].equal(other[:, :place])
        assert not one[:, place].equal(other[:, place])


@claim("models#decoder-only")
@both
def test_a_batch_of_pairs_gives_the_same_results_as_each_pair_alone(make):
    """Source, <bos> and target have no gap between them, for any lengths in the batch."""
    model = make().double()
    one = OneSequence(model)
    sources = [some_ids(1, n, n)[0] for n in (3, 6, 1)]
    targets = [torch.cat([torch.tensor([BOS]), some_ids(1, n, 9 + n)[0]]) for n in (4, 2, 7)]
    together = one(padded(sources), padded(targets))
    for i, (source, target) in enumerate(zip(sources, targets, strict=True)):
        alone = model(torch.cat([source, target])[None])[0, len(source) :]
        close(together[i, : len(target)], alone)


@claim("models#decoder-only")
@both
def test_the_loss_ignores_the_source_tokens(make):
    """Logits at source positions do not enter the loss; the logit at <bos> does."""
    model = make()
    one = OneSequence(model)
    seen = []

    def keep(_, __, out):
        out.retain_grad()
        seen.append(out)

    model.register_forward_hook(keep)
    src, tgt = some_ids(1, 4), torch.tensor([[BOS, 5, 6, EOS]])
    logits = one(src, tgt[:, :-1])
    F.cross_entropy(logits[0], tgt[0, 1:]).backward()
    share = seen[0].grad[0].abs().sum(dim=-1)
    assert (share > 0).tolist() == [False] * 4 + [True] * 3


@claim("models#decoder-only")
@both
def test_it_is_trained_by_the_same_code_as_the_transformer(make):
    """The Trainer trains both models until they translate."""
    pairs = [Pair(list("abcdefghi"), list("stuv"), ""), Pair(list("cab"), list("zyxw"), "")]
    found = new_one_sequence(lambda size: make().train(), pairs)
    assert found.source is found.target and len(found.target) == 20
    assert exact_match(found, pairs)["all"] == 0
    settings = Settings(steps=40, batch_size=2, warmup_steps=5)
    losses = [loss for loss, _ in Trainer(found, pairs, [], settings).steps(Event())]
    assert losses[-1] < losses[0] / 2
    assert all(p.grad is not None for p in found.model.parameters())
    assert exact_match(found, pairs)["all"] == 1


@claim("models#decoder-only")
@both
def test_generate_writes_the_most_likely_token_and_never_padding(make):
    model = make().double()
    model.output.weight.data[PAD] += 10.0
    prompts = [some_ids(1, n, n)[0] for n in (3, 6)]
    found = generate(model.train(), padded(prompts), max_len=5, eos_id=-1)
    assert model.training
    model.eval()
    for prompt, row in zip(prompts, found, strict=True):
        ids = prompt
        for token in row:
            logits = model(ids[None])[0, -1]
            logits[PAD] = -torch.inf
            assert token == logits.argmax() != PAD
            ids = torch.cat([ids, token[None]])


# The decoder alone


@claim("models#decoder-only")
def test_the_decoder_alone_is_an_encoder_under_a_causal_mask():
    model, ids = decoder_only().double(), some_ids(2, 5)
    x = model.embedding(ids) + model.position.table[:5]
    stack = Encoder(model.config).double().eval()
    stack.load_state_dict(model.stack.state_dict())
    close(model(ids), model.output(stack(x, causal_mask(5))))
    assert not [name for name, _ in model.named_modules() if "cross" in name]


@claim("models#decoder-only")
def test_a_layer_without_cross_attention_has_three_quarters_of_the_weights():
    sizes, square = TransformerConfig(9, 9, 32, 4, 1, 1, 4 * 32), 32 * 32
    for kind, squares in (transformer.EncoderLayer, 12), (transformer.DecoderLayer, 16):
        weights = [p.numel() for p in kind(sizes).parameters() if p.dim() == 2]
        assert sum(weights) == squares * square


# The decoder of 2023


def by_torch_alone(model: Decoder2023, ids: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    """The same with only PyTorch's functions; the rotation uses complex numbers."""
    c, n = model.config, ids.size(1)
    size = c.d_model // c.nhead
    frequency = c.base ** (-torch.arange(0, size, 2, dtype=torch.float64) / size)
    turn = torch.polar(torch.ones(n, size // 2, dtype=torch.float64), places[:, None] * frequency)

    def heads(x, count, turned=True):
        x = x.view(len(ids), n, count, size).transpose(1, 2)
        if turned:
            pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
            x = torch.view_as_real(pairs * turn).flatten(-2)
        return x.repeat_interleave(c.nhead // count, dim=1)

    def norm(x, module):
        return F.rms_norm(x, (c.d_model,), module.weight, c.norm_eps)

    x = F.embedding(ids, model.embedding.weight)
    for layer in model.layers:
        own, y = layer.attention, norm(x, layer.attention_norm)
        q = heads(F.linear(y, own.query.weight), c.nhead)
        k = heads(F.linear(y, own.key.weight), c.num_kv_heads)
        v = heads(F.linear(y, own.value.weight), c.num_kv_heads, False)
        scores = q @ k.transpose(-2, -1) / size**0.5
        later = torch.ones(n, n, dtype=torch.bool).triu(1)
        mixed = scores.masked_fill(later, -torch.inf).softmax(dim=-1) @ v
        x = x + F.linear(mixed.transpose(1, 2).flatten(2), own.output.weight)
        y, network = norm(x, layer.feed_forward_norm), layer.feed_forward
        hidden = F.silu(F.linear(y, network.gate.weight)) * F.linear(y, network.up.weight)
        x = x + F.linear(hidden, network.down.weight)
    return F.linear(norm(x, model.norm), model.output.weight)


@claim("models#decoder-2023")
@pytest.mark.parametrize("kv", [1, 2, 4])
def test_the_decoder_of_2023_equals_a_second_implementation(kv):
    model, ids = decoder_2023(num_kv_heads=kv, base=500.0).double(), some_ids(2, 11)
    for parameter in model.parameters():
        parameter.data = parameter.data + 0.1 * normal(*parameter.shape)
    for places in (torch.arange(11), torch.arange(11) * 3 + 2):
        close(model(ids, places), by_torch_alone(model, ids, places), 1e-8)
    close(model(ids), model(ids, torch.arange(11)))


@claim("models#decoder-2023")
def test_only_distances_matter():
    model, ids = decoder_2023().double(), some_ids(2, 9)
    close(model(ids, torch.arange(9) + 1000), model(ids), 1e-8)
    assert (model(ids, torch.arange(9) * 2) - model(ids)).abs().max() > 0.01


@claim("models#decoder-2023")
def test_our_biases_are_in_the_feed_forward_network_and_in_attention():
    model = transformer.Transformer(TransformerConfig(9, 9, 32, 4, 1, 1, 64))
    linear = [(name, each) for name, each in model.named_modules() if isinstance(each, nn.Linear)]
    biases = {tuple(name.split(".")[-2:]) for name, each in linear if each.bias is not None}
    layers = ("query", "key", "value", "output")
    attentions = {(of, name) for of in ("self_attention", "cross_attention") for name in layers}
    assert biases == attentions | {("feed_forward", "linear1"), ("feed_forward", "linear2")}


@claim("models#decoder-2023")
def test_the_parameter_count_of_the_decoder_of_2023_follows_the_formula():
    d, kv, layers, width = 32, 2, 3, 40
    model = decoder_2023(num_kv_heads=kv, num_layers=layers, dim_feedforward=width)
    layer = 2 * d * d + 2 * d * d * kv // 4 + 3 * d * width + 2 * d
    assert sum(p.numel() for p in model.parameters()) == 2 * 20 * d + layers * layer + d
    assert not list(model.buffers())  # no table of positions


@claim("models#decoder-2023", kind="measurement")
def test_the_decoder_of_2023_has_at_most_150_lines():
    text = (SNIPPETS / "variants" / "decoder_2023.py").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 150


@claim("models#decoder-2023")
def test_a_cache_of_rotated_keys_gives_the_same_outputs(printed):
    shown = printed("exercises", "cached")
    assert shown["the same as all at once"] == "True"
    assert int(shown["numbers kept, for each token"]) == 2 * 4 * 2 * 16  # k and v, layers, heads

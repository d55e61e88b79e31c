"""The claims of the chapter on the encoder and the decoder."""

from typing import NamedTuple

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.testing import assert_close

import by_hand
import pencil
from evidence.comparisons import (
    as_mask,
    compare_prefixes,
    randomized,
    some_real,
)
from helpers import DTYPES, few, run_snippet, seeds
from marks import claim, mutation
from pencil_numbers import pencil_tables, pencil_weight
from transformer import (
    Decoder,
    DecoderLayer,
    Encoder,
    EncoderLayer,
    LayerNorm,
    Transformer,
    TransformerConfig,
    causal_mask,
)

CHAPTER = "encoder-decoder"


def configuration(nhead: int = 4, norm_first: bool = False, **changes) -> TransformerConfig:
    small = {"d_model": 8 * nhead, "num_encoder_layers": 2, "num_decoder_layers": 2}
    small |= {"dim_feedforward": 16, "dropout": 0.0}
    return TransformerConfig(9, 12, nhead=nhead, norm_first=norm_first, **(small | changes))


class Case(NamedTuple):
    """A configuration, with random inputs of the decoder."""

    config: TransformerConfig
    y: torch.Tensor
    memory: torch.Tensor


@st.composite
def draw_case(draw) -> Case:
    torch.manual_seed(draw(seeds))
    nhead, dtype = draw(st.integers(1, 3)), draw(st.sampled_from(DTYPES))
    batch, d_model = draw(st.integers(1, 3)), 8 * nhead
    y = torch.randn(batch, draw(st.integers(1, 6)), d_model, dtype=dtype)
    memory = torch.randn(batch, draw(st.integers(1, 6)), d_model, dtype=dtype)
    return Case(configuration(nhead, draw(st.booleans())), y, memory)


cases = draw_case()


# The layer, line by line


@claim("encoder-decoder#encoder-layer")
@few
@given(case=cases)
def test_an_encoder_layer_is_attention_then_feed_forward_each_with_residual_and_norm(case):
    x = case.y
    layer = randomized(EncoderLayer(case.config), x.dtype)
    mask = as_mask(some_real(*x.shape[:2]))
    first, second = layer.norm1, layer.norm2

    def attend(y):
        return layer.self_attention(y, y, y, mask)[0]

    if case.config.norm_first:
        a = x + attend(first(x))
        expected = a + layer.feed_forward(second(a))
    else:
        a = first(x + attend(x))
        expected = second(a + layer.feed_forward(a))
    assert_close(layer(x, mask), expected)


@claim("encoder-decoder#decoder-layer")
@few
@given(case=cases)
def test_a_decoder_layer_is_self_attention_then_cross_attention_then_feed_forward(case):
    config, y, memory = case
    layer = randomized(DecoderLayer(config), y.dtype)
    mask, memory_mask = causal_mask(y.size(1)), as_mask(some_real(*memory.shape[:2]))
    first, second, third = layer.norm1, layer.norm2, layer.norm3

    def attend(x):
        return layer.self_attention(x, x, x, mask)[0]

    def read(x):
        return layer.cross_attention(x, memory, memory, memory_mask)[0]

    if config.norm_first:
        a = y + attend(first(y))
        b = a + read(second(a))
        expected = b + layer.feed_forward(third(b))
    else:
        a = first(y + attend(y))
        b = second(a + read(a))
        expected = third(b + layer.feed_forward(b))
    assert_close(layer(y, memory, mask, memory_mask), expected)


@claim("encoder-decoder#by-hand", kind="mathematics")
def test_only_the_value_read_decides_the_first_token(printed):
    shown, translator = printed("examples", "first_token"), pencil.load_pencil()
    attention = translator.model.decoder.layers[0].cross_attention
    bos, reads = torch.tensor([[1]]), {}

    def first_token(word: str, read: torch.Tensor | None) -> str:
        def replace(module, args, output):
            reads[word] = output[0]
            return output if read is None else (read, output[1])

        ids = translator.source.encode(f"why do {word} work ?".split())
        hook = attention.register_forward_hook(replace)
        logits = translator.model(torch.tensor([ids]), bos)
        hook.remove()
        return translator.target.tokens[logits[0, 0].argmax()]

    tokens = {word: first_token(word, None) for word in ("we", "they")}
    assert tokens == {word: shown[f"{word}, first token"] for word in tokens}
    assert tokens == {"we": "我们", "they": "他们"}
    read = dict(reads)
    assert first_token("we", read["they"]) == "他们"
    assert first_token("they", read["we"]) == "我们"
    for word in tokens:
        assert shown[f"{word}, weight in head 0"] == shown[f"{word}, weight in head 1"] == "1.00"
    assert shown["we, after self-attention"] == shown["they, after self-attention"]
    assert attention.output.weight[2].tolist() == [1, -1, 1, 1]  # a column of W^O on the page
    assert attention.output.bias[2] == 0


@claim("encoder-decoder#decoder-layer")
@mutation(
    "examples/encoder-decoder/decoder_layer.py",
    "y = self.norm2(y + read)",
    "y = self.norm2(read)",
    fault="cross-attention has no residual connection",
)
@pytest.mark.parametrize(
    ("name", "cls"), [("encoder_layer", EncoderLayer), ("decoder_layer", DecoderLayer)]
)
def test_the_short_layers_equal_those_of_the_model(name, cls):
    example, _ = run_snippet("examples", CHAPTER, name)
    short = randomized(example["layer"])
    layer = cls(configuration(d_model=32, dim_feedforward=128))
    layer.load_state_dict(short.state_dict())
    decoder = cls is DecoderLayer
    inputs = (example["y"], example["memory"], causal_mask(4)) if decoder else (example["x"],)
    assert torch.equal(short(*inputs), layer(*inputs))


@claim("by-hand#encoder-attention", kind="mathematics")
def test_the_encoders_self_attention_changes_nothing_in_the_pencil_model():
    """Its output matrix adds one number to all entries of a word; LayerNorm subtracts it again."""
    weight = pencil_weight("encoder.layers.0.self_attention.output.weight")
    assert torch.equal(weight, torch.tensor([0.0, 0, 0, 1]).expand(4, 4))
    translator = pencil.load_pencil()
    model = translator.model.double()
    output = model.encoder.layers[0].self_attention.output
    pairs = pencil.sentences()
    sources = [torch.tensor([translator.source.encode(pair.source)]) for pair in pairs]
    before = [model.encode(src) for src in sources]
    with torch.no_grad():
        output.weight.zero_()
    for src, memory in zip(sources, before, strict=True):
        assert_close(model.encode(src), memory, rtol=0, atol=1e-12)
    with torch.no_grad():
        output.bias.zero_()
    for src, memory in zip(sources, before, strict=True):
        assert (model.encode(src) - memory).abs().max() > 0.1  # the biases have an effect


@claim("by-hand#exercises", kind="measurement")
@pytest.mark.parametrize(
    ("attention", "correct"),
    [("encoder.self", 12), ("decoder.self", 0), ("decoder.cross", 1)],
)
def test_the_pencil_model_needs_only_the_attentions_of_the_decoder(attention, correct):
    stack, kind = attention.split(".")
    model = by_hand.load()
    model.weights[f"{stack}.layers.0.{kind}_attention.output.weight"] = [[0] * 4] * 4
    right = [model.translate(pair.source) == pair.target for pair in pencil.sentences()]
    assert (sum(right), len(right)) == (correct, 12)


# Stacks


@claim("encoder-decoder#encoder")
def test_a_stack_is_its_layers_one_after_the_other(norm_first, dtype):
    torch.manual_seed(0)
    config = configuration(norm_first=norm_first, num_encoder_layers=3, num_decoder_layers=4)
    encoder, decoder = randomized(Encoder(config), dtype), randomized(Decoder(config), dtype)
    x, y = torch.randn(2, 5, 32, dtype=dtype), torch.randn(2, 6, 32, dtype=dtype)
    memory, mask, expected = encoder(x), causal_mask(6), x
    assert (len(encoder.layers), len(decoder.layers)) == (3, 4)
    for layer in encoder.layers:
        expected = layer(expected)
    assert_close(memory, encoder.norm(expected))
    expected = y
    for layer in decoder.layers:
        expected = layer(expected, memory, mask)
    assert_close(decoder(y, memory, mask), decoder.norm(expected))


@claim("encoder-decoder#encoder")
@mutation(
    "transformer.py",
    "nn.ModuleList(DecoderLayer(config) for _ in range(count))",
    "nn.ModuleList([DecoderLayer(config)] * count)",
    fault="all decoder layers are the same layer",
)
def test_every_layer_has_weights_of_its_own():
    for stack in (Encoder(configuration()), Decoder(configuration())):
        first, second = stack.layers
        assert not {id(p) for p in first.parameters()} & {id(p) for p in second.parameters()}
        assert not torch.equal(
            first.feed_forward.linear1.weight, second.feed_forward.linear1.weight
        )


@claim("encoder-decoder#encoder")
def test_a_stack_ends_in_a_layer_norm_only_if_norm_first():
    for stack in (Encoder, Decoder):
        assert isinstance(stack(configuration(norm_first=True)).norm, LayerNorm)
        assert isinstance(stack(configuration()).norm, nn.Identity)
        assert stack(configuration(norm_first=True, layer_norm_eps=0.25)).norm.eps == 0.25


@claim("encoder-decoder#exercises")
def test_one_layer_used_six_times_has_a_sixth_of_the_parameters(printed):
    shown = printed("exercises", "shared_layers")
    count = {name: int(shown[name].replace(",", "")) for name in ("six layers", "one, six times")}
    assert count["six layers"] == 6 * count["one, six times"]
    assert shown["the same as once"] == "False"
    assert shown["shape"] == "(1, 5, 32)"
    names = len(EncoderLayer(configuration()).state_dict())
    assert shown["names in the checkpoint"] == str(6 * names)


# Cross-attention and memory


@claim("encoder-decoder#cross-attention", kind="mathematics")
def test_most_of_the_weight_is_on_the_word_that_is_translated_next():
    weights = pencil_tables()["decoder.layers.0.cross_attention.weights.0"]
    aligned = [weights.columns[max(range(5), key=row.__getitem__)] for row in weights.values]
    assert aligned[:4] == ["we", "why", "work", "?"]
    assert all(max(row) > 0.8 for row in weights.values[:4])


@claim("encoder-decoder#cross-attention")
@few
@given(case=cases)
def test_cross_attention_has_a_row_for_each_target_and_a_column_for_each_source_token(case):
    config, y, memory = case
    layer = DecoderLayer(config).to(y.dtype)
    weights = layer.cross_attention(y, memory, memory, need_weights=True)[1]
    assert weights.shape == (y.size(0), config.nhead, y.size(1), memory.size(1))
    assert_close(weights.sum(dim=-1), torch.ones_like(weights[..., 0]))
    assert layer(y, memory).shape == y.shape


@claim("encoder-decoder#cross-attention")
@few
@given(case=cases)
def test_every_output_changes_with_the_source(case):
    config, y, memory = case
    decoder, mask = randomized(Decoder(config), y.dtype), causal_mask(y.size(1))
    before = decoder(y, memory.requires_grad_(), mask)
    after = decoder(y, memory + torch.randn_like(memory), mask)
    assert (before != after).any(dim=-1).all()
    (gradient,) = torch.autograd.grad(before[0, 0, 0], memory)
    assert gradient[0].any(dim=-1).all()
    assert not gradient[1:].any()  # never another sentence of the batch


# Masks


@claim("encoder-decoder#decoder")
@few
@given(case=cases)
def test_a_future_token_does_not_change_a_single_bit_of_earlier_outputs(case):
    config, y, memory = case
    length, mask = y.size(1), causal_mask(y.size(1))
    for module in (DecoderLayer(config), Decoder(config)):
        randomized(module, y.dtype)
        before = module(y, memory, mask)
        for place in range(length):
            changed = y.clone()
            changed[:, place] = torch.randn_like(y[:, place])
            moved = (module(changed, memory, mask) != before).any(dim=-1)[0]
            assert moved.tolist() == [i >= place for i in range(length)]


@claim("layers-in-practice#one-pass")
@few
@given(case=cases)
def test_one_pass_over_the_target_equals_one_pass_for_each_prefix(case):
    config, y, memory = case
    compare_prefixes(randomized(Decoder(config), y.dtype), y, memory)


@claim("encoder-decoder#exercises")
def test_a_padding_token_matters_only_without_the_mask(printed):
    shown = printed("exercises", "padded_source")
    assert shown["without a mask"] == f"{100 / 4:.2f} {140 / 6:.2f}"
    assert shown["with the mask"] == "30.00 26.00"
    assert shown["nothing but padding"] == "0.00 0.00"


# Parameters and memory


@claim("encoder-decoder#decoder")
def test_the_model_passes_memory_from_the_last_encoder_layer_to_each_decoder_layer():
    model = Transformer(configuration()).eval()
    given, read = [], []
    model.encoder.register_forward_hook(lambda module, args, output: given.append(output))
    for layer in model.decoder.layers:
        layer.register_forward_pre_hook(lambda module, args: read.append(args[1]))
    model(torch.tensor([[4, 5, 6, 7, 8]]), torch.tensor([[1, 4, 5]]))
    assert len(given) == 1
    assert all(tensor is given[0] for tensor in read)

"""Comparisons of the book's code with its references: the tests of claims make them, and a proof.

A comparison raises AssertionError if two numbers differ by more than the bound of the claim, and
returns the largest differences. scripts/proofs/equalities.py makes each with larger tensors than
the test, for the page Proofs. It runs without pytest, so this module imports none of it.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.testing import assert_close

from decode import KeyValueCache, Uncached, eval_mode
from evidence.references import (
    TorchTransformer,
    exact_rows,
    shift_matrix,
    sinusoid,
    torch_modules,
    with_torch_names,
)
from trainer import label_smoothed_cross_entropy
from transformer import (
    Decoder,
    DecoderLayer,
    Encoder,
    EncoderLayer,
    LayerNorm,
    MultiHeadAttention,
    Transformer,
    TransformerConfig,
    causal_mask,
    fused_attention,
    scaled_dot_product_attention,
    sinusoidal_positional_encoding,
)
from variants.alibi import ALiBiAttention, alibi_bias
from variants.grouped import GroupedQueryAttention
from variants.rmsnorm import RMSNorm
from variants.rotary import rotate


def randomized(
    module: nn.Module, dtype: torch.dtype = torch.float32, std: float = 0.4
) -> nn.Module:
    """The module with every parameter random, those of the LayerNorms too."""
    module.to(dtype)
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=std)
    return module


def some_real(batch: int, length: int) -> Tensor:
    """True where a position has a token: always the first, perhaps not the last."""
    lengths = torch.randint(1, length + 1, (batch, 1))
    return torch.arange(length) < lengths


def as_mask(real: Tensor) -> Tensor:
    return real[:, None, None, :]


Figures = dict[str, tuple[float, float]]  # largest difference and bound by kind of numbers


def check(
    ours: Sequence[Tensor], theirs: Sequence[Tensor], bound: float, kind: str = "", **options
) -> Figures:
    """Compare tensors, which are results unless a kind is given; options are assert_close's."""
    difference = max(
        (one - other).abs().max().item() for one, other in zip(ours, theirs, strict=True)
    )
    label = str(ours[0].dtype).removeprefix("torch.") + kind
    message = f"{label}: {difference:.1e} exceeds the claim's bound {bound:.0e}"
    assert_close(ours, theirs, rtol=0, atol=bound, msg=lambda text: f"{text}\n{message}", **options)
    return {label: (difference, bound)}


def check_modules(
    ours: nn.Module,
    theirs: nn.Module,
    implementations: Sequence[Callable[[], Tensor]],
    reference: Callable[[], Tensor],
    inputs: Sequence[Tensor],
    bound: float,
) -> Figures:
    """Compare outputs, and the gradients of inputs and parameters.

    Both modules get the same weights; our module may have several implementations.
    """
    theirs.load_state_dict(with_torch_names(ours.state_dict()))
    expected, outputs = reference(), [implementation() for implementation in implementations]
    arriving = torch.randn_like(expected)

    def gradients(output: Tensor, module: nn.Module) -> dict[str, Tensor]:
        tensors = {f"input {i}": x for i, x in enumerate(inputs)} | dict(module.named_parameters())
        values = torch.autograd.grad(output, [*tensors.values()], arriving, retain_graph=True)
        return with_torch_names(dict(zip(tensors, values, strict=True)))

    right, found = gradients(expected, theirs), [gradients(output, ours) for output in outputs]
    return check(outputs, [expected for _ in outputs], bound) | check(
        [each[name] for each in found for name in right],
        [right[name] for _ in found for name in right],
        bound,
        ", gradients",
    )


# Positions


def compare_table(n: int, d: int, base: float = 10000.0) -> Figures:
    cells = [[sinusoid(p, column, d, base) for column in range(d)] for p in range(n)]
    expected = torch.tensor(cells, dtype=torch.float64)
    return check([sinusoidal_positional_encoding(n, d, base)], [expected], 4e-8, check_dtype=False)


def compare_shift(positions: Tensor, k: int, d: int) -> Figures:
    moved = exact_rows(positions, d) @ shift_matrix(k, d).T
    return check([moved], [exact_rows(positions + k, d)], 1e-9)


def compare_inner_products(positions: Tensor, k: int, d: int) -> Figures:
    products = (exact_rows(positions, d) * exact_rows(positions + k, d)).sum(dim=-1)
    theta = 10000 ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    return check([products], [(k * theta).cos().sum().expand_as(products)], 1e-9)


# Sublayers


def compare_attention(
    masks: str,
    nhead: int,
    dtype: torch.dtype,
    d: int = 16,
    sizes: tuple[int, int, int] = (2, 5, 7),
    std: float = 0.3,
) -> Figures:
    """With masks that are none, causal, padding or random; sizes of batch, queries and keys."""
    torch.manual_seed(0)
    ours = randomized(MultiHeadAttention(d, nhead), dtype, std)
    theirs = nn.MultiheadAttention(d, nhead, batch_first=True, dtype=dtype)
    batch, n, m = sizes
    m = n if masks == "causal" else m
    x = torch.randn(batch, n, d, dtype=dtype, requires_grad=True)
    y, z = torch.randn(2, batch, m, d, dtype=dtype, requires_grad=True)
    causal, real = causal_mask(n)[0, 0], some_real(batch, m)
    whole = torch.rand(batch, nhead, n, m) < 0.6
    whole[..., 0] = True  # torch's module gives NaN to a query without a key
    mask, opposite = {
        "none": (None, {}),
        "causal": (causal, {"attn_mask": ~causal}),
        "padding": (as_mask(real), {"key_padding_mask": ~real}),
        "random": (whole, {"attn_mask": ~whole.flatten(0, 1)}),
    }[masks]
    bound = {torch.float32: 2e-5, torch.float64: 2e-13}[dtype]
    figures = check_modules(
        ours,
        theirs,
        [lambda w=need_weights: ours(x, y, z, mask, w)[0] for need_weights in (True, False)],
        lambda: theirs(x, y, z, **opposite)[0],
        [x, y, z],
        bound,
    )
    check(
        ours(x, y, z, mask, True)[1:],
        theirs(x, y, z, **opposite, average_attn_weights=False)[1:],
        bound,
    )
    return figures


def compare_fused_attention(tensors: Sequence[Tensor], mask: Tensor | None) -> Figures:
    """Fused and explicit attention of query, key and value."""
    bound = {torch.float32: 1e-6, torch.float64: 1e-14}[tensors[0].dtype]
    fused, explicit = (
        attend(*tensors, mask)[0] for attend in (fused_attention, scaled_dot_product_attention)
    )
    arriving = torch.randn_like(explicit)
    gradients = [torch.autograd.grad(output, tensors, arriving) for output in (fused, explicit)]
    return check([fused], [explicit], bound) | check(*gradients, 10 * bound, ", gradients")


def compare_layer_norm(x: Tensor, eps: float = 1e-5) -> Figures:
    ours = randomized(LayerNorm(x.size(-1), eps), x.dtype, std=1)
    theirs = nn.LayerNorm(x.size(-1), eps, dtype=x.dtype)
    bound = {torch.float32: 2e-3, torch.float64: 1e-8}[x.dtype]
    return check_modules(ours, theirs, [lambda: ours(x)], lambda: theirs(x), [x], bound)


def compare_rms_norm(x: Tensor, eps: float = 1e-5) -> Figures:
    ours = randomized(RMSNorm(x.size(-1), eps), x.dtype, std=1)
    theirs = nn.RMSNorm(x.size(-1), eps, dtype=x.dtype)
    return check_modules(ours, theirs, [lambda: ours(x)], lambda: theirs(x), [x], 1e-9)


def compare_grouped_query(x: Tensor, nhead: int, kv: int) -> Figures:
    """Causal attention with kv shared heads, by PyTorch's function with enable_gqa."""
    (batch, n, d), mask = x.shape, causal_mask(x.size(1))
    ours = GroupedQueryAttention(d, nhead, kv).to(x.dtype)
    heads = F.scaled_dot_product_attention(
        *(in_heads(part(x), d // nhead) for part in (ours.query, ours.key, ours.value)),
        attn_mask=mask,
        enable_gqa=True,
    )
    expected = ours.output(heads.transpose(1, 2).flatten(2))
    outputs = [ours(x, x, x, mask, need_weights)[0] for need_weights in (False, True)]
    assert ours(x, x, x, mask, need_weights=True)[1].shape == (batch, nhead, n, n)
    return check(outputs, [expected, expected], 1e-9)


def in_heads(x: Tensor, head_dim: int) -> Tensor:
    return x.unflatten(-1, (-1, head_dim)).transpose(1, 2)


def compare_alibi(x: Tensor, nhead: int, causal: bool) -> Figures:
    """With PyTorch's function, whose mask is the bias."""
    n, d = x.shape[1:]
    ours, mask = ALiBiAttention(d, nhead).to(x.dtype), causal_mask(n) if causal else None
    bias = alibi_bias(n, nhead).to(x.dtype)
    if mask is not None:
        bias = bias.masked_fill(~mask, -math.inf)
    q, k, v = (ours.split(part(x)) for part in (ours.query, ours.key, ours.value))
    heads = F.scaled_dot_product_attention(q, k, v, bias)
    expected = ours.output(heads.transpose(1, 2).flatten(2))
    output, weights = ours(x, x, x, mask, need_weights=True)
    fast, nothing = ours(x, x, x, mask)
    assert nothing is None
    return check([output, fast, weights @ v], [expected, expected, heads], 1e-9)


def compare_rotated_scores(q: Tensor, k: Tensor, shift: int) -> Figures:
    """The scores of a sentence whose positions start at 0, and at shift."""
    here = torch.arange(q.size(-2))
    moved, scores = (rotate(q, at) @ rotate(k, at).mT for at in (here + shift, here))
    return check([moved], [scores], 1e-9)


# Layers, stacks, the model


def check_with_torch(
    part: type[nn.Module],
    config: TransformerConfig,
    dtype: torch.dtype,
    batch: int,
    length: int,
    memory_length: int = 1,
    std: float = 0.4,
) -> Figures:
    """One of our layers or stacks with that of torch.nn, with padding and causal masks."""
    ours, theirs = randomized(part(config), dtype, std), torch_modules(config, dtype)[part]
    shape = batch, length, config.d_model
    x = torch.randn(shape, dtype=dtype, requires_grad=True)
    memory = torch.randn(batch, memory_length, config.d_model, dtype=dtype, requires_grad=True)
    real, source = some_real(batch, length), some_real(batch, memory_length)
    causal = causal_mask(length)
    bound = {torch.float32: 2e-4, torch.float64: 1e-7}[dtype]
    if part in (EncoderLayer, Encoder):
        return check_modules(
            ours,
            theirs,
            [lambda: ours(x, as_mask(real))],
            lambda: theirs(x, src_key_padding_mask=~real),
            [x],
            bound,
        )
    return check_modules(
        ours,
        theirs,
        [lambda: ours(x, memory, causal & as_mask(real), as_mask(source))],
        lambda: theirs(
            x,
            memory,
            tgt_mask=~causal[0, 0],
            tgt_key_padding_mask=~real,
            memory_key_padding_mask=~source,
        ),
        [x, memory],
        bound,
    )


def compare_encoder_layers(*arguments: Any) -> Figures:
    return check_with_torch(EncoderLayer, *arguments)


def compare_decoder_layers(*arguments: Any) -> Figures:
    return check_with_torch(DecoderLayer, *arguments)


def compare_stacks(stack: type[Encoder] | type[Decoder], *arguments: Any) -> Figures:
    return check_with_torch(stack, *arguments)


def compare_model(ours: Transformer, src: Tensor, tgt: Tensor) -> Figures:
    """Logits and all gradients with those of nn.Transformer."""
    dtype = ours.output.weight.dtype
    theirs = TorchTransformer(ours, dtype)
    bound = {torch.float32: 1e-3, torch.float64: 1e-7}[dtype]
    return check_modules(
        ours, theirs, [lambda: ours(src, tgt)], lambda: theirs(src, tgt), [], bound
    )


def compare_prefixes(decoder: Decoder, y: Tensor, memory: Tensor) -> Figures:
    """The last outputs of one pass for each prefix with those of one pass over the target."""
    n = y.size(1)
    steps = [decoder(y[:, :i], memory, causal_mask(i))[:, -1] for i in range(1, n + 1)]
    return check([torch.stack(steps, 1)], [decoder(y, memory, causal_mask(n))], 1e-4)


def compare_changed_token(model: Transformer, src: Tensor, tgt: Tensor, place: int) -> Figures:
    """How many numbers before a changed token change; at the token itself some do."""
    changed = tgt.clone()
    changed[:, place] = changed[:, place] % (model.config.tgt_vocab_size - 1) + 1
    before, after = model(src, tgt), model(src, changed)
    moved = (before[:, place] - after[:, place]).abs().max()
    assert moved > 1e-3, f"the changed token changes its own logits by {moved:.1e} only"
    count = (before != after)[:, :place].to(before.dtype).sum()
    return check([count], [torch.zeros_like(count)], 0, ", numbers changed")


def compare_padding(model: Transformer, src: Tensor, tgt: Tensor, pads: tuple[int, int]) -> Figures:
    """Logits of real tokens with more padding in source and target, and without."""
    padded = model(F.pad(src, (0, pads[0])), F.pad(tgt, (0, pads[1])))
    return check([padded[:, : tgt.size(1)]], [model(src, tgt)], 1e-11)


def compare_cache(model: Transformer, src: Tensor, tgt: Tensor) -> Figures:
    """Logits of one token after another, with the cache and without, with those of one pass."""
    with eval_mode(model):
        logits = model(src, tgt)
        steps = [
            torch.stack([progress.step(ids) for ids in tgt.T], 1)
            for progress in (KeyValueCache(model, src), Uncached(model, src))
        ]
    return check(steps, [logits, logits], {torch.float32: 1e-5, torch.float64: 1e-11}[logits.dtype])


def compare_loss(logits: Tensor, targets: Tensor, smoothing: float, ignored: int) -> Figures:
    """The label-smoothed loss and its gradient with PyTorch's."""
    ours, theirs = (logits.clone().requires_grad_() for _ in range(2))
    loss = label_smoothed_cross_entropy(ours, targets, smoothing, ignored)
    expected = F.cross_entropy(
        theirs.flatten(0, -2), targets.flatten(), ignore_index=ignored, label_smoothing=smoothing
    )
    bound = {torch.float32: 1e-5, torch.float64: 1e-7}[logits.dtype]
    figures = check([loss], [expected], bound, equal_nan=True)
    if loss.isfinite():  # not if every target is ignored
        gradients = (torch.autograd.grad(*pair) for pair in ((loss, ours), (expected, theirs)))
        figures |= check(*gradients, bound, ", gradients")
    return figures

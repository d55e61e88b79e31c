"""MarianMTModel of the library transformers with random weights, and ours with the same weights."""

from typing import Any

import torch
from torch import Tensor

from decode import eval_mode
from variants.marian import Marian, load_marian

OPUS_MT = {  # config.json of opus-mt-en-zh and opus-mt-zh-en: all that sets a shape or a function
    "d_model": 512,
    "encoder_layers": 6,
    "decoder_layers": 6,
    "encoder_attention_heads": 8,
    "decoder_attention_heads": 8,
    "encoder_ffn_dim": 2048,
    "decoder_ffn_dim": 2048,
    "activation_function": "swish",
    "max_position_embeddings": 512,
    "scale_embedding": True,
    "forced_eos_token_id": None,
}
SMALL = {
    "d_model": 64,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_ffn_dim": 128,
    "decoder_ffn_dim": 128,
    "max_position_embeddings": 64,
}
VOCAB_SIZE = 65001  # of both published models
EOS = 0
Models = tuple[Any, Marian]  # transformers' and ours


def random_models(vocab_size: int, seed: int = 0, std: float = 0.04, **sizes: Any) -> Models:
    """Both models, with every weight random; only the vector of the padding token is zero.

    With 512 features std should be about 0.04: with 0.1 the six layers of the decoder forget
    the target tokens, whose change would change the logits by a hundred-thousandth only.
    """
    from transformers import MarianConfig, MarianMTModel

    pad = vocab_size - 1
    ids = {"pad_token_id": pad, "decoder_start_token_id": pad, "eos_token_id": EOS}
    config = MarianConfig(vocab_size=vocab_size, **OPUS_MT | ids | sizes)
    torch.manual_seed(seed)
    theirs = MarianMTModel(config).eval()
    with torch.no_grad():
        for name, weight in theirs.named_parameters():
            if weight.requires_grad:
                weight.normal_(float("norm.weight" in name), 0.1 if weight.dim() == 1 else std)
        theirs.model.shared.weight.normal_(0, config.d_model**-0.5)[pad] = 0
        theirs.final_logits_bias.normal_(0, 0.3)
    return theirs, load_marian(config.to_dict(), theirs.state_dict())


def random_ids(vocab_size: int, batch: int, length: int, padded: int = 0) -> Tensor:
    """Source or target ids; every second row ends with padding."""
    generator = torch.Generator().manual_seed(length)
    ids = torch.randint(1, vocab_size - 1, (batch, length), generator=generator)
    ids[1::2, length - padded :] = vocab_size - 1
    return ids


def after_start(target: Tensor, start: int) -> Tensor:
    return torch.nn.functional.pad(target[:, :-1], (1, 0), value=start)


def relative_differences(models: Models, src: Tensor, target: Tensor) -> dict[str, float]:
    """The largest difference in each layer and in the logits, relative to the largest value."""
    theirs, ours = models
    outputs: dict[str, Tensor] = {}
    hooks = []
    for stack in ("encoder", "decoder"):
        for i, layer in enumerate(getattr(ours, stack).layers, 1):

            def keep(module: Any, inputs: Any, output: Tensor, label=f"{stack} layer {i}") -> None:
                outputs[label] = output

            hooks.append(layer.register_forward_hook(keep))
    pad, start = ours.config.pad_id, ours.config.tgt_vocab_size - 1
    with eval_mode(ours):
        outputs["logits"] = ours(src, after_start(target, start))[..., :start]
        expected = theirs(
            input_ids=src,
            attention_mask=(src != pad).long(),
            decoder_input_ids=after_start(target, pad),
            output_hidden_states=True,
        )
    for hook in hooks:
        hook.remove()
    references = {"logits": expected.logits}
    for stack in ("encoder", "decoder"):
        _, *states = expected[f"{stack}_hidden_states"]
        references |= {f"{stack} layer {i}": state for i, state in enumerate(states, 1)}
    assert references.keys() == outputs.keys()
    return {
        label: ((outputs[label] - other).abs().max() / other.abs().max()).item()
        for label, other in references.items()
    }


def input_effects(models: Models, src: Tensor, target: Tensor) -> dict[str, float]:
    """How much other ids change our logits, relative to the largest value.

    Equal logits of two models show little about what hardly changes them.
    """
    ours = models[1]
    start = ours.config.tgt_vocab_size - 1

    def logits(src: Tensor, target: Tensor) -> Tensor:
        return ours(src, after_start(target, start))[..., :start]

    with eval_mode(ours):
        before = logits(src, target)
        others = {
            "source": logits(src.roll(2, dims=0), target),  # every second row is padded
            "target": logits(src, target.roll(1, dims=0)),
        }
    largest = before.abs().max()
    return {name: ((after - before).abs().max() / largest).item() for name, after in others.items()}


def generate(models: Models, src: Tensor, max_len: int, **options: Any) -> Tensor:
    """What transformers' generate writes after the start token, without the padding token."""
    pad = models[1].config.pad_id
    options = {"num_beams": 1, "do_sample": False, "renormalize_logits": True} | options
    mask = (src != pad).long()
    ids = models[0].generate(
        src, attention_mask=mask, max_new_tokens=max_len, bad_words_ids=[[pad]], **options
    )
    return ids[:, 1:]

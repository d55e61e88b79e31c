"""How long a text one layer learns to copy, with a cache and with a state."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from variants.delta_rule import chunked_delta_rule

TOKENS, START = 16, 16  # the texts have the tokens 0 to 15
D_MODEL, WIDTH = 64, 8  # of a token, and of a query, a key and a value
STEPS, BATCH_SIZE, PEAK = 1000, 32, 0.01


# --8<-- [start:layers]
def attend(q: Tensor, k: Tensor, v: Tensor, beta: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def add(q: Tensor, k: Tensor, v: Tensor, beta: Tensor) -> Tensor:
    return (q @ k.mT).tril() @ v


def correct(q: Tensor, k: Tensor, v: Tensor, beta: Tensor) -> Tensor:
    q, k = F.normalize(q, dim=-1), F.normalize(k, dim=-1)
    return chunked_delta_rule(q, k, v, torch.zeros_like(beta), beta)[0]


class Copier(nn.Module):
    """Embeddings, one of the functions above with one head, logits.

    Shapes: ids (batch, 2 n) -> (batch, 2 n, TOKENS).
    """

    def __init__(self, n: int, mix: str):
        super().__init__()
        self.mix = {"attention": attend, "sum": add, "delta rule": correct}[mix]
        self.token = nn.Embedding(TOKENS + 1, D_MODEL)
        self.position = nn.Embedding(2 * n, D_MODEL)
        self.query, self.key, self.value = (
            nn.Linear(D_MODEL, WIDTH, bias=False) for _ in range(3)
        )
        self.beta = nn.Linear(D_MODEL, 1)  # how much a token writes
        self.output = nn.Linear(WIDTH, TOKENS)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.token(ids) + self.position.weight
        beta = self.beta(x).sigmoid().squeeze(-1)
        q, k, v = self.query(x), self.key(x), self.value(x)
        return self.output(self.mix(q, k, v, beta))


# --8<-- [end:layers]


def make_batch(
    n: int, size: int, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Ids (size, 2 n): a text, START, the text without its end; the texts."""
    text = torch.randint(TOKENS, (size, n), generator=generator)
    start = torch.full((size, 1), START)
    return torch.cat([text, start, text[:, :-1]], dim=1), text


def train(n: int, mix: str, seed: int, steps: int = STEPS) -> float:
    """The fraction of tokens that is copied correctly in 256 new texts."""
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    model = Copier(n, mix)
    optimizer = torch.optim.Adam(model.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, PEAK, total_steps=steps
    )
    for _ in range(steps):
        ids, text = make_batch(n, BATCH_SIZE, generator)
        logits = model(ids)[:, n:]
        loss = F.cross_entropy(logits.flatten(0, 1), text.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    ids, text = make_batch(n, 256, generator)
    with torch.no_grad():
        found = model(ids)[:, n:].argmax(dim=-1)
    return (found == text).float().mean().item()

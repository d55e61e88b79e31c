import torch
import torch.nn.functional as F

from transformer import Transformer, TransformerConfig

src = torch.tensor([[4, 5, 6, 7, 8], [6, 7, 0, 0, 0]])
tgt = torch.tensor(
    [[1, 4, 5, 6, 7, 8, 9, 10, 11, 2], [1, 4, 5, 9, 10, 2, 0, 0, 0, 0]]
)


@torch.no_grad()
def wrong_write(model):
    ids = torch.ones(2, 1, dtype=torch.int64)  # <bos>
    for _ in range(9):
        best = model(src, ids)[:, -1].argmax(dim=-1, keepdim=True)
        ids = torch.cat([ids, best], dim=1)
    return ids


def right_write(model):
    return wrong_write(model.eval())


def learn_by_heart(dropout):
    torch.manual_seed(0)
    model = Transformer(TransformerConfig(9, 12, 32, 4, 1, 1, 64, dropout))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(100):
        logits = model(src, tgt[:, :-1]).transpose(1, 2)
        loss = F.cross_entropy(logits, tgt[:, 1:], ignore_index=0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


if __name__ == "__main__":
    for dropout in 0.1, 0.3:
        model = learn_by_heart(dropout)
        for write in wrong_write, right_write:
            name = f"{write.__name__.split('_')[0]}, dropout {dropout}"
            runs = torch.stack([write(model) for _ in range(50)])[:, tgt > 0]
            right = (runs == tgt[tgt > 0]).all(dim=1).float().mean()
            print(f"{name}, both sentences without a fault: {right:.0%}")
            print(f"{name}, answers in 50 runs: {len(runs.unique(dim=0))}")

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


if __name__ == "__main__":
    torch.manual_seed(0)
    model = Transformer(TransformerConfig(9, 12, 32, 4, 1, 1, 64, dropout=0.3))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(100):  # learn the two sentences by heart
        logits = model(src, tgt[:, :-1]).transpose(1, 2)
        loss = F.cross_entropy(logits, tgt[:, 1:], ignore_index=0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    for write in wrong_write, right_write:
        name = write.__name__.split("_")[0]
        written = torch.stack([write(model) for _ in range(50)])[:, tgt > 0]
        right = (written == tgt[tgt > 0]).all(dim=1).float().mean()
        print(f"{name}, both sentences without a fault: {right:.0%}")
        print(f"{name}, answers in 50 runs: {len(written.unique(dim=0))}")

import math

import torch
import torch.nn.functional as F
from torch import nn

from trainer import noam_learning_rate


def train(by_epoch, epochs=4, batches=100):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 8))
    optimizer = torch.optim.Adam(model.parameters(), lr=1.0)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda i: noam_learning_rate(i + 1, 512, warmup_steps=100)
    )
    for _ in range(epochs):
        for _ in range(batches):
            x = torch.randn(64, 8)
            loss = F.cross_entropy(model(x), x.argmax(dim=-1))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if not by_epoch:
                schedule.step()
        if by_epoch:
            schedule.step()
    x = torch.randn(1000, 8)
    loss = F.cross_entropy(model(x), x.argmax(dim=-1))
    return loss, optimizer.param_groups[0]["lr"]


if __name__ == "__main__":
    for name, by_epoch in ("wrong", True), ("right", False):
        loss, rate = train(by_epoch)
        print(f"{name}, loss after 400 steps: {loss:.2f}")
        print(f"{name}, rate by then: {rate:.5f}")
    print(f"a blind guess: {math.log(8):.2f}")

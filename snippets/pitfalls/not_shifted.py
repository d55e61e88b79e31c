import torch
import torch.nn.functional as F
from torch import nn


def wrong_pair(ids):
    return ids, ids  # what is given, and what is asked for


def wrong_twice(ids):
    return ids[:, :-2], ids[:, 2:]  # by the data, and again by the loss


def right_pair(ids):
    return ids[:, :-1], ids[:, 1:]


if __name__ == "__main__":
    for pair in wrong_pair, wrong_twice, right_pair:
        torch.manual_seed(0)
        model = nn.Sequential(nn.Embedding(10, 16), nn.Linear(16, 10))
        optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
        for _ in range(100):  # counting: 3 4 5 6 7 8, and after 9 comes 0
            ids = (torch.randint(10, (32, 1)) + torch.arange(6)) % 10
            given, wanted = pair(ids)
            loss = F.cross_entropy(model(given).flatten(0, 1), wanted.flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        written = [3]
        for _ in range(5):
            written.append(model(torch.tensor(written[-1])).argmax().item())
        print(f"{pair.__name__}, loss: {loss:.2f}")
        print(f"{pair.__name__}, writes:", *written)

import torch
import torch.nn.functional as F

from transformer import Transformer, TransformerConfig


def wrong_forward(model, source, given):  # one sequence for both stacks
    return model(given, given)


def right_forward(model, source, given):
    return model(source, given)


def draw(count):
    source = torch.randint(1, 11, (count, 9))
    return source, source.roll(1, dims=1)  # first what was last


if __name__ == "__main__":
    for forward in wrong_forward, right_forward:
        name = forward.__name__.split("_")[0]
        torch.manual_seed(0)
        model = Transformer(
            TransformerConfig(11, 11, 32, 4, 1, 1, 64, dropout=0)
        )
        optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
        for _ in range(150):
            source, target = draw(32)
            logits = forward(model, source, target[:, :-1])
            loss = F.cross_entropy(
                logits.flatten(0, 1), target[:, 1:].flatten()
            )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        source, target = draw(1000)
        said = forward(model, source, target[:, :-1]).argmax(dim=-1)
        begun = forward(model, source, target[:, :5]).argmax(dim=-1)
        right = (said == target[:, 1:])[:, :-1].float().mean()
        in_use = (begun[:, -1] == target[:, 5]).float().mean()
        print(f"{name}, tokens right with the whole target: {right:.0%}")
        print(f"{name}, the next token right after five: {in_use:.0%}")
    print(f"a guess: {1 / 10:.0%}")

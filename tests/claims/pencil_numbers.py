"""The numbers of the pencil model, for the tests of several chapters."""

import torch

import by_hand


def pencil_weight(name: str) -> torch.Tensor:
    return torch.tensor(by_hand.load().weights[name]).float()


def pencil_tables(
    sentence: str = "why do we work ?", decimals: int | None = 2
) -> dict[str, by_hand.Table]:
    """All tables of the chapter By hand for a sentence, by their names."""
    hand = by_hand.load(decimals)
    hand.translate(sentence.split())
    return {table.name: table for table in hand.tables}

from pathlib import Path

import torch

import translator
from corpus import phrase_pair, sentences
from transformer import sinusoidal_positional_encoding

right_table = sinusoidal_positional_encoding(64, 96)  # as in training
other_table = sinusoidal_positional_encoding(64, 96, base=100)
wrong_table = right_table.clone()
wrong_table[8:] = other_table[8:]  # continued by another hand

path = Path(translator.__file__).with_name("translator.safetensors")
trained = translator.load_translator(path)
asked = sentences("statement", "validation", 100)
pairs = [phrase_pair(phrase) for phrase in asked]

tables = {"wrong": wrong_table, "100": other_table, "right": right_table}
for name, table in tables.items():
    print(f"{name}, length of each row: {table.norm(dim=1).mean():.2f}")
    angle = torch.atan2(table[:, 0::2], table[:, 1::2])
    turns = angle[5:11, 24].diff().tolist()  # pair 24, from row to row
    print(f"{name}, turns:", " ".join(f"{turn:.2f}" for turn in turns))
    trained.model.position.table = table
    match = translator.exact_match(trained, pairs)["all"]
    print(f"{name}, right translations: {match:.0%}")

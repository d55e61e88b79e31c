import difflib
from pathlib import Path

import torch

import corpus
import translator
from batching import example_of
from decode import eval_mode
from translator import PAD

path = Path(translator.__file__).with_name("translator.safetensors")
pairs = corpus.translator("validation")[:1000]
print("sentences:", len(pairs))
for name, noise in {"trained": 0.0, "disturbed": 0.4}.items():
    trained = translator.load_translator(path)
    torch.manual_seed(0)
    with torch.no_grad():
        for p in trained.model.parameters():
            p += noise * p.std() * torch.randn_like(p)
    examples = [example_of(trained, pair) for pair in pairs]
    src, tgt = map(translator.padded, zip(*examples, strict=True))
    expected = tgt[:, 1:]
    with eval_mode(trained.model):
        predicted = trained.model(src, tgt[:, :-1]).argmax(dim=-1)
    right = (predicted == expected) | (expected == PAD)
    whole = right.all(dim=-1)
    print(f"{name}, teacher forcing, all right: {whole.sum()}")
    found = trained.translate([pair.source for pair in pairs])
    match = [row == pair.target for row, pair in zip(found, pairs, strict=True)]
    print(f"{name}, alone, all right: {sum(match)}")

    # What follows the first mistake
    characters = forced = alone = 0
    for i in (~whole).nonzero().flatten().tolist():
        start = right[i].tolist().index(False) + 1
        rest = pairs[i].target[start:]
        characters += len(rest)
        forced += right[i, start : start + len(rest)].sum().item()
        blocks = difflib.SequenceMatcher(None, rest, found[i][start:], False)
        alone += sum(block.size for block in blocks.get_matching_blocks())
    print(f"{name}, characters after the first mistake: {characters}")
    if name == "disturbed":
        print(f"of them right, teacher forcing: {forced / characters:.0%}")
        print(f"of them right, alone: {alone / characters:.0%}")

import torch

import pencil

translator = pencil.load_pencil()
model = translator.model
tokens = {
    "src_embedding.embedding.weight": translator.source.tokens,
    "tgt_embedding.embedding.weight": translator.target.tokens,
    "output.weight": translator.target.tokens,
}
for name, weight in model.named_parameters():
    print(f"{name}:")
    rows = (
        weight.int().tolist() if weight.dim() > 1 else [weight.int().tolist()]
    )
    for row, word in zip(rows, tokens.get(name, [""] * len(rows)), strict=True):
        numbers = " ".join(f"{number:3d}" for number in row)
        print(f"{numbers} {word}".rstrip())

numbers = torch.cat([weight.flatten() for weight in model.parameters()])
print("source words:", len(translator.source))
print("target words:", len(translator.target))
print("parameters:", len(numbers))
print("zeros:", int((numbers == 0).sum()))
print("smallest:", int(numbers.min()))
print("largest:", int(numbers.max()))

import corpus
from train import example_of
from translator import new_translator, padded

pairs = [
    corpus.Pair(
        ["why", "do", "we", "work", "?"], list("我们为什么工作？"), "why"
    ),
    corpus.Pair(["we", "work"], list("我们工作"), "statement"),
]
translator = new_translator(pairs, d_model=4, nhead=1)
src, tgt = map(
    padded, zip(*(example_of(translator, pair) for pair in pairs), strict=True)
)
characters = translator.target.tokens
inputs, targets = tgt[:, :-1], tgt[:, 1:]
for row in 0, 1:
    print(f"source {row}:", *[translator.source.tokens[i] for i in src[row]])
    print(f"inputs {row}: ", *[characters[i] for i in inputs[row]])
    print(f"targets {row}:", *[characters[i] for i in targets[row]])
print("predictions that count:", (targets != 0).sum().item())

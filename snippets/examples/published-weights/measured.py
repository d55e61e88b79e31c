import json
from pathlib import Path

import transformer

folder = Path(transformer.__file__).with_name("results")
text = (folder / "published-weights.json").read_text(encoding="utf-8")
measured = json.loads(text)
file, equal = measured["file"], measured["equal"]
print(f"megabytes: {file['bytes'] / 1e6:.0f}")
for name, kind in file["kinds"].items():
    print(f"{name}, tensors: {kind['tensors']}")
    print(f"{name}, numbers: {kind['numbers']:,}")
    print(f"{name}, megabytes: {kind['bytes'] / 1e6:.1f}")
    print(f"{name}, bits a number: {8 * kind['bytes'] / kind['numbers']:g}")
for name, value in file["settings"].items():
    print(
        f"{name}: {value:g}" if name.startswith("llama") else f"{name}: {value}"
    )
print(f"tokens: {file['tokens']:,}")
print(f"merges: {file['merges']:,}")
print(f"the first merges: {', '.join(file['some merges'])}")
print(f"tokens of the prompt: {measured['prompt tokens']}")
print(f"megabytes in memory: {measured['command']['megabytes']:,}")
speed = measured["speed"]
slowest, *_, fastest = speed["all cores"]
print(f"tokens a second of one core: {speed['one core']:.0f}")
print(f"cores: {speed['cores']}")
print(f"tokens a second of all cores: {slowest:.0f}–{fastest:.0f}")
print(f"measured on: {speed['date']}")
for bits, row in measured["bits"]["rows"].items():
    print(f"{bits} bits, error of the weights: {row['error']:.2%}")
    print(f"{bits} bits, perplexity: {row['perplexity']:,.1f}")
print(f"tokens of the text: {measured['bits']['tokens']}")
for name in "transformers", "gguf", "torch":
    print(f"{name}: {measured['environment'][name]}")
print(f"texts: {equal['texts']}")
print(f"largest logit: {equal['float32']['largest']:.1f}")
for kind in "float32", "float64":
    for name in "difference", "difference with a cache":
        print(f"{kind}, {name}: {equal[kind][name]:.1e}")
print(f"prompts: {len(equal['greedy'])}")
print(f"tokens of an answer: {equal['new tokens']}")
print(f"the same with a cache: {equal['same with a cache']}")
print(f"the same without a cache: {equal['same without']}")
guessed = measured["speculation"]
print(f"guessing, prompts: {guessed['prompts']}")
print(f"guessing, the same: {guessed['same']}")
print(f"guessing, tokens a call: {guessed['tokens a call']:.2f}")
print(f"guessing, fewest: {guessed['fewest']:.2f}")
print(f"guessing, most: {guessed['most']:.2f}")
print(f"guessing, repetition: {guessed['repetitive']:.2f}")

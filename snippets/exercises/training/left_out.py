from pathlib import Path

import translator

path = Path(translator.__file__).with_name("translator.safetensors")
trained = translator.load_translator(path)
words = ["why", "did", "we", "not", "work", "yesterday", "?"]
variants = [words] + [words[:i] + words[i + 1 :] for i in range(len(words))]
variants.append(words[::-1])
found = trained.translate(variants)
for name, target in zip(
    ["all", *words, "backwards"], map("".join, found), strict=True
):
    print(f"{name}: {target}")

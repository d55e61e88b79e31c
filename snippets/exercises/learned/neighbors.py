from pathlib import Path

from torch.nn.functional import normalize

import translator

path = Path(translator.__file__).with_name("translator.safetensors")
model, source, _ = translator.load_translator(path)
rows = normalize(model.src_embedding.embedding.weight.detach(), dim=-1)
for word in "monday", "coffee", "two":
    similarity = rows @ rows[source.ids[word]]  # cosines
    nearest = similarity.topk(6).indices[1:].tolist()  # without the word
    print(f"{word}:", *[source.tokens[i] for i in nearest])

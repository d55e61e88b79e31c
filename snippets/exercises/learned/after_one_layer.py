from pathlib import Path

import torch

import corpus
import translator
from batching import example_of

path = Path(translator.__file__).with_name("translator.safetensors")
trained = translator.load_translator(path)
model = trained.model.eval()
outputs = []


def keep(module, args, output):
    outputs.append(output)


pairs = corpus.translator("test")[:300]
examples = [example_of(trained, pair) for pair in pairs]
src, tgt = map(translator.padded, zip(*examples, strict=True))
first = model.get_submodule("decoder.layers.0")
with torch.no_grad(), first.register_forward_hook(keep):
    logits = model(src, tgt[:, :-1])
    early = model.logits(model.decoder.norm(outputs[0]))  # without layer 1

correct = tgt[:, 1:]
real = correct != translator.PAD
for name, scores in ("after layer 0", early), ("after layer 1", logits):
    right = (scores.argmax(dim=-1) == correct)[real].float().mean()
    print(f"{name}, correct next tokens: {right:.0%}")
i = next(i for i, pair in enumerate(pairs) if "why" in pair.source)
print("source:", *pairs[i].source)
for name, ids in (
    ("correct", correct[i]),
    ("after layer 0", early[i].argmax(-1)),
):
    print(f"{name}:", *trained.target.decode(ids[real[i]].tolist()))

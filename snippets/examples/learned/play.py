from pathlib import Path

import torch

import corpus
import translator
from attention_weights import weights_of
from batching import example_of

VERBS = {"piano": "弹", "guitar": "弹", "football": "踢", "basketball": "打"}
VERBS |= {"tennis": "打", "chess": "下"}
PLAY = {"play", "plays", "played", "playing"}

path = Path(translator.__file__).with_name("translator.safetensors")
trained = translator.load_translator(path)
at_thing, at_play = torch.zeros(4), torch.zeros(4)
count = 0
for pair in corpus.translator("test"):
    things = [j for j, word in enumerate(pair.source) if word in VERBS]
    plays = [j for j, word in enumerate(pair.source) if word in PLAY]
    if len(things) == len(plays) == 1:
        src, tgt = example_of(trained, pair)
        name = "decoder.layers.1.cross_attention"
        weights = weights_of(trained.model, name, src[None], tgt[None, :-1])
        due = pair.target.index(VERBS[pair.source[things[0]]])
        looks = weights[0, :, due].argmax(dim=-1)  # one word for each head
        at_thing += looks == things[0]
        at_play += looks == plays[0]
        count += 1

print("sentences:", count)
for head in range(4):
    thing, play = at_thing[head] / count, at_play[head] / count
    print(f"head {head}, looks at the thing played: {thing:.0%}")
    print(f"head {head}, looks at play: {play:.0%}")

from pathlib import Path

import torch

import corpus
import translator
from transformer import scaled_dot_product_attention

path = Path(translator.__file__).with_name("translator.safetensors")
trained = translator.load_translator(path)
model = trained.model.eval()
recorded = []


def record_weights(attention, inputs):
    parts = attention.query, attention.key, attention.value
    q, k, v = (attention.split(part(inputs[0])) for part in parts)
    recorded.append(scaled_dot_product_attention(q, k, v)[1][0])


@torch.no_grad()
def weights_of(words):
    """The weights of the first layer's heads: (head, query, key)."""
    model.encode(torch.tensor([trained.source.encode(words)]))
    return recorded.pop()


first_layer = model.encoder.layers[0].self_attention
first_layer.register_forward_pre_hook(record_weights)
sentence = ["why", "do", "we", "work", "?"]
for word, weight in zip(sentence, weights_of(sentence)[2, -1], strict=True):
    print(f"head 2, weight that ? gives to {word}: {weight:.2f}")

pairs = [p for p in corpus.translator("test") if p.source[-1] == "?"][:200]
most = [weights_of(pair.source)[:, -1].argmax(dim=-1) for pair in pairs]
on_first = (torch.stack(most) == 0).float().mean(dim=0)
print("questions of the test set:", len(pairs))
guess = sum(1 / len(pair.source) for pair in pairs) / len(pairs)
print(f"a word at random is the first word: {guess:.0%}")
for head, share in enumerate(on_first):
    print(f"head {head}, ? looks most at the first word: {share:.0%}")
asking = {"what", "when", "where", "who", "why", "how"}
asks = torch.tensor([pair.source[0] in asking for pair in pairs])
for name, chosen in ("a question word", asks), ("a verb", ~asks):
    share = (torch.stack(most)[chosen, 2] == 0).float().mean()
    print(f"head 2, if the first word is {name}: {share:.0%}")

import torch

import corpus
from corpus import Vocabulary
from transformer import Transformer, TransformerConfig

pairs = corpus.translator("train")
english = Vocabulary(word for pair in pairs for word in pair.source)
chinese = Vocabulary(c for pair in pairs for c in pair.target)
torch.manual_seed(0)
config = TransformerConfig(
    src_vocab_size=len(english),
    tgt_vocab_size=len(chinese),
    d_model=96,
    num_encoder_layers=2,
    num_decoder_layers=2,
)
model = Transformer(config).eval()

src = torch.tensor([english.encode(["why", "do", "we", "work", "?"])])
ids = [chinese.bos_id]
for _ in range(8):
    p = model(src=src, tgt=torch.tensor([ids]))[0].softmax(dim=-1)
    ids.append(p[-1].argmax().item())  # the most probable next token
print("written:", "".join(chinese.tokens[i] for i in ids[1:]))
print("tokens to choose from:", len(chinese))
print(f"probability of 我 at the beginning: {p[0, chinese.ids['我']]:.4f}")

import torch

import corpus
from corpus import Vocabulary, english_tokens
from transformer import Transformer, TransformerConfig

pairs = corpus.translator("train")
english = Vocabulary(word for pair in pairs for word in pair.source)
chinese = Vocabulary(c for pair in pairs for c in pair.target)
torch.manual_seed(0)
vocabularies = {
    "src_vocab_size": len(english),
    "tgt_vocab_size": len(chinese),
}
sizes = {"d_model": 96, "nhead": 4, "dim_feedforward": 384}
layers = {"num_encoder_layers": 2, "num_decoder_layers": 2}
model = Transformer(TransformerConfig(**vocabularies, **sizes, **layers))
model.eval()  # without dropout

src = torch.tensor([english.encode(english_tokens("Why do we work?"))])
ids = [chinese.bos_id]
while len(ids) < 9:
    logits = model(src=src, tgt=torch.tensor([ids]))[0, -1]
    ids.append(logits.argmax().item())  # the most probable next token
print("written:", "".join(chinese.tokens[i] for i in ids[1:]))
right = chinese.encode("我")[0]
p = logits.softmax(dim=-1)
first = model(src=src, tgt=torch.tensor([ids[:1]]))[0, -1].softmax(dim=-1)
print("tokens to choose from:", len(chinese))
print(f"probability of 我 at the beginning: {first[right]:.4f}")

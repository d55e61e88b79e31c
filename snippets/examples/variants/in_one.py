import torch
import torch.nn.functional as F

from corpus import Pair
from transformer import TransformerConfig
from translator import BOS, EOS, PAD, padded
from variants.decoder_only import DecoderOnly
from variants.one_sequence import generate, new_one_sequence

sentences = {"why do we work ?": "我们为什么工作？", "we work": "我们工作"}
pairs = [Pair(s.split(), list(t), "") for s, t in sentences.items()]
config = {"d_model": 32, "nhead": 4, "num_encoder_layers": 2}
config |= {"dim_feedforward": 64, "dropout": 0.0, "norm_first": True}
both = new_one_sequence(
    lambda size: DecoderOnly(TransformerConfig(size, size, **config)), pairs
)
encode = both.source.encode
src = padded(torch.tensor(encode(pair.source)) for pair in pairs)
tgt = padded(torch.tensor([BOS, *encode(p.target), EOS]) for p in pairs)
optimizer = torch.optim.Adam(both.model.parameters(), lr=0.01)
for _ in range(60):
    optimizer.zero_grad()
    logits = both.model(src, tgt[:, :-1])  # as with Transformer
    wanted = tgt[:, 1:].flatten()
    F.cross_entropy(logits.flatten(0, 1), wanted, ignore_index=PAD).backward()
    optimizer.step()

prompt = F.pad(src, (0, 1), value=PAD)
prompt[torch.arange(2), (src != PAD).sum(dim=1)] = BOS
written = generate(both.model.model, prompt, max_len=20)
for given, found in zip(prompt, written, strict=True):
    print("given:", *(both.source.tokens[i] for i in given))
    print("written:", *(both.source.tokens[i] for i in found))

import torch

from transformer import Transformer, TransformerConfig, causal_mask

print(causal_mask(5)[0, 0].int())

torch.manual_seed(0)
config = TransformerConfig(
    src_vocab_size=9,
    tgt_vocab_size=12,
    d_model=16,
    nhead=4,
    num_encoder_layers=2,
    num_decoder_layers=2,
    dim_feedforward=32,
    dropout=0.0,
)
model = Transformer(config)
memory = model.encode(torch.tensor([[4, 5, 6, 7, 8]]))
before = torch.tensor([[1, 4, 5, 9, 11]])  # <bos> 我 们 工 ？
after = torch.tensor([[1, 4, 5, 10, 11]])  # <bos> 我 们 作 ？


def changes(mask):
    x, y = (model.position(model.tgt_embedding(t)) for t in (before, after))
    outputs = model.decoder(x, memory, mask) - model.decoder(y, memory, mask)
    return [round(row.norm().item(), 2) for row in outputs[0]]


print("causal mask:", changes(causal_mask(5)))
print("no mask:", changes(None))

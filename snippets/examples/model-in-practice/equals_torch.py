import torch
from torch import nn

from transformer import Transformer, TransformerConfig, causal_mask

NAMES = {
    "self_attention": "self_attn",
    "cross_attention": "multihead_attn",
    "query.": "in_proj_",  # one matrix for the three, one below the other
    "key.": "in_proj_",
    "value.": "in_proj_",
    "output.": "out_proj.",
    "feed_forward.": "",
}
torch.manual_seed(0)
config = TransformerConfig(
    src_vocab_size=9,
    tgt_vocab_size=12,
    d_model=32,
    nhead=4,
    num_encoder_layers=2,
    num_decoder_layers=2,
    dim_feedforward=64,
    dropout=0.0,
)
ours = Transformer(config).double()
theirs = nn.Transformer(
    d_model=32,
    nhead=4,
    num_encoder_layers=2,
    num_decoder_layers=2,
    dim_feedforward=64,
    dropout=0.0,
    batch_first=True,
).double()
theirs.encoder.norm = theirs.decoder.norm = None

state = {}
for name, value in ours.state_dict().items():
    if name.startswith(("encoder.", "decoder.")):
        for own, other in NAMES.items():
            name = name.replace(own, other)
        above = [state[name]] if name in state else []
        state[name] = torch.cat([*above, value])
print(theirs.load_state_dict(state))

src = torch.tensor([[4, 5, 6, 7, 8], [6, 7, 0, 0, 0]])
tgt = torch.tensor([[1, 4, 5, 6, 7, 8, 9, 10, 11], [1, 4, 5, 9, 10] + [0] * 4])
x = theirs(
    ours.position(ours.src_embedding(src)),
    ours.position(ours.tgt_embedding(tgt)),
    tgt_mask=~causal_mask(9)[0, 0],
    src_key_padding_mask=src == 0,
    tgt_key_padding_mask=tgt == 0,
    memory_key_padding_mask=src == 0,
)
difference = (ours.logits(x) - ours(src, tgt)).abs().max().item()
print("all logits within 1e-12:", difference < 1e-12)

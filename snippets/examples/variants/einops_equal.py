import torch

from transformer import Encoder, TransformerConfig
from variants.encoder_einops import EinopsEncoder
from variants.swiglu import GELUFeedForward

torch.manual_seed(0)
sizes = {"d_model": 64, "nhead": 4, "dim_feedforward": 256, "dropout": 0.0}
sizes |= {"num_encoder_layers": 2, "norm_first": True}
config = TransformerConfig(src_vocab_size=1, tgt_vocab_size=1, **sizes)
ours = Encoder(config)
theirs = EinopsEncoder(64, depth=2, heads=4, dim_head=16, hidden_dim=256)
parts = zip(ours.layers, theirs.attentions, theirs.networks, strict=True)
for layer, attention, network in parts:
    layer.feed_forward = GELUFeedForward(64, 256, 0.0)
    mine = layer.self_attention
    thirds = attention.to_qkv.weight.chunk(3)
    three = mine.query, mine.key, mine.value
    for linear, third in zip(three, thirds, strict=True):
        torch.nn.init.zeros_(linear.bias)  # theirs has none
        linear.weight.data.copy_(third)
    mine.output.load_state_dict(attention.to_out[0].state_dict())
    layer.feed_forward.linear1.load_state_dict(network[1].state_dict())
    layer.feed_forward.linear2.load_state_dict(network[4].state_dict())

x = torch.randn(2, 7, 64)
print("the same numbers:", ours(x).allclose(theirs(x), atol=1e-5))

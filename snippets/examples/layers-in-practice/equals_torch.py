import torch
from torch import nn

from transformer import DecoderLayer, TransformerConfig, causal_mask


@torch.no_grad()
def copy_attention(ours, theirs):
    parts = ours.query, ours.key, ours.value
    theirs.in_proj_weight.copy_(torch.cat([p.weight for p in parts]))
    theirs.in_proj_bias.copy_(torch.cat([p.bias for p in parts]))
    theirs.out_proj.load_state_dict(ours.output.state_dict())


torch.manual_seed(0)
target, memory = torch.randn(2, 9, 32), torch.randn(2, 5, 32)
real = torch.tensor([[True] * 5, [True, True, False, False, False]])
for norm_first in (False, True):
    config = TransformerConfig(
        9, 12, d_model=32, nhead=4, dropout=0, norm_first=norm_first
    )
    ours = DecoderLayer(config)
    theirs = nn.TransformerDecoderLayer(
        d_model=32,
        nhead=4,
        dropout=0,
        batch_first=True,
        norm_first=norm_first,
    )
    copy_attention(ours.self_attention, theirs.self_attn)
    copy_attention(ours.cross_attention, theirs.multihead_attn)
    theirs.linear1.load_state_dict(ours.feed_forward.linear1.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.linear2.state_dict())
    y = ours(target, memory, causal_mask(9), real[:, None, None, :])
    z = theirs(
        target,
        memory,
        tgt_mask=~causal_mask(9)[0, 0],
        memory_key_padding_mask=~real,
    )
    name = "pre-norm" if norm_first else "post-norm"
    print(f"{name}, they agree:", torch.allclose(y, z, atol=1e-5))

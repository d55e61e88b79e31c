import torch
from torch import nn


class OwnLayer(nn.Module):
    """A post-norm decoder layer, its parts named as those of torch.nn."""

    def __init__(self, d_model, nhead, dim_feedforward):
        super().__init__()
        self.nhead = nhead
        self.self_attn = nn.MultiheadAttention(d_model, nhead)
        self.multihead_attn = nn.MultiheadAttention(d_model, nhead)
        self.linear1 = nn.Linear(d_model, dim_feedforward)
        self.linear2 = nn.Linear(dim_feedforward, d_model)
        self.norm1, self.norm2, self.norm3 = map(nn.LayerNorm, 3 * [d_model])

    def attend(self, weights, x, y, may):
        matrices = weights.in_proj_weight.chunk(3)
        biases = weights.in_proj_bias.chunk(3)
        parts = zip((x, y, y), matrices, biases, strict=True)
        q, k, v = (
            (source @ matrix.T + bias)
            .unflatten(-1, (self.nhead, -1))
            .transpose(1, 2)  # (batch, head, position, head_dim)
            for source, matrix, bias in parts
        )
        scores = q @ k.mT / q.size(-1) ** 0.5
        heads = scores.masked_fill(~may, -torch.inf).softmax(dim=-1) @ v
        return weights.out_proj(heads.transpose(1, 2).flatten(2))

    def forward(self, y, memory, mask, memory_mask):
        y = self.norm1(y + self.attend(self.self_attn, y, y, mask))
        read = self.attend(self.multihead_attn, y, memory, memory_mask)
        y = self.norm2(y + read)
        return self.norm3(y + self.linear2(self.linear1(y).relu()))


torch.manual_seed(0)
theirs = nn.TransformerDecoderLayer(32, 4, 64, dropout=0, batch_first=True)
for p in theirs.parameters():
    nn.init.normal_(p, std=0.3)  # biases and norms too
ours = OwnLayer(32, 4, 64)
ours.load_state_dict(theirs.state_dict())

y, memory = torch.randn(2, 9, 32), torch.randn(2, 5, 32)
real = torch.tensor([[True] * 5, [True, True, False, False, False]])
past = torch.ones(9, 9, dtype=torch.bool).tril()
out = ours(y, memory, past, real[:, None, None, :])
expected = theirs(y, memory, tgt_mask=~past, memory_key_padding_mask=~real)
print("equal to torch.nn:", torch.allclose(out, expected, atol=1e-5))

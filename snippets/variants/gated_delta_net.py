"""The layer of Qwen3-Next that has a state in place of a growing cache."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from variants.decoder_2025 import Cache
from variants.delta_rule import chunked_delta_rule
from variants.rmsnorm import RMSNorm


# --8<-- [start:layer]
class GatedDeltaNet(nn.Module):
    """A convolution over a few tokens, the gated delta rule, norm and gate.

    Shapes: x (batch, n, d_model), positions, which it ignores -> that of x.
    The cache has the convolution's last inputs and the state.
    Source: Yang et al. 2024, Gated Delta Networks.
    """

    def __init__(
        self,
        d_model: int,
        number: int,
        num_key_heads: int,
        num_value_heads: int,
        key_dim: int,  # of each head
        value_dim: int,
        num_inputs: int = 4,  # of the convolution, this token and those before
        eps: float = 1e-6,
    ):
        super().__init__()
        self.number = number
        self.key_dim, self.value_dim = key_dim, value_dim
        self.group = num_value_heads // num_key_heads
        self.sizes = [num_key_heads * key_dim] * 2 + [
            num_value_heads * value_dim
        ]
        both, values = sum(self.sizes), self.sizes[2]
        self.inputs = nn.Linear(d_model, both, bias=False)
        self.conv = nn.Conv1d(both, both, num_inputs, groups=both, bias=False)
        self.beta = nn.Linear(d_model, num_value_heads, bias=False)
        self.decay = nn.Linear(d_model, num_value_heads)
        self.log_rate = nn.Parameter(torch.zeros(num_value_heads))
        self.gate = nn.Linear(d_model, values, bias=False)
        self.norm = RMSNorm(value_dim, eps)
        self.output = nn.Linear(values, d_model, bias=False)

    def forward(self, x: Tensor, positions: Tensor, cache: Cache) -> Tensor:
        new, earlier = self.inputs(x).mT, self.conv.kernel_size[0] - 1
        start = F.pad(new[..., :0], (earlier, 0)), None  # zeros, no state
        last, state = cache.layers.get(self.number, start)
        inputs = torch.cat([last, new], dim=-1)  # (batch, width, 3 + n)
        mixed = F.silu(self.conv(inputs)).mT.split(self.sizes, dim=-1)
        q, k = (self.split(part, self.key_dim) for part in mixed[:2])
        q, k = (x.repeat_interleave(self.group, dim=1) for x in (q, k))
        outputs, state = chunked_delta_rule(
            self.unit(q) / self.key_dim**0.5,
            self.unit(k),
            self.split(mixed[2], self.value_dim),
            -self.log_rate.exp().unsqueeze(1) * F.softplus(self.decay(x)).mT,
            self.beta(x).sigmoid().mT,  # (batch, num_value_heads, n)
            state,
        )
        cache.layers[self.number] = inputs[..., -earlier:], state
        heads = self.norm(outputs).transpose(1, 2).flatten(2)
        return self.output(F.silu(self.gate(x)) * heads)

    def split(self, x: Tensor, head_dim: int) -> Tensor:
        return x.unflatten(-1, (-1, head_dim)).transpose(1, 2)

    def unit(self, x: Tensor) -> Tensor:
        return x * (x.square().sum(dim=-1, keepdim=True) + 1e-6).rsqrt()


# --8<-- [end:layer]

import torch

from decode import KeyValueCache, eval_mode, greedy_decode
from transformer import Transformer, TransformerConfig

torch.manual_seed(0)
model = Transformer(
    TransformerConfig(
        src_vocab_size=100,
        tgt_vocab_size=100,
        d_model=64,
        nhead=4,
        num_encoder_layers=2,
        num_decoder_layers=2,
        dim_feedforward=256,
    )
)
src, tgt = torch.randint(3, 100, (2, 5)), torch.randint(3, 100, (2, 12))
src[1, 3:] = 0  # padding
with eval_mode(model):
    at_once = model(src, tgt)  # (2, 12, 100)
    cache = KeyValueCache(model, src)
    steps = [cache.step(ids) for ids in tgt.T]  # 12 times (2, 100)
difference = (torch.stack(steps, dim=1) - at_once).abs().max().item()
print("logits within 1e-5:", difference < 1e-5)

computed = 0


def count(module, given, output):
    global computed
    computed += output.size(1)


model.decoder.layers[0].feed_forward.register_forward_hook(count)
written = []
for name, use_cache in ("without cache", False), ("with cache", True):
    computed = 0
    written.append(greedy_decode(model, src, 20, 1, 2, use_cache))
    print(f"{name}, tokens: {written[-1].size(1)}")
    print(f"{name}, positions computed: {computed}")
print("the same tokens:", torch.equal(*written))

import copy

import torch

from decode import KeyValueCache, eval_mode
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
src, tgt = torch.randint(3, 100, (1, 5)), torch.randint(3, 100, (1, 6))
wrong = copy.deepcopy(model)
with eval_mode(model), eval_mode(wrong):
    at_once = model(src, tgt)
    right_cache, wrong_cache = KeyValueCache(model, src), None
    memory = model.encode(src)
    wrong.encode = lambda src: memory  # only the decoder is mistaken
    wrong.position.table[:] = model.position.table[0]
    wrong_cache = KeyValueCache(wrong, src)
    for place in range(6):
        for name, cache in ("right", right_cache), ("row 0", wrong_cache):
            off = (cache.step(tgt[:, place]) - at_once[:, place]).abs().max()
            print(f"{name}, place {place}, off by: {off:.1f}")

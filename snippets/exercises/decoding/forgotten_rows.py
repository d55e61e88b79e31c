import torch

import decode
from decode import beam_search, sentence_score
from transformer import Transformer, TransformerConfig

torch.manual_seed(0)
model = Transformer(
    TransformerConfig(
        src_vocab_size=20,
        tgt_vocab_size=20,
        d_model=32,
        nhead=4,
        num_encoder_layers=1,
        num_decoder_layers=2,
        dim_feedforward=64,
        norm_first=True,
    )
)
torch.nn.init.normal_(model.output.weight, std=0.5)
src = torch.randint(3, 20, (100, 5))
right = beam_search(model, src, 12, 1, 2)
right_score = sentence_score(model, src, right, 1, length_penalty=0.6)

select = decode.CachedAttention.select


def once(self, rows):
    if not hasattr(self, "selected"):  # the first time: one row per beam
        self.selected = True
        select(self, rows)


decode.CachedAttention.select = once
wrong = beam_search(model, src, 12, 1, 2)
wrong_score = sentence_score(model, src, wrong, 1, length_penalty=0.6)
print("shapes:", tuple(right.shape), tuple(wrong.shape))
differ = (wrong_score - right_score).abs() > 1e-4
print("another sentence, of 100:", differ.sum().item())
print("with a lower score:", (wrong_score < right_score - 1e-4).sum().item())
print("with a higher score:", (wrong_score > right_score + 1e-4).sum().item())

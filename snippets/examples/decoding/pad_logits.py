from pathlib import Path

import torch

import corpus
import translator
from batching import example_of
from decode import eval_mode
from transformer import Transformer, TransformerConfig

path = Path(translator.__file__).with_name("translator.safetensors")
trained = translator.load_translator(path)
pairs = corpus.translator("validation")[:100]
examples = [example_of(trained, pair) for pair in pairs]
src, tgt = map(translator.padded, zip(*examples, strict=True))
with eval_mode(trained.model):
    probs = trained.model(src, tgt[:, :-1]).softmax(dim=-1)
ended = tgt[:, 1:] == 0  # positions after <eos>
vocab_size = probs.size(-1)
print(f"smoothing / V: {0.1 / vocab_size:.5f}")
print(f"<pad> before the end, mean: {probs[~ended][:, 0].mean():.5f}")
print("positions after <eos>:", int(ended.sum()))
likeliest = probs[ended].argmax(dim=-1)
print("positions where <pad> is the most likely:", int((likeliest == 0).sum()))

torch.manual_seed(0)
tied = Transformer(
    TransformerConfig(
        src_vocab_size=9,
        tgt_vocab_size=7,
        d_model=32,
        nhead=4,
        num_encoder_layers=1,
        num_decoder_layers=1,
        tie_embeddings=True,
    )
).eval()
ids = torch.randint(1, 7, (20, 5))
with torch.no_grad():
    tied.output.weight[0] = 1.0  # as if training had changed the row
    logits = tied(ids, ids)
print("tied embeddings, logit of <pad>:", logits[..., 0].abs().max().item())

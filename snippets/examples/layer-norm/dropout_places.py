from torch import nn

from transformer import MultiHeadAttention, Transformer, TransformerConfig

config = TransformerConfig(
    src_vocab_size=9, tgt_vocab_size=12,
    d_model=64, num_encoder_layers=1, num_decoder_layers=1,
)  # fmt: skip
for name, module in Transformer(config).named_modules():
    if isinstance(module, nn.Dropout):
        print(name, module.p)
    elif isinstance(module, MultiHeadAttention):
        print(f"{name}, on its weights", module.dropout)

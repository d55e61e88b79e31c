import torch
from torch.nn.functional import cross_entropy

from transformer import Transformer, TransformerConfig

src = torch.tensor([[4, 5, 6, 7, 8], [6, 7, 0, 0, 0]])
tgt = torch.tensor(
    [[1, 4, 5, 6, 7, 8, 9, 10, 11, 2], [1, 4, 5, 9, 10, 2, 0, 0, 0, 0]]
)
answers = tgt[:, 1:]
real = answers != 0
for name in "logits", "probabilities":
    torch.manual_seed(0)
    model = Transformer(
        TransformerConfig(
            src_vocab_size=9,
            tgt_vocab_size=12,
            d_model=32,
            nhead=4,
            num_encoder_layers=1,
            num_decoder_layers=1,
            dim_feedforward=64,
            dropout=0.0,
        )
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(150):
        output = model(src, tgt[:, :-1])
        if name == "probabilities":
            output = output.softmax(dim=-1)
        loss = cross_entropy(output.transpose(1, 2), answers, ignore_index=0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    right = (output.argmax(dim=-1) == answers)[real].float().mean()
    print(f"{name}, loss: {loss:.2f}")
    print(f"{name}, tokens right: {right:.0%}")

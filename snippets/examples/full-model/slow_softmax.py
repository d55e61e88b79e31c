import torch
from torch.nn.functional import cross_entropy

from transformer import Transformer, TransformerConfig

config = TransformerConfig(
    src_vocab_size=200,
    tgt_vocab_size=200,
    d_model=32,
    nhead=4,
    num_encoder_layers=1,
    num_decoder_layers=1,
    dim_feedforward=64,
    dropout=0.0,
    norm_first=True,
)
first = {}
for name in "logits", "probabilities":
    torch.manual_seed(0)
    model = Transformer(config)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    seen = []
    for step in range(300):
        src = torch.randint(3, 200, (32, 4))  # to be copied
        tgt = torch.cat([torch.ones_like(src[:, :1]), src], dim=1)
        output = model(src, tgt[:, :-1])
        if name == "probabilities":
            output = output.softmax(dim=-1)
        loss = cross_entropy(output.transpose(1, 2), src)
        optimizer.zero_grad()
        loss.backward()
        if step == 0:
            grads = [p.grad.flatten() for p in model.parameters()]
            first[name] = torch.cat(grads).norm()
        optimizer.step()
        seen.append((output.argmax(dim=-1) == src).float().mean())
    right = torch.stack(seen[-20:]).mean()
    print(f"{name}, tokens right: {right:.0%}")
ratio = first["logits"] / first["probabilities"]
print(f"first gradient, logits / probabilities: {ratio:.0f}")

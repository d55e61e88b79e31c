import torch
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence

import corpus
from batching import batches, example_of
from translator import new_translator

sizes = {"d_model": 96, "nhead": 4, "dim_feedforward": 384, "dropout": 0.0}
sizes |= {"num_encoder_layers": 2, "num_decoder_layers": 2, "norm_first": True}
pairs = corpus.translator("train")
translator = new_translator(pairs, seed=0, **sizes)
examples = [example_of(translator, pair) for pair in pairs]
model = translator.model.train()
# --8<-- [start:differences]
optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
steps, warm_up, peak = 5000, 100, 0.003
for step, batch in enumerate(batches(examples, 64, seed=0), start=1):
    # The learning rate: straight up to the peak, then straight down
    left = (steps + 1 - step) / (steps + 1 - warm_up)
    optimizer.param_groups[0]["lr"] = peak * min(step / warm_up, left)
    # The batch: rows of equal length, filled with padding, token 0
    sources, translations = zip(*batch, strict=True)
    src = pad_sequence(sources, batch_first=True)  # (64, m)
    tgt = pad_sequence(translations, batch_first=True)  # (64, n + 1)
    # The loss: smoothed, and without the padding
    inputs, targets = tgt[:, :-1], tgt[:, 1:]  # (64, n) each
    logits = model(src=src, tgt=inputs)  # (64, n, 314)
    loss = F.cross_entropy(
        logits.flatten(0, 1),
        targets.flatten(),
        ignore_index=0,
        label_smoothing=0.1,
    )
    # --8<-- [end:differences]
    # The rest of the step is that of the short loop
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step in (1, 40):
        print(f"loss at step {step}: {loss.item():.3f}")
    if step == 40:  # the full training: 5000 steps
        break

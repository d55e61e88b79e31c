import torch
import torch.nn.functional as F

from batching import batches, example_of
from train import TASKS
from trainer import linear_learning_rate
from translator import PAD, new_translator, padded

task = TASKS["translator"]
pairs = task.pairs("train")
translator = new_translator(pairs, **task.sizes)
examples = [example_of(translator, pair) for pair in pairs]
model = translator.model.train()
optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
for step, batch in enumerate(batches(examples, 64, seed=0), start=1):
    src, tgt = (padded(ids) for ids in zip(*batch, strict=True))
    inputs, targets = tgt[:, :-1], tgt[:, 1:]
    logits = model(src=src, tgt=inputs)
    loss = F.cross_entropy(
        logits.flatten(0, 1),
        targets.flatten(),
        ignore_index=PAD,
        label_smoothing=0.1,
    )
    rate = linear_learning_rate(step, 0.003, warmup_steps=100, steps=5000)
    for group in optimizer.param_groups:
        group["lr"] = rate
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step in (1, 40):
        print(f"loss at step {step}: {loss.item():.3f}")
    if step == 40:  # the full training: 5000 steps
        break

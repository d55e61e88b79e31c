from train import TASKS
from trainer import learning_rate, noam_learning_rate

print(f"paper, base model: {noam_learning_rate(4000, 512, 4000):.5f}")
for name, task in TASKS.items():
    d_model, settings = task.sizes["d_model"], task.settings
    warmup = settings.warmup_steps
    papers = noam_learning_rate(warmup, d_model, warmup)
    ours = learning_rate(warmup, settings, d_model)
    print(f"{name}, d_model: {d_model}")
    print(f"{name}, steps: {settings.steps}")
    print(f"{name}, warm-up: {warmup}")
    print(f"{name}, the paper's peak: {papers:.5f}")
    print(f"{name}, our peak: {ours:.5f}")
    print(f"{name}, how much hotter: {papers / ours:.1f}")

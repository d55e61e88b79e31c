from trainer import noam_learning_rate

d_model, peak = 64, 0.004
warmup = 1 / (d_model * peak**2)
print(f"warm-up: {warmup:.0f} steps")
print(f"peak: {noam_learning_rate(round(warmup), d_model, round(warmup)):.4f}")
print(f"at step 1500: {noam_learning_rate(1500, d_model, round(warmup)):.4f}")

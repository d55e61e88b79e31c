import torch

from pencil_tables import head_0, x
from transformer import scaled_dot_product_attention

w_query, b_query, w_key, w_value = head_0
subjects = {"we": x[2], "they": torch.tensor([8.91, 7.58, -5.98, 9.00])}

for subject, vector in subjects.items():
    changed = x.clone()
    changed[2] = vector
    output, weights = scaled_dot_product_attention(
        query=changed @ w_query + b_query,
        key=changed @ w_key,
        value=changed @ w_value,
    )
    print(f"{subject}, weight from work: {weights[3, 2]:.2f}")
    numbers = " ".join(f"{number:.2f}" for number in output[3].tolist())
    print(f"{subject}, output of work: {numbers}")

import torch

from pencil_tables import head_0, head_1, x
from pencil_words import words
from transformer import scaled_dot_product_attention

torch.set_printoptions(precision=2, sci_mode=False)

outputs = []
for head, maps in enumerate((head_0, head_1)):
    output, weights = scaled_dot_product_attention(
        query=x @ maps.w_query + maps.b_query,
        key=x @ maps.w_key,
        value=x @ maps.w_value,
    )
    outputs.append(output)
    print(f"head {head}, work attends to:", words[weights[3].argmax()])
    print(f"head {head}, output of work:", output[3])

joined = torch.cat(outputs, dim=-1)  # (5, 4)
print("joined, work:", joined[3])

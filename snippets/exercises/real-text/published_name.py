from transformer import TransformerConfig
from variants.marian import Marian, our_name

PUBLISHED = {
    "self_attention": "self_attn",
    "cross_attention": "encoder_attn",
    "query.": "q_proj.",
    "key.": "k_proj.",
    "value.": "v_proj.",
    "output.": "out_proj.",
    "feed_forward.linear": "fc",
    "norm1": "self_attn_layer_norm",
}


def published_name(name: str) -> str:
    encoder = name.startswith("encoder")
    last = "final_layer_norm"
    second = last if encoder else "encoder_attn_layer_norm"
    norms = {"norm2": second, "norm3": last}
    for ours, theirs in (PUBLISHED | norms).items():
        name = name.replace(ours, theirs)
    return f"model.{name}"


model = Marian(TransformerConfig(9, 9, d_model=8, nhead=2))
names = [name for name in model.state_dict() if ".layers." in name]
print("weights of the layers:", len(names))
print("there and back:", all(our_name(published_name(n)) == n for n in names))
print("different names:", len({published_name(name) for name in names}))

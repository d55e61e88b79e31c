from inspect import signature

from variants.latent_attention import LatentAttention
from variants.sparse_attention import Indexer


def defaults(module):
    parameters = signature(module).parameters.values()
    return {each.name: each.default for each in parameters}


main, index = defaults(LatentAttention), defaults(Indexer)
entry = main["kv_rank"] + main["rope_dim"]  # numbers of a token in the cache
pair = main["nhead"] * (entry + main["kv_rank"])  # score and weighted sum
index_pair = index["nhead"] * index["head_dim"]
for n in (4096, 131072):
    chosen = min(n, index["top_k"])
    dense, sparse = n * pair, n * index_pair + chosen * pair
    print(f"{n:,} tokens, all, million multiplications: {dense / 1e6:,.0f}")
    print(f"{n:,} tokens, chosen, million multiplications: {sparse / 1e6:,.0f}")
    read, index_read = 2 * n * entry, 2 * n * index["head_dim"]  # bfloat16
    print(f"{n:,} tokens, all, MB read: {read / 1e6:.1f}")
    read = index_read + 2 * chosen * entry
    print(f"{n:,} tokens, chosen, MB read: {read / 1e6:.1f}")
print(f"times fewer multiplications: {dense / sparse:.1f}")
print("numbers in the cache for a token:", entry)
print("with the indexer's key:", entry + index["head_dim"])

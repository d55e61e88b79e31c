import torch
from torch.nn.functional import cross_entropy

from decode import beam_search, greedy_decode, sample, sentence_score
from transformer import Transformer, TransformerConfig

SHARES = {"表哥": 19, "表弟": 17, "表姐": 17, "表妹": 17}  # of a hundred
SHARES |= {"堂哥": 2, "堂弟": 25, "堂姐": 2, "堂妹": 1}
tokens = ["<pad>", "<bos>", "<eos>", *"我表堂哥弟姐妹"]
cousins = [word for word, share in SHARES.items() for _ in range(share)]
tgt = torch.tensor(
    [[1, 3, *(tokens.index(c) for c in word), 2] for word in cousins]
)
src = torch.tensor([[3, 4]])  # my cousin

torch.manual_seed(0)
model = Transformer(
    TransformerConfig(
        src_vocab_size=5,
        tgt_vocab_size=10,
        d_model=16,
        nhead=2,
        num_encoder_layers=1,
        num_decoder_layers=1,
        dim_feedforward=32,
        dropout=0.0,
    )
)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(200):
    logits = model(src.expand(100, -1), tgt[:, :-1])
    loss = cross_entropy(logits.flatten(0, 1), tgt[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

for name, ids in {
    "greedy": greedy_decode(model, src, max_len=10, bos_id=1, eos_id=2),
    "beam search": beam_search(model, src, 10, bos_id=1, eos_id=2, beam_size=2),
}.items():
    words = "".join(tokens[i] for i in ids[0, :-1])
    chance = sentence_score(model, src, ids, bos_id=1).exp().item()
    print(f"{name}: {words}")
    print(f"{name}, probability: {chance:.2f}")

for name, options in {
    "as it is": {},
    "temperature 0.3": {"temperature": 0.3},
    "temperature 3": {"temperature": 3.0},
    "top_k 1": {"top_k": 1},
    "top_p 0.6": {"top_p": 0.6},
}.items():
    generator = torch.Generator().manual_seed(0)
    ids = sample(
        model,
        src.expand(1000, -1),
        max_len=10,
        bos_id=1,
        eos_id=2,
        generator=generator,
        **options,
    )
    drawn = ["".join(tokens[i] for i in row if i > 3) for row in ids.tolist()]
    counts = {word: drawn.count(word) for word in SHARES}
    print(f"{name}:", *[f"{word} {count}" for word, count in counts.items()])
    print(f"{name}, no cousin at all: {1000 - sum(counts.values())}")

import torch
from torch.nn.functional import cosine_similarity

from transformer import sinusoidal_positional_encoding

torch.manual_seed(0)
d_model = 512
rows = torch.randn(1000, d_model) / d_model**0.5  # from N(0, 1/d)
place = sinusoidal_positional_encoding(51, d_model)
print(f"length of a row: {rows.norm(dim=1).mean():.1f}")
print(f"length of a position: {place.norm(dim=1).mean():.1f}")
print(
    f"length of a row times √d: {(rows * d_model**0.5).norm(dim=1).mean():.1f}"
)
one, other = rows[:500], rows[500:]
for factor in (1.0, d_model**0.5, float(d_model)):
    here, there = factor * one + place[0], factor * one + place[50]
    words = cosine_similarity(here, factor * other + place[0]).mean()
    places = cosine_similarity(here, there).mean()
    print(f"times {factor:.0f}, two words in one place: {words:.2f}")
    print(f"times {factor:.0f}, one word in two places: {places:.2f}")

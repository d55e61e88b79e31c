from pencil_tables import head_0, x
from pencil_words import words

w_query, b_query, w_key, w_value = head_0
q_work = x[3] @ w_query + b_query  # the query from above

keys = x @ w_key  # row i is x[i] times w_key
values = x @ w_value
scores = keys @ q_work  # one score per key
weights = (scores / 2**0.5).softmax(dim=-1)
output = weights @ values

print("key (two numbers), score, weight, value (two numbers)")
for i, word in enumerate(words):
    numbers = [*keys[i], scores[i], weights[i], *values[i]]
    print(f"{word:>4}", *(f"{number.item():8.2f}" for number in numbers))
print("output of work:", *(f"{number:.2f}" for number in output.tolist()))

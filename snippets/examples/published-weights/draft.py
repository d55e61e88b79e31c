from variants.speculative import draft

text = "the sea is calm and the sky is clear and the"
words = text.split()
numbers = {word: number for number, word in enumerate(dict.fromkeys(words))}
ids = [numbers[word] for word in words]
guess = draft(ids, 3)
names = list(numbers)
print(f"last two words: {' '.join(words[-2:])}")
print(f"guess: {' '.join(names[number] for number in guess)}")

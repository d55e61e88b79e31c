from pathlib import Path

import translator
from corpus import english_tokens

path = Path(translator.__file__).with_name("translator.safetensors")
trained = translator.load_translator(path)
sentences = [
    "Why do we work?",
    "Why did we not work yesterday?",
    "My mother has two cats.",
    "three hundred and forty-two thousand and five",
]
found = trained.translate([english_tokens(text) for text in sentences])
for text, characters in zip(sentences, found, strict=True):
    print(f"{text} {''.join(characters)}")

from pathlib import Path

import translator

weights = Path(translator.__file__).with_name("translator.safetensors")
ours = translator.load_translator(weights)
for sentence in "why do we work ?", "my name is wolfgang":
    try:
        (characters,) = ours.translate([sentence.split()])
        print(f"{sentence} -> {''.join(characters)}")
    except ValueError as error:
        print(f"{sentence} -> error: {error}")

from pathlib import Path

import translator

path = Path(translator.__file__).with_name("translator.safetensors")
trained = translator.load_translator(path)
print("".join(trained.translate([["why", "do", "we", "work", "?"]])[0]))

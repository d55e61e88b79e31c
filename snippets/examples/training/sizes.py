from pathlib import Path

import corpus
import train
import translator

path = Path(train.__file__).with_name("translator.safetensors")
# These pairs have all tokens of the training set; only zero isn't in the test.
pairs = [*corpus.numerals("test"), corpus.number_pair(0)]
sizes = train.TASKS["numerals"].sizes
models = {
    "numerals": translator.new_translator(pairs, **sizes).model,
    "translator": translator.load_translator(path).model,
}
for name, model in models.items():
    config, settings = model.config, train.TASKS[name].settings
    print(f"{name}, d_model: {config.d_model}")
    print(f"{name}, heads: {config.nhead}")
    print(f"{name}, encoder layers: {config.num_encoder_layers}")
    print(f"{name}, decoder layers: {config.num_decoder_layers}")
    print(f"{name}, hidden units: {config.dim_feedforward}")
    print(f"{name}, dropout: {config.dropout:g}")
    print(f"{name}, pre-norm: {config.norm_first}")
    parameters = sum(p.numel() for p in model.parameters())
    print(f"{name}, parameters: {parameters:,}")
    print(f"{name}, steps: {settings.steps}")
    print(f"{name}, peak: {settings.peak:g}")
    print(f"{name}, sentences in a batch: {settings.batch_size}")

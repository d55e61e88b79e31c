from pathlib import Path

import torch

import translator

path = Path(translator.__file__).with_name("translator.safetensors")


@torch.no_grad()
def translate(sentence, without=()):
    """The translation without these heads of layer 1."""
    trained = translator.load_translator(path)  # with all heads
    weight = trained.model.decoder.layers[1].cross_attention.output.weight
    for head in without:  # the 24 columns that multiply its result
        weight[:, 24 * head : 24 * head + 24] = 0
    return "".join(trained.translate([sentence.split()])[0])


football, piano = "she plays football at home", "she plays the piano at home"
print("football:", translate(football))
print("football, without head 2:", translate(football, without=(2,)))
print("football, without 0, 1, 3:", translate(football, without=(0, 1, 3)))
print("piano, without 0, 1, 3:", translate(piano, without=(0, 1, 3)))

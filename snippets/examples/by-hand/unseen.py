import pencil

translator = pencil.load_pencil()
model = translator.model.requires_grad_(False)
right = 0
for pair in pencil.sentences():
    (found,) = translator.translate([pair.source])
    right += found == pair.target
    src, tgt, *_ = pencil.batch_of(translator, [pair])
    logits = model(src, tgt[:, :-1])
    chances = logits.softmax(dim=-1).gather(-1, tgt[:, 1:, None])
    seen = "new" if pair.source in pencil.UNSEEN else "in training"
    print(f"{seen}, {' '.join(pair.source)}: {' '.join(found)}")
    print(f"lowest probability, {' '.join(pair.source)}: {chances.min():.3f}")
print("sentences:", len(pencil.sentences()))
print("right:", right)

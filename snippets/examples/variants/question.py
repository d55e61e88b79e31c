import torch

from corpus import Vocabulary
from transformer import TransformerConfig
from variants.class_token import Classifier, batch_of, fit, questions

train, test = questions("train", 200), questions("test", 40)
vocabulary = Vocabulary(word for words, _ in train + test for word in words)
sizes = {"d_model": 32, "nhead": 2, "num_encoder_layers": 1}
sizes |= {"dim_feedforward": 64, "dropout": 0.0, "norm_first": True}
pair = [(["the", "teacher", "is", "busy"], False)]
pair += [(["is", "the", "teacher", "busy"], True)]

answers = [asked for _, asked in test]
print("sentences to learn from:", len(train))
print("held-out sentences:", len(test))
print(f"always no: {1 - sum(answers) / len(answers):.1%}")
for name in "with positions", "without positions":
    torch.manual_seed(0)
    model = Classifier(TransformerConfig(len(vocabulary), 1, **sizes), 2)
    if name == "without positions":
        model.position.table.zero_()
    fit(model, vocabulary, train)
    ids, classes = batch_of(vocabulary, test)
    right = (model(ids).argmax(dim=-1) == classes).float().mean()
    print(f"{name}: {right:.1%}")
    ids, _ = batch_of(vocabulary, pair)
    sure = model(ids).softmax(dim=-1)[:, 1].tolist()
    for (words, _), chance in zip(pair, sure, strict=True):
        print(f"{name}, {' '.join(words)}: {chance:.3f}")

import torch
import torch.nn.functional as F

from corpus import Vocabulary
from transformer import TransformerConfig, padding_mask
from variants.class_token import Classifier, batch_of, fit, questions


class MeanClassifier(Classifier):
    """Reads the answer from the mean of the real tokens' vectors."""

    def forward(self, ids):
        mask = padding_mask(ids, self.pad_id)
        x = self.encoder(self.position(self.embedding(ids)), mask)
        real = mask[:, 0, 0, :, None]  # (batch, n, 1)
        return self.head((x * real).sum(dim=1) / real.sum(dim=1))


train, test = questions("train", 200), questions("test", 40)
vocabulary = Vocabulary(word for words, _ in train + test for word in words)
sizes = {"d_model": 32, "nhead": 2, "num_encoder_layers": 1}
sizes |= {"dim_feedforward": 64, "dropout": 0.0, "norm_first": True}
torch.manual_seed(0)
model = MeanClassifier(TransformerConfig(len(vocabulary), 1, **sizes), 2)
fit(model, vocabulary, train)
ids, classes = batch_of(vocabulary, test)
right = (model(ids).argmax(dim=-1) == classes).float().mean()
print(f"right: {right:.1%}")
one = ids[:1, ids[0] != 0]
same = model(one).allclose(model(F.pad(one, (0, 5))), atol=1e-5)
print("the same with five pads more:", same)

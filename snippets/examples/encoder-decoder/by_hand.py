import torch

from transformer import EncoderLayer, TransformerConfig

config = TransformerConfig(
    9, 12, d_model=4, nhead=1, dim_feedforward=1, dropout=0, layer_norm_eps=0
)
layer = EncoderLayer(config)
attention, network = layer.self_attention, layer.feed_forward
with torch.no_grad():
    for module in (attention, network):
        for parameter in module.parameters():
            parameter.zero_()  # equal scores: each token takes the average
    attention.value.weight.copy_(torch.eye(4))
    attention.output.weight.copy_(torch.eye(4))
    network.linear1.weight[0, 0] = 3  # the hidden unit is relu(3 y0 - 3)
    network.linear1.bias[0] = -3
    network.linear2.weight[2, 0] = 4 / 3  # and writes into column 2

    x = torch.tensor([[[6.0, 2, 0, 0], [0, 0, 2, 6]]])
    attended = attention(x, x, x)[0]
    y = layer.norm1(x + attended)
    print("attention:", attended[0].tolist())
    print("times 3, after LayerNorm:", (3 * y[0]).round().tolist())
    print("hidden unit:", network.linear1(y).relu()[0].round().tolist())
    print("times 3, out of the layer:", (3 * layer(x)[0]).round().tolist())

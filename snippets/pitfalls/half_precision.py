import torch


def wrong_replaced(scores, hidden):
    return scores.masked_fill(hidden, -1e9).softmax(dim=-1)


def wrong_added(scores, hidden):
    fill = torch.tensor(-1e9).to(scores.dtype)  # in float16: minus infinity
    return (scores + hidden * fill).softmax(dim=-1)


def right_weights(scores, hidden):
    lowest = torch.finfo(scores.dtype).min  # of whatever type it is
    return scores.masked_fill(hidden, lowest).softmax(dim=-1)


scores = torch.tensor([2.0, 1.0, 3.0])
hidden = torch.tensor([False, False, True])
for weigh in wrong_replaced, wrong_added, right_weights:
    for dtype in torch.float32, torch.bfloat16, torch.float16:
        try:
            weights = weigh(scores.to(dtype), hidden)
            said = " ".join(f"{x:.2f}" for x in weights.tolist())
        except RuntimeError as error:
            said = str(error)
        print(f"{weigh.__name__}, {str(dtype)[6:]}: {said}")

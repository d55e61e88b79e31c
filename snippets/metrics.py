# --8<-- [start:imports]
"""How good translations are: perplexity, BLEU and chrF."""

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence

import torch

from batching import Example, cut, example_of, length
from decode import beam_search, eval_mode
from sentence_pairs import Subwords, Text
from trainer import label_smoothed_cross_entropy
from transformer import Transformer
from translator import BOS, EOS, PAD, Translator, padded


# --8<-- [end:imports]
# --8<-- [start:evaluation]
def mean_loss(
    model: Transformer, examples: list[Example], max_tokens: int
) -> float:
    """The mean of -log p over all target tokens and <eos>, in nats.

    Its exponential is the perplexity. Without dropout and label smoothing.
    A batch has at most max_tokens tokens a side, or one sentence.
    """
    device = next(model.parameters()).device
    ordered = sorted(examples, key=length, reverse=True)
    lengths = [length(example) for example in ordered]
    total, count = 0.0, 0
    with eval_mode(model):
        for each in cut(lengths, max(max_tokens, lengths[0])):
            rows = zip(*ordered[each], strict=True)
            src, tgt = (padded(ids).to(device) for ids in rows)
            targets = tgt[:, 1:]
            logits = model(src, tgt[:, :-1]).float()
            loss = label_smoothed_cross_entropy(logits, targets, 0.0, PAD)
            tokens = int((targets != PAD).sum())
            total, count = total + loss.item() * tokens, count + tokens
    return total / count


def exp(loss: float) -> float:
    """The perplexity of a loss in nats; inf where a float ends."""
    return math.exp(loss) if loss < 709 else math.inf


def translate_all(
    translator: Translator,
    sources: list[list[str]],
    beam_size: int = 4,
    batch_size: int = 64,
    show: Callable[[int], None] = lambda count: None,
) -> list[list[str]]:
    """Lists of subwords -> lists of subwords, by beam search.

    A translation has at most twice as many subwords as the longest source of
    its batch and 20 more, and no more than the model has positions. Calls
    show after each batch with the number of translations.
    """
    model, found = translator.model, [[""]] * len(sources)
    device = next(model.parameters()).device
    order = sorted(range(len(sources)), key=lambda i: len(sources[i]))
    for start in range(0, len(order), batch_size):
        rows = order[start : start + batch_size]
        ids = [translator.source.encode(sources[i]) for i in rows]
        src = padded(map(torch.tensor, ids)).to(device)
        longest = min(2 * src.size(1) + 20, model.config.max_len)
        tgt = beam_search(model, src, longest, BOS, EOS, beam_size)
        for i, row in zip(rows, tgt.tolist(), strict=True):
            found[i] = translator.target.decode(row)
        show(start + len(rows))
    return found


# --8<-- [end:evaluation]
# --8<-- [start:metrics]
def ngrams(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    """How often each run of n tokens occurs."""
    runs = zip(*(tokens[i:] for i in range(n)), strict=False)
    return Counter(runs)


def bleu(hypotheses: list[list[str]], references: list[list[str]]) -> float:
    """BLEU of a corpus of tokens, 0 .. 100, with one reference each.

    The geometric mean of the precisions of 1 to 4 tokens, times a penalty if
    the hypotheses are shorter. The k-th precision without a match is
    1 / (2^k total). Equal to sacreBLEU. Source: Papineni et al. 2002.
    """
    precisions, zeros = [], 0
    for n in range(1, 5):
        matches = total = 0
        for hypothesis, reference in zip(hypotheses, references, strict=True):
            counts = ngrams(hypothesis, n)
            matches += (counts & ngrams(reference, n)).total()
            total += counts.total()
        if total == 0 or (n == 1 and matches == 0):
            return 0.0
        zeros += matches == 0
        precisions.append((matches or 0.5**zeros) / total)
    ratio = sum(map(len, references)) / sum(map(len, hypotheses))
    penalty = math.exp(min(0.0, 1 - ratio))
    return 100 * penalty * math.prod(precisions) ** 0.25


def chrf(hypotheses: list[str], references: list[str]) -> float:
    """chrF2 of a corpus of texts, 0 .. 100, with one reference each.

    P and R are the means of precision and recall of runs of n characters
    without white space, for those n of 1 to 6 that occur on both sides; then
    (1 + b^2) P R / (b^2 P + R) with b = 2: recall weighs more.
    Equal to sacreBLEU. Source: Popović 2015.
    """
    precisions, recalls = [], []
    for n in range(1, 7):
        matches = written = expected = 0
        for hypothesis, reference in zip(hypotheses, references, strict=True):
            counts = ngrams("".join(hypothesis.split()), n)
            others = ngrams("".join(reference.split()), n)
            matches += (counts & others).total()
            written += counts.total() if others else 0
            expected += others.total()
        if written and expected:
            precisions.append(matches / written)
            recalls.append(matches / expected)
    precision = sum(precisions) / max(1, len(precisions))
    recall = sum(recalls) / max(1, len(recalls))
    if precision == 0:  # no match, so the recall is 0 too
        return 0.0
    return 500 * precision * recall / (4 * precision + recall)


# --8<-- [end:metrics]
# --8<-- [start:scores]
def scores(hypotheses: list[str], references: list[str]) -> dict[str, float]:
    """BLEU and chrF by sacreBLEU; ImportError if it isn't installed.

    BLEU splits Chinese into characters and other text into words.
    """
    import sacrebleu

    chinese = re.search("[\u4e00-\u9fff]", "".join(references))
    tokenize = "zh" if chinese else "13a"
    bleu = sacrebleu.corpus_bleu(hypotheses, [references], tokenize=tokenize)
    chrf = sacrebleu.corpus_chrf(hypotheses, [references])
    return {f"BLEU ({tokenize})": bleu.score, "chrF2": chrf.score}


def evaluate(
    translator: Translator,
    subwords: Subwords,
    texts: list[Text],
    max_tokens: int,
    show: Callable[[int], None] = lambda count: None,
) -> tuple[dict[str, float], str]:
    """The perplexity and scores of the translations, and a table of them.

    A line of the table has source, reference and translation. Without
    sacreBLEU, prints a message and returns the perplexity alone.
    """
    pairs = [subwords.pair(text) for text in texts]
    examples = [example_of(translator, pair) for pair in pairs]
    loss = mean_loss(translator.model, examples, max_tokens)
    result = {"perplexity": exp(loss)}
    sources = [pair.source for pair in pairs]
    found = translate_all(translator, sources, show=show)
    hypotheses = [" ".join(subwords.join(row).split()) for row in found]
    rows = zip(texts, hypotheses, strict=True)
    table = "".join(f"{a}\t{b}\t{hypothesis}\n" for (a, b), hypothesis in rows)
    try:
        result |= scores(hypotheses, [text.target for text in texts])
    except ImportError:
        print("\nno BLEU and chrF; install them with: pip install sacrebleu")
    return result, table


# --8<-- [end:scores]

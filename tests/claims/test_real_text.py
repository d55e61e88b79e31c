"""The claims of the chapter on real text and real weights."""

import json
import math
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

import decode
from decode import beam_search, greedy_decode, sentence_score
from evidence.marian_models import (
    EOS,
    SMALL,
    VOCAB_SIZE,
    Models,
    generate,
    input_effects,
    random_ids,
    random_models,
    relative_differences,
)
from helpers import measured, run_snippet
from marks import claim, mutation
from transformer import PositionalEncoding
from variants import opus_mt
from variants.marian import load_marian
from variants.opus_mt import Tokens

CHAPTER = "real-text"
SEEDS = {"en-zh": 0, "zh-en": 1}  # both directions have the same shapes and other weights
SRC, TARGET = random_ids(60, 4, 11, padded=4), random_ids(60, 4, 7)


# The architecture


@pytest.fixture(scope="module", params=SEEDS)
def model_pair(request: pytest.FixtureRequest) -> Models:
    """The shapes of OPUS-MT, with a vocabulary of 60."""
    return random_models(60, SEEDS[request.param], attn_implementation="eager")


@pytest.fixture(scope="module")
def small_pair() -> Models:
    """Small shapes; every translation depends on its source."""
    return random_models(60, std=0.6, **SMALL)


@claim("real-text#proof")
def test_in_the_published_shapes_every_layer_equals_that_of_transformers(model_pair):
    differences = relative_differences(model_pair, SRC, TARGET)
    assert len(differences) == 6 + 6 + 1
    assert max(differences.values()) < 1e-5


@claim("real-text#proof", kind="measurement")
def test_the_published_shapes_forget_the_target_with_large_weights_and_not_with_ours():
    ours, large = (
        input_effects(random_models(60, **options), SRC, TARGET) for options in ({}, {"std": 0.1})
    )
    assert min(ours.values()) > 0.1
    assert large["source"] > 0.1 and large["target"] < 1e-4


@claim("real-text#proof", kind="measurement")
def test_every_forgotten_bias_but_that_of_the_keys_shows():
    models = random_models(60, std=0.1, **SMALL)
    shown = {}
    for name, module in models[1].named_modules():
        bias = getattr(module, "bias", None)
        if bias is None or name == "":
            continue
        before = bias.data.clone()
        bias.data.zero_()
        shown[name] = max(relative_differences(models, SRC, TARGET).values())
        bias.data.copy_(before)
    keys = {name for name in shown if name.endswith(".key")}
    assert len(keys) == 6 and len(shown) == 2 * (4 + 2 + 2) + 2 * (8 + 2 + 3)
    for name, difference in shown.items():
        assert difference < 1e-5 if name in keys else difference > 1e-3


@claim("real-text#positions")
def test_the_published_positions_are_our_table_with_all_sines_first(small_pair):
    theirs, ours = small_pair
    published = theirs.state_dict()["model.encoder.embed_positions.weight"]
    torch.testing.assert_close(ours.position.table, published, rtol=0, atol=1e-6)
    table = PositionalEncoding(64, 64).table
    assert ours.position.table[:, :32].equal(table[:, 0::2])
    assert not ours.position.table.equal(table)


@claim("real-text#swish")
def test_swish_is_the_input_times_its_sigmoid(printed):
    shown = printed("exercises", "swish")
    for z in (1, -1, -5):
        assert float(shown[f"swish({z})"]) == pytest.approx(z / (1 + math.exp(-z)), abs=5e-4)


@claim("real-text#start")
def test_with_the_padding_token_as_the_start_the_logits_differ(small_pair):
    """Our masks hide it, and MarianMTModel doesn't; no translation contains our start token."""
    _, ours = small_pair
    src, target = random_ids(60, 3, 6), random_ids(60, 3, 5)
    impossible = ours(src, target).isinf()
    assert impossible[..., -1].all() and not impossible[..., :-1].any()
    one, other = (F.pad(target, (1, 0), value=start) for start in (59, 60))
    with decode.eval_mode(ours):
        changes = (ours(src, one) - ours(src, other))[..., :60].abs().amax(dim=(0, 2))
    assert changes.min() > 0.1
    with pytest.raises(ValueError, match="bos_id must"):
        greedy_decode(ours, src, 5, bos_id=59, eos_id=EOS)


@claim("real-text#shared")
@mutation(
    "variants/marian.py",
    "self.src_embedding = self.tgt_embedding",
    "pass",
    fault="Marian's source and target have tables of their own",
)
def test_one_table_serves_source_target_and_logits(small_pair):
    _, ours = small_pair
    tables = (ours.src_embedding.embedding, ours.tgt_embedding.embedding, ours.output)
    assert len({id(module.weight) for module in tables}) == 1


@claim("real-text#shared")
def test_the_parameters_of_the_published_shapes_follow_the_formula(printed):
    d, width, vocab_size = 512, 2048, VOCAB_SIZE
    attention, norm = 4 * (d * d + d), 2 * d
    network = 2 * d * width + width + d
    layers = 6 * (attention + network + 2 * norm) + 6 * (2 * attention + network + 3 * norm)
    shown = printed("examples", "parameters")
    count = vocab_size * d + layers + vocab_size
    assert shown["parameters"] == f"{count:,}"
    assert shown["in the table of embeddings"] == f"{vocab_size * d / count:.0%}"


@claim("real-text#start")
def test_the_inverse_gives_the_names_that_transformers_has(printed, small_pair):
    shown = printed("exercises", "published_name")
    assert shown["there and back"] == "True"
    assert shown["different names"] == shown["weights of the layers"]
    names, _ = run_snippet("exercises", "real-text", "published_name")
    theirs = {name for name in small_pair[0].state_dict() if ".layers." in name}
    ours = {name for name in small_pair[1].state_dict() if ".layers." in name}
    assert {names["published_name"](name) for name in ours} == theirs


# Decoding


@claim("real-text#proof")
@pytest.mark.parametrize("use_cache", [True, False])
def test_greedy_decoding_equals_generate(small_pair, use_cache):
    _, ours = small_pair
    src = random_ids(60, 20, 9, padded=3)
    theirs = generate(small_pair, src, 12)
    assert len({tuple(row) for row in theirs.tolist()}) >= 8  # the source matters
    assert greedy_decode(ours, src, 12, 60, EOS, use_cache).equal(theirs)


def plain_best(totals: Tensor, logits: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """As decode.best_continuations, but no beam is reserved for the greedy translation."""
    scores = (totals[..., None] + logits.log_softmax(dim=-1)).flatten(1)
    totals, best = scores.topk(totals.size(1))
    return totals, best // logits.size(-1), best % logits.size(-1)


@claim("real-text#proof")
def test_without_the_reserved_beam_our_beam_search_equals_generate(monkeypatch):
    theirs, _ = random_models(60, std=0.6, **SMALL)
    theirs.final_logits_bias[0, EOS] = -30  # no translation ends
    ours = load_marian(theirs.config.to_dict(), theirs.state_dict())
    src = random_ids(60, 20, 9, padded=3)
    monkeypatch.setattr(decode, "best_continuations", plain_best)
    options = {"num_beams": 4, "length_penalty": 0.0, "early_stopping": "never"}
    found = beam_search(ours, src, 12, 60, EOS, 4, length_penalty=0.0)
    assert found.equal(generate((theirs, ours), src, 12, **options))
    greedy = greedy_decode(ours, src, 12, 60, EOS)
    assert (found != greedy).any(dim=1).sum() >= 5  # the search matters


@claim("real-text#proof", kind="measurement")
@pytest.mark.parametrize("renormalize", [True, False])
def test_generate_divides_by_a_power_of_the_length_and_excludes_padding_only_if_renormalized(
    small_pair, renormalize
):
    """By n^alpha; our normalization, ((5 + n) / 6)^alpha, is that of Wu et al."""
    (theirs, ours), src = small_pair, random_ids(60, 8, 9)
    shown = theirs.generate(
        src,
        attention_mask=torch.ones_like(src),
        max_new_tokens=12,
        bad_words_ids=[[ours.config.pad_id]],
        num_beams=4,
        length_penalty=0.6,
        early_stopping="never",
        renormalize_logits=renormalize,
        return_dict_in_generate=True,
        output_scores=True,
    )
    ids = shown.sequences[:, 1:]
    totals = shown.sequences_scores * (ids != ours.config.pad_id).sum(dim=1) ** 0.6
    lacking = sentence_score(ours, src, ids, 60) - totals
    assert lacking.abs().max() < 1e-4 if renormalize else lacking.min() > 0.001


# Tokens


@pytest.fixture(scope="module", params=SEEDS)
def published_folder(request: pytest.FixtureRequest, tmp_path_factory) -> Path:
    """The published files of a tiny model for one direction."""
    from sentencepiece import SentencePieceTrainer

    from corpus import translator

    folder = tmp_path_factory.mktemp(request.param)
    pairs = [pair for pair in translator(part="train") if len(pair.source) < 9][:2000]
    english = [" ".join(pair.source) for pair in pairs]
    chinese = ["".join(pair.target) for pair in pairs]
    sides = (english, chinese) if request.param == "en-zh" else (chinese, english)
    pieces = {}
    for name, sentences in zip(("source", "target"), sides, strict=True):
        prefix = folder / name
        SentencePieceTrainer.train(
            sentence_iterator=iter(sentences),
            model_prefix=str(prefix),
            vocab_size=400,
            hard_vocab_limit=False,
            num_threads=1,
            minloglevel=2,
        )
        prefix.with_suffix(".model").rename(folder / f"{name}.spm")
        for line in prefix.with_suffix(".vocab").read_text(encoding="utf-8").splitlines()[3:]:
            pieces.setdefault(line.split("\t")[0])
    tokens = ["</s>", "<unk>", ">>cmn_Hans<<", *pieces, "<pad>"]
    ids = {token: i for i, token in enumerate(tokens)}
    (folder / "vocab.json").write_text(json.dumps(ids), encoding="utf-8")
    theirs, _ = random_models(len(ids), std=0.6, **SMALL)
    (folder / "config.json").write_text(json.dumps(theirs.config.to_dict()), encoding="utf-8")
    torch.save(theirs.state_dict(), folder / "pytorch_model.bin")
    return folder


@pytest.fixture
def tokenizer(published_folder):
    from transformers import MarianTokenizer

    files = (str(published_folder / name) for name in ("source.spm", "target.spm", "vocab.json"))
    return MarianTokenizer(*files)


TEXTS = [
    ">>cmn_Hans<< We  rest at home? ",
    ">>jpn<< we work .",
    "a quartz sphinx & 42 √",
    "我们  在家休息。ＡＢ",
]


@claim("real-text#subwords")
@pytest.mark.parametrize("text", TEXTS)
def test_the_ids_of_a_text_equal_those_of_marian_tokenizer(published_folder, tokenizer, text):
    assert Tokens(published_folder).encode(text) == tokenizer(text)["input_ids"]


@claim("real-text#subwords")
def test_the_text_of_ids_equals_that_of_marian_tokenizer(published_folder, tokenizer):
    tokens = Tokens(published_folder)
    unknown = tokens.ids["<unk>"]
    for ids in random_ids(len(tokens.ids), 30, 8, padded=3).tolist():
        ids = [*ids[:4], unknown, *ids[4:], EOS]
        assert tokens.decode(ids) == tokenizer.decode(ids, skip_special_tokens=True)


@claim("real-text#prefix")
def test_the_prefix_is_one_token_before_the_sentence(published_folder):
    tokens = Tokens(published_folder)
    prefix, *rest = tokens.encode(">>cmn_Hans<< we work .")
    assert prefix == tokens.ids[">>cmn_Hans<<"]
    assert rest == tokens.encode("we work .")


# The command


@pytest.fixture
def local_hub(published_folder, tmp_path, monkeypatch) -> Iterator[None]:
    """A local server in place of huggingface.co with one model, and an empty folder."""
    name, revision = opus_mt.EN_ZH if "en-zh" in published_folder.name else opus_mt.ZH_EN
    (models := tmp_path / "Helsinki-NLP" / name / "resolve").mkdir(parents=True)
    (models / revision).symlink_to(published_folder)
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    monkeypatch.setattr(opus_mt, "SITE", f"http://127.0.0.1:{server.server_port}")
    found = opus_mt.sha256(str(published_folder / opus_mt.WEIGHTS))
    monkeypatch.setattr(opus_mt, "SHA256", {name: found})
    (downloads := tmp_path / "downloads").mkdir()
    monkeypatch.chdir(downloads)
    Thread(target=server.serve_forever, daemon=True).start()
    yield
    server.shutdown()
    server.server_close()


def run_opus_mt(monkeypatch, published_folder: Path, *sentences: str) -> None:
    arguments = sentences if "en-zh" in published_folder.name else ("--reverse", *sentences)
    monkeypatch.setattr(sys, "argv", ["opus_mt", *arguments])
    opus_mt.main()


@claim("real-text#run")
def test_the_command_downloads_the_pinned_files_and_translates(
    published_folder, local_hub, monkeypatch, capsys
):
    forward = "en-zh" in published_folder.name
    sentences = ["why do we work ?", "we rest at home ."] if forward else ["我们为什么工作？"]
    run_opus_mt(monkeypatch, published_folder, *sentences)
    prefix = ">>cmn_Hans<<" if forward else ""
    model, tokens = opus_mt.load(published_folder)
    expected = [opus_mt.translate(model, tokens, prefix + sentence) for sentence in sentences]
    assert capsys.readouterr().out.splitlines() == expected
    assert all(expected)


@claim("real-text#run")
def test_other_weights_than_the_published_ones_are_refused(
    published_folder, local_hub, monkeypatch
):
    monkeypatch.setattr(opus_mt, "SHA256", dict.fromkeys(opus_mt.SHA256, 64 * "0"))
    with pytest.raises(SystemExit, match=r"pytorch_model\.bin has another SHA-256 than expected"):
        run_opus_mt(monkeypatch, published_folder, "we work .")
    assert not [*Path.cwd().rglob("pytorch_model.bin")]


# What is measured


@claim("real-text#proof", kind="measurement")
def test_the_measured_differences_are_of_the_current_code():
    _, results = measured("real_text")
    for row in results["directions"].values():
        assert max(row["encoder"], row["decoder"], row["logits"]) < 1e-5
        assert row["greedy"] == results["sentences"]
        assert min(row["other ids"].values()) > 0.1  # the inputs matter
        assert row["different"] > results["sentences"] / 2
    assert results["beams"]["ours below greedy"] == 0
    assert 0 < results["beams"]["generate below greedy"] < results["beams"]["sentences"] / 10


@claim("real-text#recipe", kind="measurement")
def test_the_operations_are_those_that_the_paper_states(printed):
    shown = printed("examples", "recipe")
    assert shown["base, operations"] == "3.3e+18"
    assert shown["big, operations"] == "2.3e+19"

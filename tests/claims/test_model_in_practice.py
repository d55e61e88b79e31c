"""The claims of the page on the model in practice: checkpoints, speed, data types, devices."""

import json
import shutil
import warnings
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.testing import assert_close

import transformer
import translator
from evidence.comparisons import randomized
from evidence.references import TorchTransformer
from helpers import ROOT, SNIPPETS
from marks import claim
from transformer import LayerNorm, Transformer, TransformerConfig

CHAPTER = "model-in-practice"
SRC = torch.tensor([[4, 5, 6, 7, 8], [6, 7, 0, 0, 0]])  # why do we work ?
TGT = torch.tensor([[1, 4, 5, 6, 7, 8, 9, 10, 11], [1, 4, 5, 9, 10, 0, 0, 0, 0]])


@pytest.fixture
def printed(printed, tmp_path, monkeypatch):
    """Run in a temporary folder, since some examples write files."""
    monkeypatch.chdir(tmp_path)
    return printed


@pytest.fixture(params=[False, True], ids=["untied", "tied"])
def tied(request):
    return request.param


def configuration(**changes) -> TransformerConfig:
    small = {"d_model": 16, "nhead": 2, "num_encoder_layers": 2, "num_decoder_layers": 2}
    small |= {"dim_feedforward": 24, "dropout": 0.0, "max_len": 20}
    return TransformerConfig(9, 12, **(small | changes))


def make_model(seed: int = 0, **changes) -> Transformer:
    torch.manual_seed(seed)
    return Transformer(configuration(**changes))


# Equal to nn.Transformer


@claim("model-in-practice#equal-in-detail")
def test_in_evaluation_real_positions_agree_although_the_fast_path_changes_others(dtype):
    model = randomized(make_model(), dtype).eval()
    counterpart = TorchTransformer(model, dtype).eval()
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x = model.position(model.src_embedding(SRC))
        memory, theirs = model.encode(SRC), counterpart.encoder(x, src_key_padding_mask=SRC == 0)
        logits = counterpart(SRC, TGT)
    real = SRC != 0
    assert_close(memory[real], theirs[real], rtol=1e-4, atol=1e-4)
    assert not theirs[~real].any()
    assert memory[~real].any()
    assert_close(model(SRC, TGT)[TGT != 0], logits[TGT != 0], rtol=1e-3, atol=1e-3)


@claim("model-in-practice#equal-in-detail")
def test_nn_transformer_has_a_last_layer_norm_on_both_stacks_with_either_norm(norm_first):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = nn.Transformer(8, 2, 1, 1, 8, batch_first=True, norm_first=norm_first)
    assert isinstance(theirs.encoder.norm, nn.LayerNorm)
    assert isinstance(theirs.decoder.norm, nn.LayerNorm)
    ours = make_model(norm_first=norm_first)
    assert isinstance(ours.encoder.norm, LayerNorm) == norm_first
    assert isinstance(ours.decoder.norm, LayerNorm) == norm_first


@claim("model-in-practice#equal-in-detail", kind="measurement")
def test_nn_transformer_initializes_packed_matrices_and_nonzero_biases():
    torch.manual_seed(0)
    layer = nn.Transformer(256, 2, 1, 1, 512, batch_first=True).decoder.layers[0]
    for attention in (layer.self_attn, layer.multihead_attn):
        packed, expected = attention.in_proj_weight.var().item(), 2 / (256 + 3 * 256)
        assert_close(packed, expected, rtol=0.05, atol=0)
        assert not attention.in_proj_bias.any()
        assert not attention.out_proj.bias.any()
    for linear in (layer.linear1, layer.linear2):
        expected = 2 / (linear.in_features + linear.out_features)
        assert_close(linear.weight.var().item(), expected, rtol=0.05, atol=0)
        assert linear.bias.all()


@claim("model-in-practice#speed", kind="measurement")
def test_the_measured_speed_is_of_the_current_code():
    record = json.loads((SNIPPETS / "results" / "model.json").read_text())
    sources = (ROOT / "scripts/experiments/model.py", Path(transformer.__file__))
    assert record["key"] == translator.code_key(*sources), "stale; run scripts/experiment model"


@claim("model-in-practice#speed", kind="measurement")
def test_the_measurement_supports_the_statements_on_the_page():
    rows = json.loads((SNIPPETS / "results" / "model.json").read_text())["rows"]
    assert rows[0]["time"]["explicit"] <= 1.25
    for kind in ("time", "memory"):
        assert all(row[kind]["fused"] <= 1.0 for row in rows)  # no more than nn.Transformer
        assert rows[-1][kind]["explicit"] > rows[0][kind]["explicit"] + 0.1  # for long sentences
        assert rows[-1][kind]["explicit"] > rows[-1][kind]["fused"] + 0.1


# Saving and loading


@claim("model-in-practice#saving")
def test_weights_survive_a_round_trip_with_another_max_len(tied, norm_first, tmp_path, dtype):
    model = randomized(make_model(tie_embeddings=tied, norm_first=norm_first), dtype)
    torch.save(model.state_dict(), tmp_path / "weights.pt")
    sizes = json.loads(json.dumps(asdict(model.config)))
    assert TransformerConfig(**sizes) == model.config
    other = Transformer(replace(TransformerConfig(**sizes), max_len=50)).to(dtype)
    saved = torch.load(tmp_path / "weights.pt", weights_only=True)
    other.load_state_dict(saved)
    assert not any("table" in name for name in saved)
    assert torch.equal(model(SRC, TGT), other(SRC, TGT))
    assert (other.output.weight is other.tgt_embedding.embedding.weight) == tied


@claim("model-in-practice#saving")
def test_a_different_configuration_is_rejected_or_silently_a_different_model(printed):
    shown = printed("examples", "other_configuration")
    assert any("size mismatch" in label and "linear1.weight" in label for label in shown)
    assert shown["8 heads instead of 4"] == "<All keys matched successfully>"
    assert shown["the same logits"] == "False"


# Types, devices, compiler


@claim("model-in-practice#elsewhere")
@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16], ids=str)
def test_the_whole_model_can_be_converted(dtype, tied, norm_first):
    model = make_model(tie_embeddings=tied, norm_first=norm_first)
    expected = model(SRC, TGT)
    model.to(dtype)
    assert {p.dtype for p in (*model.parameters(), *model.buffers())} == {dtype}
    logits = model(SRC, TGT)
    assert logits.dtype == dtype
    tolerance = {torch.float64: 1e-4, torch.float16: 0.05, torch.bfloat16: 0.3}[dtype]
    assert_close(logits.float(), expected, rtol=0, atol=tolerance)
    logits.float().sum().backward()
    assert all(p.grad.isfinite().all() for p in model.parameters())


@claim("model-in-practice#elsewhere")
def test_the_precisions_shown_are_within_their_bounds(printed):
    shown = printed("examples", "precisions")
    assert [v for k, v in shown.items() if "within" in k] == ["True"] * 3
    assert shown["parameters, in bytes each"] == "[4, 2, 2]"


@claim("model-in-practice#elsewhere")
def test_no_part_makes_a_tensor_on_another_device_than_its_inputs(tied, norm_first):
    model = make_model(tie_embeddings=tied, norm_first=norm_first).to("meta")
    logits = model(SRC.to("meta"), TGT.to("meta"))
    assert (logits.device.type, logits.shape) == ("meta", (2, 9, 12))


@pytest.fixture
def tiny_numbers_kept() -> Iterator[None]:
    """Loading code compiled by an older PyTorch turns on flush-to-zero for the whole process."""
    yield
    torch.set_flush_denormal(False)


NO_COMPILER = not any(map(shutil.which, ("g++", "c++", "clang++")))
# "aot_eager" traces the model as the default "inductor" does, but runs the operations as they are.
BACKENDS = [
    "aot_eager",
    pytest.param(
        "inductor",
        marks=[
            pytest.mark.slow,  # g++ compiles sixteen graphs
            pytest.mark.skipif(NO_COMPILER, reason="needs a C++ compiler, and none is there"),
        ],
    ),
]


@claim("model-in-practice#compile", kind="measurement")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("tiny_numbers_kept")
def test_the_compiled_model_is_one_graph_and_gives_the_same_logits(backend, norm_first):
    config = configuration(d_model=8, num_encoder_layers=1, num_decoder_layers=1, dim_feedforward=8)
    torch.manual_seed(0)
    model = Transformer(replace(config, norm_first=norm_first)).eval()
    compiled = torch.compile(model, backend=backend, dynamic=False, fullgraph=True)
    with torch.no_grad():
        assert_close(compiled(SRC, TGT), model(SRC, TGT))

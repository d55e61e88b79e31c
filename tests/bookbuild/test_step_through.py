"""The widget of the page Step through, without a browser: navigation, layout, formatting, texts."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from bookbuild.pages import paths
from bookbuild.pages.node import node_executable
from bookbuild.pages.paths import LANGUAGES
from bookbuild.pages.sections import without_section_markers
from bookbuild.reference import model_program, step_notes
from bookbuild.reference.javascript_model import TRANSLATOR_JS, to_float16
from bookbuild.reference.shape_tracer import MODEL_FILE

WIDGETS = paths.ROOT / "overrides/assets/widgets/step"
MODULES = ("run-model", "axes", "navigation", "view", "boxes", "drawing", "highlight")
LINK = re.compile(r"step-through\.md\?at=([^)&\s]+)(?:[^)\s]*?&off=([^)&\s]+))?")
SCRIPT = """
  const { readFileSync } = await import("node:fs");
  const [folder, input, ...files] = process.argv.slice(1);
  const modules = await Promise.all(files.map((file) => import(file)));
  const all = Object.assign({}, ...modules);
  const { buffer, byteOffset, length } = readFileSync(`${folder}/weights`);
  const translator = all.parse(buffer.slice(byteOffset, byteOffset + length));
  const program = JSON.parse(readFileSync(`${folder}/program.json`, "utf-8"));
  const { stops } = all.runModel(program, translator, [453, 104, 442, 458, 3], [1, 146, 31, 13]);
  const run = new Function("all", "program", "translator", "stops", "input", BODY);
  console.log(JSON.stringify(run(all, program, translator, stops, JSON.parse(input))));
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("step")
    (folder / "weights").write_bytes(to_float16())
    (folder / "program.json").write_text(json.dumps(model_program.model_program()))
    return folder


@pytest.fixture
def run_script(folder):
    """Runs JavaScript with all functions of the widget and the stops of a run."""

    def run(body: str, value: object = None):
        script = SCRIPT.replace("BODY", json.dumps(body))
        files = [TRANSLATOR_JS, *(WIDGETS / f"{name}.js" for name in MODULES)]
        command = [node_executable(), "--input-type=module", "--eval", script]
        command += [str(folder), json.dumps(value), *(each.as_uri() for each in files)]
        result = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout)

    return run


# Texts and links


def test_every_stop_has_a_text_of_its_own_and_every_text_a_stop(run_script):
    names = run_script("return stops.map((_, i) => all.textNames(stops, i))")
    texts = {stop["at"] for stop in step_notes.load_stops()}
    assert [each for each in names if each[0] not in texts] == []
    assert texts == {each[0] for each in names}


def test_every_function_of_the_program_has_a_text(folder):
    program = json.loads((folder / "program.json").read_text())
    assert program["functions"].keys() <= {stop["at"] for stop in step_notes.load_stops()}


def test_the_tour_has_twelve_stops_in_the_order_of_the_run(run_script):
    tour = [stop["at"] for stop in step_notes.load_tour()]
    found = run_script("return input.map((name) => all.findStop(stops, name))", tour)
    assert len(tour) == 12
    assert -1 not in found
    assert found == sorted(set(found))


def test_the_pictures_are_those_of_the_tour():
    source = (paths.SCRIPTS / "figures/step-through.py").read_text(encoding="utf-8")
    drawn = re.findall(r'def (\w+)\(label\):\n    return draw_stop\(\s*"([^"]+)"', source)
    assert [address for _, address in drawn] == [stop["at"] for stop in step_notes.load_tour()]
    for language in LANGUAGES:
        page = (paths.DOCS / language / "step-through.md").read_text(encoding="utf-8")
        assert re.findall(r"step-through/(\w+)\.svg", page) == [name for name, _ in drawn]
        texts = [stop[language] for stop in step_notes.load_tour()]
        assert all(text in page for text in texts)


def test_links_from_all_pages_name_stops_and_changes(run_script):
    links = [
        (path.relative_to(paths.DOCS).as_posix(), match[1], match[2] or "")
        for path in sorted(paths.DOCS.rglob("*.md"))
        for match in LINK.finditer(path.read_text(encoding="utf-8"))
    ]
    script = "return input.map(([, at, off]) => [all.findStop(stops, at), all.parseSwitch(off)])"
    found = run_script(script, links)
    wrong = [
        link
        for link, (stop, *switch) in zip(links, found, strict=True)
        if stop < 0 or (link[2] and switch == [None])
    ]
    assert links
    assert wrong == []


def test_sections_of_the_texts_exist():
    assert [*step_notes.note_errors()] == []


# Navigation


def test_the_name_of_each_stop_leads_back_to_it(run_script):
    names = run_script("return stops.map((_, i) => all.stopName(stops, i))")
    found = run_script("return input.map((name) => all.findStop(stops, name))", names)
    assert found == [*range(len(names))]


def test_unknown_names_have_no_stop(run_script):
    names = [
        "",
        "nothing",
        "Transformer.forward@x",
        "Transformer.forward:99",
        "padding_mask:x",
        ":",
    ]
    found = run_script("return input.map((name) => all.findStop(stops, name))", names)
    assert found == [-1] * len(names)


def test_step_over_stays_in_the_function_and_step_out_leaves_it(run_script):
    over, out = run_script("""
      const at = all.findStop(stops, "MultiHeadAttention.forward@encoder.layers.0.self_attention");
      const over = [at];
      for (let i = 0; i < 6; i++) over.push(all.stepOver(stops, over.at(-1)));
      const module = "encoder.layers.0.self_attention";
      const inner = all.findStop(stops, `scaled_dot_product_attention@${module}:scores`);
      const out = stops[all.stepOut(stops, inner)];
      return [over.map((i) => stops[i].changes[0].name), [out.function, out.changes[0].name]];
    """)
    # `attend` and `dropout` are lines without calls before the call of attention.
    assert over == ["query", "q", "k", "v", "attend", "dropout", "heads"]
    assert out == ["MultiHeadAttention.forward", "heads"]


def test_step_over_and_out_end_at_the_last_stop(run_script):
    last, over, out = run_script("""
      const last = stops.length - 1;
      return [last, all.stepOver(stops, last), all.stepOut(stops, last)];
    """)
    assert over == out == last


def test_run_to_line_takes_the_next_stop_there_and_then_the_first(run_script):
    found = run_script("""
      const first = "FeedForward.forward@encoder.layers.0.feed_forward:hidden";
      const { line } = stops[all.findStop(stops, first)];
      const found = [0];
      for (let i = 0; i < 5; i++) found.push(all.runToLine(stops, found.at(-1), line));
      return [found.slice(1).map((i) => stops[i].path), all.runToLine(stops, 0, 1)];
    """)
    paths_, never = found
    stacks = ["encoder.layers.0", "encoder.layers.1", "decoder.layers.0", "decoder.layers.1"]
    assert paths_ == [f"{each}.feed_forward" for each in [*stacks, stacks[0]]]
    assert never == -1


def test_next_layer_is_the_same_line_of_the_next_layer(run_script):
    names = run_script("""
      const names = [];
      let at = all.findStop(stops, "FeedForward.forward@encoder.layers.0.feed_forward:hidden");
      for (let i = 0; i < 5; i++) {
        names.push(all.stopName(stops, at));
        at = all.nextLayer(stops, at);
      }
      return [names, stops[all.nextLayer(stops, 0)].path];
    """)
    stacks = ["encoder.layers.0", "encoder.layers.1", "decoder.layers.0", "decoder.layers.1"]
    names, first = names
    expected = [f"FeedForward.forward@{each}.feed_forward:1" for each in stacks]
    assert names == [*expected, expected[-1]]
    assert first == "encoder.layers.0"


@pytest.mark.parametrize(
    ("name", "switch"),
    [
        ("mask", "mask"),
        ("decoder.layers.1.cross_attention.2", {"head": ["decoder.layers.1.cross_attention", 2]}),
        ("", None),
        ("__proto__", None),
        ("constructor", None),
    ],
)
def test_a_change_is_read_from_an_address(run_script, name, switch):
    assert run_script("return all.parseSwitch(input) ?? null", name) == switch


# Axes, numbers, drawing


def test_axes_count_words_of_the_right_side(run_script):
    sides = run_script("""
      const symbols = all.nameAxes(program, translator);
      return input.map((name) => {
        const at = all.findStop(stops, name);
        const { name: variable, after } = stops[at].changes[0];
        const axes = all.axesOf(stops, at, variable, after, symbols);
        return axes.map(({ name, side }) => side ?? name);
      });
    """, [
        "Transformer.encode:x",
        "scaled_dot_product_attention@decoder.layers.0.self_attention:weights",
        "scaled_dot_product_attention@decoder.layers.0.cross_attention:weights",
        "MultiHeadAttention.forward@decoder.layers.0.cross_attention:k",
        "Transformer.decode:mask:2",
        "Transformer.logits:return",
    ])  # fmt: skip
    assert sides == [
        ["batch", "source", "d_model"],
        ["batch", "head", "target", "target"],
        ["batch", "head", "target", "source"],
        ["batch", "head", "source", "head_dim"],
        ["batch", "1", "target", "target"],
        ["batch", "target", "tgt_vocab_size"],
    ]


def test_a_matrix_is_that_of_one_head(run_script):
    equal = run_script("""
      const symbols = all.nameAxes(program, translator);
      const module = "encoder.layers.0.self_attention";
      const at = all.findStop(stops, `MultiHeadAttention.split@${module}:return`);
      const last = stops[at].changes[0].after;
      const [before] = stops[at - 1].changes;
      const of = (at, name, tensor) =>
        all.matrixOf(tensor, all.axesOf(stops, at, name, tensor, symbols), 2);
      const [one, other] = [of(at, "return", last), of(at - 1, "x", before.after)];
      const start = 2 * one.values.length;
      return [one.rows, one.columns, [...one.values], [...other.values],
        [...last.data.slice(start, start + one.values.length)]];
    """)
    rows, columns, values, split, expected = equal
    assert (rows, columns) == (5, 24)
    assert values == split == expected


def test_numbers_are_short(run_script):
    values = [0, 3, -1.5, 1234.56, -0.0001234, 0.00001, 1e9]
    texts = run_script("return input.map((each) => all.formatNumber(each))", values)
    assert texts == ["0", "3", "−1.500", "1235", "−1.23e-4", "1.00e-5", "1.00e+9"]
    texts = run_script(
        "return input.map((each) => all.shortNumber(each))", [0, -0.001, 9.996, -123]
    )
    assert texts == ["0.00", "0.00", "10.0", "−123"]


def test_the_largest_numbers_come_in_order_and_equal_ones_as_in_the_tensor(run_script):
    found = run_script("return all.largest(input, 3)", [1, -3, 2, 3, 0, 2])
    assert found == [{"value": -3, "i": 1}, {"value": 3, "i": 3}, {"value": 2, "i": 2}]
    assert len(run_script("return all.largest(input, 3)", [0, 0])) == 2


def test_softmax_of_large_logits_sums_to_one(run_script):
    shares = run_script("return all.softmax([1000, 1000, -1000])")
    assert shares == [0.5, 0.5, 0]


@pytest.mark.parametrize(("rows", "columns"), [(5, 5), (9, 96), (1, 12), (314, 96), (60, 60)])
@pytest.mark.parametrize("room", [340, 580])
def test_a_map_fits_and_each_cell_is_found(run_script, rows, columns, room):
    plan, found, outside = run_script(f"""
      const plan = all.planMap({room}, {rows}, {columns}, 60, 50);
      const {{ left, top, cellWidth, cellHeight }} = plan;
      const at = (row, column) => all.cellAt(plan, {rows}, {columns},
        left + (column + 0.5) * cellWidth, top + (row + 0.5) * cellHeight);
      return [plan, at({rows - 1}, {columns - 1}), at({rows}, 0) ?? null];
    """)
    assert plan["width"] <= room + 1e-9
    assert plan["height"] <= 420 or rows <= 25
    assert found == {"row": rows - 1, "column": columns - 1}
    assert outside is None


def test_highlighting_keeps_the_file(run_script):
    code = without_section_markers(MODEL_FILE)
    lines = run_script("return all.highlight(input)", code)
    assert "\n".join("".join(text for _, text in line) for line in lines) + "\n" == code
    kinds = {kind for line in lines for kind, _ in line}
    assert kinds == {"", "comment", "keyword", "numeral", "string"}


# The diagram


def test_each_box_of_the_diagram_has_stops(run_script):
    boxes, used = run_script("""
      const { boxes } = all.placeBoxes({ source: 2, target: 2 });
      return [boxes.map(({ id }) => id), [...new Set(stops.map((_, i) => all.boxOf(stops, i)))]];
    """)
    assert {*boxes} == {*used} - {""}
    assert len(boxes) == len({*boxes}) == 19


def test_a_box_leads_to_the_weights_of_an_attention_and_into_other_parts(run_script):
    found = run_script("""
      const { boxes } = all.placeBoxes({ source: 2, target: 2 });
      return boxes.map(({ id, part }) => {
        const at = all.stopOfBox(stops, 0, id);
        return [id, part, all.boxOf(stops, at), stops[at].function, stops[at].changes[0].name];
      });
    """)
    assert [id_ for id_, _, box, *_ in found if box != id_] == []
    for _, part, _, function, variable in found:
        if part in ("self", "cross"):
            assert (function, variable) == ("scaled_dot_product_attention", "weights")
        if part == "feed":
            assert (function, variable) == ("FeedForward.forward", "hidden")


# The answers of the page


def test_what_the_second_cross_attention_reads_with_and_without_the_scaling(run_script):
    rows = run_script("""
      const words = ["why", "do", "we", "work", "?"];
      const { tokens } = translator.target;
      const tgt = [1, ...[..."我们为什么工作？"].map((token) => tokens.indexOf(token))];
      const name = "scaled_dot_product_attention@decoder.layers.1.cross_attention:weights";
      return [undefined, "scale"].map((without) => {
        const src = translator.encode(words);
        const { stops } = all.runModel(program, translator, src, tgt, { without });
        const { after } = stops[all.findStop(stops, name)].changes[0];
        const axes = ["", "head", "", ""].map((name, i) => ({ name, size: after.shape[i] }));
        return [2, 3, 4].map((row) => [0, 1, 2, 3].map((head) => {
          const { values } = all.matrixOf(after, axes, head);
          return Object.fromEntries(words.map((word, i) => [word, values[row * words.length + i]]));
        }));
      });
    """)  # fmt: skip
    (written, read, spread), (written_unscaled, read_unscaled, narrow) = rows
    for weights, unscaled in zip(written, written_unscaled, strict=True):
        assert max(weights, key=weights.get) == "why"
        assert unscaled["why"] == pytest.approx(weights["why"], abs=0.02)
    assert max(read[1], key=read[1].get) == "?"
    assert max(read_unscaled[1], key=read_unscaled[1].get) == "we"
    assert sum(weight > 0.1 for weight in spread[0].values()) == 4
    assert max(narrow[0].values()) > 0.95

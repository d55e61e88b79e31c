"""The widget of the page Step through, without a browser: navigation, layout, formatting, texts."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from bookbuild.generated import shape_tracer
from bookbuild.generated.javascript_model import TRANSLATOR_JS, to_float16
from bookbuild.generated.shape_tracer import MODEL_FILE
from bookbuild.pages import paths
from bookbuild.pages.node import node_executable
from bookbuild.pages.paths import LANGUAGES
from bookbuild.pages.sections import downloaded_line, without_section_markers
from bookbuild.step_through import model_program, step_notes

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


def test_the_tour_has_twelve_stops_in_the_order_of_the_run(run_script):
    tour = [stop["at"] for stop in step_notes.load_tour()]
    found = run_script("return input.map((name) => all.findStop(stops, name))", tour)
    assert len(tour) == 12
    assert found == sorted({*found} - {-1})


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
    assert links
    for link, (stop, *switch) in zip(links, found, strict=True):
        assert stop >= 0 and (not link[2] or switch != [None]), link


# Navigation


def test_the_name_of_each_stop_leads_back_to_it_and_no_other_name(run_script):
    names = run_script("return stops.map((_, i) => all.stopName(stops, i))")
    unknown = ["", "nothing", "Transformer.forward@x", "Transformer.forward:99", "padding_mask:x"]
    script = "return input.map((name) => all.findStop(stops, name))"
    assert run_script(script, names + unknown) == [*range(len(names)), *[-1] * len(unknown)]


# Axes, numbers, drawing


def test_axes_have_the_symbols_of_the_page_shapes(run_script):
    """Except for the batch, which is 1. Cross-attention has both lengths, m and n."""
    output = run_script("""
      const names = all.nameAxes(program, translator);
      const run = all.runModel(program, translator, [5, 6, 7], [1, 5, 6]);
      return run.stops.flatMap((stop, i) => stop.changes
        .filter(({ after }) => after.shape)
        .map(({ line, name }) => [stop.path, stop.function, name, line, names(i, name)]));
    """)
    lines = downloaded_line(MODEL_FILE.read_text(encoding="utf-8"))
    shapes = {
        (variable.function, variable.name, lines(variable.line)): symbols
        for variable, symbols in shape_tracer.symbolic_shapes().items()
    }
    compared = 0
    for path, function, name, line, axes in output:
        symbols = shapes.get((function, name, line))
        is_split = function.endswith(".split")  # whose last call is that of the values
        if symbols and not is_split and path == "decoder.layers.1.cross_attention":
            assert ["b", *axes[1:]] == [each.replace("1|n", "1") for each in symbols]
            compared += 1
    assert compared >= 18


def test_a_matrix_is_that_of_one_head(run_script):
    rows, columns, values, expected = run_script("""
      const module = "encoder.layers.0.self_attention";
      const at = all.findStop(stops, `MultiHeadAttention.split@${module}:return`);
      const { after } = stops[at].changes[0];
      const axes = all.axesOf(stops, at, "return", after, all.nameAxes(program, translator));
      const { rows, columns, values } = all.matrixOf(after, axes, 2);
      const start = 2 * values.length;
      return [rows, columns, [...values], [...after.data.slice(start, start + values.length)]];
    """)
    assert (rows, columns) == (5, 24)
    assert values == expected


def test_highlighting_keeps_the_file(run_script):
    code = without_section_markers(MODEL_FILE)
    lines = run_script("return all.highlight(input)", code)
    assert "\n".join("".join(text for _, text in line) for line in lines) + "\n" == code
    kinds = {kind for line in lines for kind, _ in line}
    assert kinds == {"", "comment", "keyword", "numeral", "string"}

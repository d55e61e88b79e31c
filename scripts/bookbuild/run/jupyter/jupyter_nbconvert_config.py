"""How nbconvert executes and renders the labs for mkdocs-jupyter."""

from pathlib import Path

from bookbuild.run import jobs, notebooks

c = get_config()  # type: ignore[name-defined]  # noqa: F821
c.HTMLExporter.extra_template_basedirs = [str(Path(__file__).parent)]
c.Exporter.default_preprocessors = [
    f"nbconvert.preprocessors.{name}Preprocessor"
    for name in ("Execute", "CoalesceStreams", "CSSHTMLHeader")
]
c.CoalesceStreamsPreprocessor.enabled = True  # one output, however often a cell flushes
c.NotebookClient.extra_arguments = ["--log-level=ERROR"]  # of the kernel
c.NotebookClient.shutdown_kernel = "immediate"  # an interrupted cell would print a traceback
c.NotebookClient.timeout = jobs.LONG_TIMEOUT  # of a cell
c.NotebookClient.on_cell_start = lambda cell, cell_index: notebooks.STARTED.append(cell_index)

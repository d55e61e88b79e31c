"""How nbconvert executes and renders the labs for mkdocs-jupyter."""

from bookbuild.pages.labs import execution

c = get_config()  # type: ignore[name-defined]  # noqa: F821
c.HTMLExporter.extra_template_basedirs = [str(execution.SETTINGS)]
c.Exporter.default_preprocessors = [
    f"nbconvert.preprocessors.{name}Preprocessor"
    for name in ("Execute", "CoalesceStreams", "CSSHTMLHeader")
]
c.CoalesceStreamsPreprocessor.enabled = True  # one output, however often a cell flushes
c.NotebookClient.extra_arguments = ["--log-level=ERROR"]  # of the kernel
c.NotebookClient.shutdown_kernel = "immediate"  # an interrupted cell would print a traceback
c.NotebookClient.timeout = execution.CELL_TIMEOUT
c.NotebookClient.on_cell_execute = lambda **started: execution.STARTED.append(started)

"""Folders of the project, and its languages."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
SNIPPETS = ROOT / "snippets"
SCRIPTS = ROOT / "scripts"
CLAIMS = ROOT / "tests" / "claims"
GENERATED = ROOT / ".generated"
DOWNLOADS = GENERATED / "downloads"
LANGUAGES = ("en", "zh")
SHARED_WEIGHTS = "downloads/translator-float16.safetensors"  # in the English site, for both

"""What is written after the pages of a language, and the Chinese build after the English one."""

import os
from pathlib import Path
from urllib.parse import urljoin

from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig

from bookbuild.mkdocs_site import markdown_export
from bookbuild.mkdocs_site.build_state import STATE
from bookbuild.mkdocs_site.languages import build_language, root_url
from bookbuild.mkdocs_site.theme_patches import patch_theme
from bookbuild.pages import paths
from bookbuild.pages.files import write_file
from bookbuild.publish import csp, feed, offline


def write_language_files(config: MkDocsConfig) -> None:
    """Patch the theme's scripts; write the Markdown copies, their list, and the feed."""
    language = build_language(config)
    patch_theme(config)
    other_list = root_url(config) + ("llms.txt" if language == "zh" else "zh/llms.txt")
    assert STATE.nav
    markdown_export.write_copies(STATE.nav, config, language, other_list)
    rss = feed.rss(
        language, config.site_url or "/", config.site_name, config.site_description or ""
    )
    write_file(Path(config.site_dir, "feed.xml"), rss)


def build_chinese_site(config: MkDocsConfig) -> None:
    """Build the Chinese site into the folder zh/ of the English one."""
    chinese = load_config(
        str(paths.ROOT / "mkdocs.zh.yml"),
        site_dir=os.path.join(config.site_dir, "zh"),
        site_url=urljoin(config.site_url or "/", "zh/"),
        strict=config.strict,
    )
    # Both builds share these hooks, and the end of the Chinese one isn't the end of the site.
    staged_site, STATE.staged_site = STATE.staged_site, None
    try:
        chinese.plugins.on_startup(command="serve" if STATE.serving else "build", dirty=False)
        build(chinese)
        chinese.plugins.on_shutdown()
    finally:
        STATE.staged_site = staged_site


def protect_site(folder: Path, comments: bool) -> None:
    """Add the Content-Security-Policy, then list the hashes of the final bytes for offline use."""
    csp.add_policy(folder, comments=comments)
    offline.write_lists(folder)

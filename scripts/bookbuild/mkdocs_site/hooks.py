"""The MkDocs hooks, for the site as a whole; markdown_extension.py has what a page needs."""

from inspect import getmembers

from bookbuild.mkdocs_site import log_filters, rendering, site_files, site_output, source_checks
from bookbuild.mkdocs_site.chinese_site import ChineseSite, StagedSite
from bookbuild.mkdocs_site.installation import installation_error
from bookbuild.mkdocs_site.languages import build_language, set_alternates, translate_titles
from bookbuild.mkdocs_site.search_index import BookIndex
from bookbuild.mkdocs_site.theme_patches import patch_theme
from bookbuild.run.locks import check_port


class SiteHooks:
    """What a build does at each event of MkDocs, and what it remembers until the next."""

    def __init__(self):
        self.chinese_site, self.staged_site = ChineseSite(), StagedSite()

    def on_startup(self, command, dirty):
        self.command, self.is_served = command, command == "serve"
        self.replaces_site = command == "build" and not dirty
        if error := installation_error():
            log_filters.report_error(error)

    def on_shutdown(self):
        self.chinese_site.stop()
        self.staged_site.finish()

    def on_build_error(self, error):
        self.staged_site.is_complete = False
        log_filters.report_error(error)

    def on_config(self, config):
        if self.is_served:
            check_port(*config.dev_addr)
        if self.replaces_site and build_language(config) == "en":  # the Chinese one is a part of it
            self.staged_site.start(config)
        set_alternates(config, "")
        log_filters.add_filters(config)

    def on_pre_build(self, config):
        if build_language(config) == "en":
            self.chinese_site.keep(config, source_checks.prepare_sources(self.is_served))
        config.plugins["material/search"].search_index = BookIndex(config)

    def on_files(self, files, config):
        if build_language(config) == "en":  # MkDocs has just emptied its folder
            self.chinese_site.start(config, self.command)
        site_files.change_files(files, config)

    def on_nav(self, nav, config, files):
        translate_titles(nav, config)

    def on_page_markdown(self, markdown, page, config, files):
        rendering.prepare_page(markdown, page, config, files, tracked=self.is_served)

    def on_env(self, env, config, files):
        site_output.prepare_templates(env)
        site_files.add_formula_styles(files, config)

    def on_page_context(self, context, page, config, nav):
        set_alternates(config, page.url)

    def on_post_page(self, output, page, config):
        return site_output.finish_page(output, page, config)

    def on_post_build(self, config):
        patch_theme(config)
        if build_language(config) == "en":
            self.chinese_site.finish(config, self.command)
            if not self.is_served:  # a served page has a script that no policy would allow
                site_output.minify_site(config)
            self.staged_site.is_complete = True


vars().update((name, hook) for name, hook in getmembers(SiteHooks()) if name.startswith("on_"))

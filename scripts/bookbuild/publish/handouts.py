"""Two PDFs to the page By hand: a poster, with a preview image, and a worksheet."""

import io
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pikepdf
from PIL import Image
from playwright.sync_api import Page, sync_playwright

from bookbuild.generated.pencil_steps import translation
from bookbuild.pages import paths
from bookbuild.pages.errors import SourceError
from bookbuild.pages.files import write_file
from bookbuild.pages.templates import render
from bookbuild.publish import chromium, worksheet
from bookbuild.publish.chapters import LANGUAGE_CODES, last_commit, read_metas, site_folder
from bookbuild.publish.pdf import UNHINTED, print_page, save_pdf
from bookbuild.publish.poster import draw_poster

PAGE = "by-hand"
POSTER, WORKSHEET = f"{PAGE}-poster.pdf", f"{PAGE}-worksheet.pdf"
PREVIEW = f"{PAGE}-poster.webp"
POSTER_SIZE = 420, 297  # millimeters: A3
PREVIEW_SIZE = 440, 311
PREVIEW_QUALITY = 30
TEXTS = {  # title and description of the poster, title and description of the worksheet
    "en": (
        "The whole Transformer with a pencil",
        "All {count} weights of a trained Transformer, every one a whole number, "
        "and the way of one sentence through them.",
        "Each result is rounded to two decimals before it is used, as on paper.",
        "A Transformer to fill in",
        "The steps of one translation with blanks, and the same sheets with the solutions.",
    ),
    "zh": (
        "用铅笔算完一个 Transformer",
        "这个训练好的 Transformer 只有 {count} 个权重，全是整数。"
        "图中是所有权重，以及一句话的翻译过程。",
        "每个结果都先四舍五入到两位小数，再用于下一步，与纸上的计算相同。",
        "动手填一个 Transformer",
        "一句话的翻译过程，其中留有空格；后两页附答案。",
    ),
}
SCALES = [percent / 100 for percent in range(112, 79, -4)]  # of print, the largest that fits


class Handout(NamedTuple):
    """A document to print."""

    name: str  # of its file
    title: str
    description: str
    html: str
    pages: int


def count_weights() -> int:
    """How many weights the model has."""
    return sum(map(np.size, translation().weights.values()))


def make_handouts(language: str, book: str, address: str) -> tuple[Handout, Handout]:
    """The poster and the worksheet in one language."""
    texts = (text.format(count=count_weights()) for text in TEXTS[language])
    title, *lines, sheet_title, about = texts
    description = " ".join(lines) if language == "en" else "".join(lines)
    origin = f"{book} · {address}" if language == "en" else f"《{book}》 · {address}"
    css = (paths.ROOT / "overrides" / "assets" / "site.css").read_text(encoding="utf-8")
    values = {"css": css, "language_code": LANGUAGE_CODES[language]}
    drawing = draw_poster(language, title, lines, origin)
    own = {"title": title, "description": description, "drawing": drawing}
    poster = render("poster.html", language, **values, **own)
    sheet = worksheet.worksheet_html(language, title=sheet_title, address=origin, **values)
    return (
        Handout(POSTER, title, description, poster, 1),
        Handout(WORKSHEET, sheet_title, about, sheet, 4),
    )


def open_handout(page: Page, handout: Handout) -> None:
    page.set_content(handout.html)
    page.evaluate("document.fonts.ready")  # local ones are loaded, too


def print_handout(page: Page, handout: Handout) -> pikepdf.Pdf:
    """The handout, as large as its number of pages allows."""
    open_handout(page, handout)
    if handout.pages == 1:
        return print_page(page)
    for scale in SCALES:
        pdf = print_page(page, scale=scale)
        if len(pdf.pages) == handout.pages:
            return pdf
    message = f"{handout.name} doesn't fit on {handout.pages} pages; ask for fewer tasks"
    raise SourceError(Path(worksheet.__file__), 1, message)


def picture_of(page: Page, poster: Handout) -> bytes:
    """The poster as an image."""
    width, height = (round(side * 96 / 25.4) for side in POSTER_SIZE)
    page.set_viewport_size({"width": width, "height": height})
    open_handout(page, poster)
    return page.screenshot()


def make_preview(page: Page, poster: Handout) -> bytes:
    """The poster as a small image."""
    picture = Image.open(io.BytesIO(picture_of(page, poster))).convert("RGB")
    small, file = picture.resize(PREVIEW_SIZE, Image.Resampling.LANCZOS), io.BytesIO()
    small.save(file, "WEBP", quality=PREVIEW_QUALITY, method=6)
    return file.getvalue()


def write_handouts(site: Path, language: str) -> None:
    """Write the poster, its preview and the worksheet in one language into a built site."""
    folder = site_folder(site, language)
    metas = read_metas(folder / "index.html")
    address = f"{metas['og:url']}{PAGE}/"
    date, _ = last_commit()
    with sync_playwright() as playwright, chromium.launch(playwright, UNHINTED) as browser:
        page = browser.new_page(device_scale_factor=2)
        page.set_default_timeout(0)
        handouts = make_handouts(language, metas["og:site_name"], address)
        for handout in handouts:
            pdf = print_handout(page, handout)
            texts = handout.title, handout.description, address
            data = save_pdf(pdf, LANGUAGE_CODES[language], date, *texts)
            write_file(folder / handout.name, data)
        write_file(folder / PREVIEW, make_preview(page, handouts[0]))

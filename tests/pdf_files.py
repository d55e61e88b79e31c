"""What the tests of PDFs read from them."""

from pathlib import Path

import pikepdf
import pypdfium2


def page_texts(path: Path) -> list[str]:
    """The text of each page of a PDF."""
    document = pypdfium2.PdfDocument(path)
    return [page.get_textpage().get_text_bounded() for page in document]


def fonts_without_file(pdf: pikepdf.Pdf) -> set[str]:
    """The fonts that a PDF names but doesn't contain."""
    described, type3_fonts = set(), set()  # of Type 3, the font itself contains its glyphs
    for each in pdf.objects:
        if isinstance(each, pikepdf.Dictionary) and "/FontName" in each:
            if not {"/FontFile", "/FontFile2", "/FontFile3"} & {*each.keys()}:
                described.add(str(each.FontName))
        elif isinstance(each, pikepdf.Dictionary) and each.get("/Subtype") == "/Type3":
            type3_fonts.add(str(each.get("/FontDescriptor", {}).get("/FontName")))
    return described - type3_fonts

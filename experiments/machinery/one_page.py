"""The report as one page of HTML that needs no other file: its pages in Markdown, one after the other, drawn here."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from cardai.experiments.machinery.verdicts import VERDICTS

IN_FULL = "## Each row in full\n"
"""The last part of a page, which is folded here."""
_VERDICT = re.compile(rf"\b({'|'.join(VERDICTS)})\b")
_CSS = """
:root{color-scheme:light dark;--ink:#1b1f24;--paper:#fff;--line:#d0d7de;--soft:#f4f6f8;--good:#1a7f37;--bad:#b3261e;
--dim:#59636e}
@media(prefers-color-scheme:dark){:root{--ink:#e6e6e6;--paper:#14171a;--line:#3a4048;--soft:#1d2126;--good:#56c271;
--bad:#ff7b72;--dim:#a0a8b2}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:62rem;padding:1rem;background:var(--paper);color:var(--ink);
font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.6rem}h2{margin-top:2.5rem;border-top:1px solid var(--line);padding-top:1rem;font-size:1.3rem}
.wide{overflow-x:auto;overflow-wrap:normal}table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}
th,td{padding:.3rem .6rem;border-bottom:1px solid var(--line);vertical-align:top}th{text-align:left}
thead th{background:var(--soft)}
.reproduced,.beaten{color:var(--good)}.missed{color:var(--bad)}.undecided,summary{color:var(--dim)}
svg{display:block;width:100%;max-width:35rem;height:auto;color:var(--ink)}
.front table{overflow-wrap:break-word}.front td:last-child{width:17rem}
@media(min-width:45rem){.front svg{max-height:11rem}}
summary{cursor:pointer}code{font-size:.85em}a{color:inherit}
@media(max-width:45rem){.front thead{display:none}.front tr{display:block;border-bottom:1px solid var(--line);
padding:.8rem 0}.front td,.front td:last-child{display:block;border:0;padding:.2rem 0;width:auto}}
"""


def one_page(front: str, pages: Mapping[str, str], drawn: Mapping[str, str], thumbnails: Mapping[str, str]) -> str:
    """The page. What a text holds in HTML is shown as it stands, not obeyed.

    `front`, `pages`: Markdown, the latter by their names, which their links and anchors have. `drawn`: the SVG of each
    file that pages show. `thumbnails`: the SVG of files that only the front page shows, made by `again`.
    """
    images = {file: _own_ids(text, file) for file, text in drawn.items()} | dict(thumbnails)
    sections = "".join(
        f'<section id="{name}">\n{_folded(text, images, pages)}</section>\n' for name, text in pages.items()
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1"><title>cardai: report</title>'
        f'<style>{_CSS}</style></head><body>\n<div class="front">\n{_rendered(front, images, pages, down=0)}</div>\n'
        f"{sections}</body></html>\n"
    )


def again(file: str, place: Sequence[float]) -> str:
    """SVG that shows a place (left, top, width, height) of a drawn file a second time, as wide as there is room."""
    box = " ".join(f"{number:.1f}" for number in place)
    return f'<svg viewBox="{box}"><use href="#{_prefix(file)}figure_1"/></svg>'


def _folded(text: str, images: Mapping[str, str], pages: Mapping[str, str]) -> str:
    """A page as HTML, its last part folded."""
    text, mark, rest = text.partition(IN_FULL)
    whole, title = _rendered(text, images, pages), mark.strip("# \n")
    if mark:
        whole += f"<details><summary>{title}</summary>\n{_rendered(rest, images, pages)}</details>\n"
    return whole


def _rendered(text: str, images: Mapping[str, str], pages: Mapping[str, str], down: int = 1) -> str:
    """Markdown as HTML, its headings so many levels further down."""
    reader = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer).enable("table")
    tokens = reader.parse(text)
    for token in tokens:
        if token.type.startswith("heading"):
            token.tag = f"h{int(token.tag[1:]) + down}"
    return reader.renderer.render(tokens, reader.options, {"images": images, "pages": pages})


class _Renderer(RendererHTML):
    """Draws figures where a page names their files, links to pages where they lie here, and colours verdicts."""

    def image(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        drawn, words = env["images"].get(tokens[idx].attrs["src"], ""), escapeHtml(tokens[idx].content)
        return drawn.replace("<svg ", f'<svg role="img" aria-label="{words}" ', 1) or words

    def link_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        name = str(tokens[idx].attrs["href"]).removesuffix(".md")
        if name in env["pages"]:
            tokens[idx].attrs["href"] = f"#{name}"
        return self.renderToken(tokens, idx, options, env)

    def text(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return _VERDICT.sub(r'<span class="\1">\1</span>', escapeHtml(tokens[idx].content))

    def table_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return '<div class="wide"><table>\n'

    def table_close(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return "</table></div>\n"


def _prefix(file: str) -> str:
    """The prefix of a figure's ids, which keeps them apart from those of other figures on the page."""
    return file.removesuffix("svg").replace(".", "-")


def _own_ids(drawn: str, file: str) -> str:
    """The SVG with the prefix of its file before all its ids and all references to them."""
    drawn = re.sub(r'id="([^"]+)"', rf'id="{_prefix(file)}\1"', drawn)
    drawn = re.sub(r'href="#([^"]+)"', rf'href="#{_prefix(file)}\1"', drawn)
    return re.sub(r"url\(#([^)]+)\)", rf"url(#{_prefix(file)}\1)", drawn)

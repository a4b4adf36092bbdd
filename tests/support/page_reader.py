"""A reader of HTML pages, and a text that has to be escaped in them."""

from __future__ import annotations

from html.parser import HTMLParser

NASTY = "<script>alert('x')</script>"
VOID = {"meta", "br", "wbr"}


class Reader(HTMLParser):
    """Checks that tags are closed in order, and collects texts and cells."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.rows: list[list[str]] = []
        self.headings: list[str] = []
        self.text = ""
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
        elif tag == "h2":
            self.headings.append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if {"style", "script"} & set(self.open):
            return
        self.text += data
        if {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data.strip() + " "
        if "h2" in self.open:
            self.headings[-1] += data

    def row(self, *cells: str) -> bool:
        """Whether a table has a row that begins with these cells."""
        rows = [[cell.strip() for cell in row] for row in self.rows]
        return any(row[: len(cells)] == list(cells) for row in rows)

"""Elements of SVG and HTML. Every text is escaped: names come from senders of spans."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from sluice.cli.printable import printable

Point = tuple[float, float]


def tag(name: str, *content: str, **attributes: object) -> str:
    """An element; content is markup, attributes are texts or numbers. `class_` is `class`, `stroke_width` is
    `stroke-width`."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_text(value), quote=True)}"'
        for key, value in attributes.items()
    )
    return f"<{name}{written}>{''.join(content)}</{name}>"


def words(text: str) -> str:
    """Markup that shows this text; control characters as escapes."""
    return escape(printable(text))


def _text(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else printable(str(value))


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Texts; a head that ends in `>` aligns its column to the right."""
    right = [head.endswith(">") for head in heads]
    head = "".join(_cell("th", text.rstrip(">"), number) for text, number in zip(heads, right, strict=True))
    body = [tag("tr", *(_cell("td", text, number) for text, number in zip(row, right, strict=True))) for row in rows]
    return tag("div", tag("table", tag("thead", tag("tr", head)), tag("tbody", *body)), class_="wide")


def _cell(name: str, text: str, is_number: bool) -> str:
    return tag(name, words(text), class_="number") if is_number else tag(name, words(text))


@dataclass(frozen=True)
class Frame:
    """A drawing area with axes from 0: right and top are the largest values that it shows, both above 0."""

    right: float
    top: float
    width: int = 460
    height: int = 180
    margin: int = 34

    def x(self, value: float) -> float:
        return round(self.margin + value / self.right * (self.width - self.margin - 12), 1)

    def y(self, value: float) -> float:
        return round(self.height - 24 - value / self.top * (self.height - 24 - 12), 1)

    def line(self, points: Iterable[Point], css: str) -> str:
        path = " ".join(f"{self.x(x)},{self.y(y)}" for x, y in points)
        return tag("polyline", points=path, class_=css)

    def area(self, points: Sequence[Point], css: str) -> str:
        """From the line through `points` down to the axis."""
        return self.between(points, [(points[0][0], 0.0), (points[-1][0], 0.0)], css) if points else ""

    def between(self, upper: Sequence[Point], lower: Sequence[Point], css: str) -> str:
        """The area between two lines."""
        outline = [*upper, *reversed(lower)]
        return tag("polygon", points=" ".join(f"{self.x(x)},{self.y(y)}" for x, y in outline), class_=css)

    def vertical(self, x: float, low: float, high: float, css: str) -> str:
        return tag("line", x1=self.x(x), x2=self.x(x), y1=self.y(low), y2=self.y(high), class_=css)

    def span(self, low: float, high: float, css: str) -> str:
        """A rectangle over the whole height from x = low to x = high."""
        return tag(
            "rect",
            x=self.x(low),
            y=self.y(self.top),
            width=max(self.x(high) - self.x(low), 1.0),
            height=self.y(0) - self.y(self.top),
            class_=css,
        )

    def dot(self, at: Point, radius: float, title: str, css: str = "dot") -> str:
        """radius: in units of the picture."""
        return tag("circle", tag("title", words(title)), cx=self.x(at[0]), cy=self.y(at[1]), r=radius, class_=css)

    def drawing(self, title: str, x_label: str, *content: str) -> str:
        """The SVG with axes, their ends and labels."""
        low, left, right = self.y(0), self.x(0), self.x(self.right)
        axes = [
            tag("line", x1=left, x2=right, y1=low, y2=low, class_="axis"),
            tag("line", x1=left, x2=left, y1=low, y2=self.y(self.top), class_="axis"),
            tag("text", f"{self.top:.3g}", x=left - 4, y=self.y(self.top) + 8, class_="end"),
            tag("text", "0", x=left - 4, y=low, class_="end"),
            tag("text", words(x_label), x=right, y=self.height - 6, class_="end"),
        ]
        view = f"0 0 {self.width} {self.height}"
        return tag("svg", tag("title", words(title)), *axes, *content, viewBox=view, role="img")

"""What notebooks show of labellings, studies and comparisons."""

from __future__ import annotations

import html
from typing import Any, Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table; the first column is text, the others are numbers or text."""
    cells = "".join(f"<th>{html.escape(str(cell))}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{_cell(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "" if value != value else f"{value:.4g}"
    return html.escape("" if value is None else str(value))


def labelling(fitted: Any) -> str:
    found = fitted.estimate_
    rows = [(one["net"], one["trials"], one["val_score"], one["score"], one["chosen"]) for one in fitted.candidates_]
    return (f"<b>{html.escape(fitted.net_)}</b>: {100 * found['accuracy']:.1f} % of new nodes correct, 95 % confidence "
            f"interval {100 * found['low']:.1f} to {100 * found['high']:.1f} %"
            + table(("network", "trials", "cross-validated", "held out", "folds that chose it"), rows))


def history(values: Sequence[float], name: str) -> str:
    """The value of each trial as a dot, and the best so far as a line; SVG."""
    known = [(i, value) for i, value in enumerate(values) if value == value]
    if len(known) < 2:
        return ""
    low, high = min(value for _, value in known), max(value for _, value in known)
    wide, tall, scale = 480, 160, (high - low) or 1.0

    def at(i: int, value: float) -> tuple[float, float]:
        return 40 + (wide - 50) * i / max(len(values) - 1, 1), tall - 25 - (tall - 40) * (value - low) / scale
    dots = "".join(f"<circle cx='{x:.1f}' cy='{y:.1f}' r='2' fill='#4878a8'/>" for x, y in (at(*one) for one in known))
    best, line = low, []
    for i, value in known:
        best = max(best, value)
        x, y = at(i, best)
        line.append(f"{x:.1f},{y:.1f}")
    texts = "".join(f"<text x='0' y='{at(0, value)[1] + 4:.1f}' font-size='11'>{value:.3f}</text>"
                    for value in (low, high))
    return (f"<svg width='{wide}' height='{tall}' role='img' aria-label='{html.escape(name)} of each trial'>{texts}"
            f"<text x='{wide / 2:.0f}' y='{tall - 4}' font-size='11' text-anchor='middle'>trial</text>{dots}"
            f"<polyline points='{' '.join(line)}' fill='none' stroke='#c05020'/></svg>")

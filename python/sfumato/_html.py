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

"""Plans: the steps of a training, the reasons for them and their cost."""

from __future__ import annotations

import ctypes
import math
import tempfile
from pathlib import Path
from typing import Any, Union

from ._html import table
from ._library import Handle, check, created, decoded, described, encoded, fields_of, lib, listed, options
from ._run import run
from .errors import ArgumentError
from .graph import Graph, Split, split_of

PASSES = ("train", "evaluate", "predict")
TITLES = {"train": "training step", "evaluate": "validation", "predict": "prediction of all nodes"}


def parsed(net: Any, hidden: int = 64, k: int = 2) -> Handle:
    """A network from a name or a composition."""
    return created(lib.sfu_net_free, lib.sfu_net_parse, encoded(net, "net"),
                   ctypes.byref(options("sfu_net_options", hidden=hidden, k=k)))


def nets() -> dict[str, str]:
    """The named networks, with a description."""
    return described(lib.sfu_net_name)


def draw(net: str, *, hidden: int = 64, k: int = 2) -> str:
    """A network as boxes from left to right, as SVG."""
    return _drawn(parsed(net, hidden, k))


def _drawn(net: Handle) -> str:
    with tempfile.TemporaryDirectory(prefix="sfumato-") as folder:
        path = Path(folder) / "net.svg"
        check(lib.sfu_net_draw(net.pointer, encoded(path)))
        return path.read_text()


def explain(graph: Graph, net: str, *, hidden: int = 64, k: int = 2, split: Split = None,
            size: Union[None, int, str] = None, dropout: float = 0.5, plain: bool = False, measure: bool = False,
            threads: int = 0, device: str = "auto") -> Plan:
    """The plan of a network on a graph: the steps of a training epoch, its validation and a prediction, and their cost.

    `plain` plans without rewrites, as the composition is written; `measure` runs each pass and records its time
    on a `device`: "auto" or "cpu", "cuda" or "cuda:N"."""
    if not isinstance(graph, Graph):
        raise ArgumentError(f"expected a Graph, found {type(graph).__name__}")
    data, made, nodes = graph.handle, parsed(net, hidden, k), split_of(graph, split, size)
    how = options("sfu_plan_options", dropout=dropout, plain=plain, threads=threads, device=device)

    def work(_task: Any) -> Handle:
        plan = created(lib.sfu_plan_free, lib.sfu_plan_new, data.pointer, made.pointer, nodes.pointer,
                       ctypes.byref(how), keep=(data, made, nodes))
        if measure:
            check(lib.sfu_plan_measure(plan.pointer))
        return plan
    plan, _ = run(work)
    return Plan(plan, made, f"{graph.name}: {decoded(lib.sfu_net_text(made.pointer))}\n"
                            f"{decoded(lib.sfu_split_text(nodes.pointer))}; dropout {dropout:g}", measure)


class Plan:
    """What `explain` returns. Print it, or read `steps` and `cost`."""

    def __init__(self, plan: Handle, net: Handle, title: str, measured: bool):
        self._plan, self._net, self.title, self.measured = plan, net, title, measured

    def steps(self, which: str = "train") -> list[dict[str, Any]]:
        """The steps of a pass, "train", "evaluate" or "predict". Those of depth 0 are the layers."""
        number = _pass(which)
        return [fields_of(one) for one in listed(lambda i: lib.sfu_plan_step(self._plan.pointer, number, i))]

    def cost(self, which: str = "train") -> dict[str, float]:
        """Predicted and measured seconds, and bytes of memory."""
        return fields_of(lib.sfu_plan_cost(self._plan.pointer, _pass(which)).contents)

    @property
    def is_nominal(self) -> bool:
        """Predicted times are those of a nominal machine: run `sfumato bench` to measure this one."""
        return bool(lib.sfu_plan_is_nominal(self._plan.pointer))

    @property
    def svg(self) -> str:
        """The network as a drawing."""
        return _drawn(self._net)

    def _rows(self, which: str) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = []
        for step in self.steps(which):
            if step["depth"] == 0:
                rows.append((step["text"], "", "", "", "", ""))
                continue
            took = step["measured_s"] if self.measured else step["predicted_s"]
            rows.append((" " * 2 * step["depth"] + step["text"], f"{step['rows']} x {step['cols']}",
                         scaled(step["flops"], "FLOP"), scaled(step["bytes"], "B"), scaled(took, "s"), step["op"]))
        return rows

    def _head(self, which: str) -> tuple[str, ...]:
        return TITLES[which], "shape", "operations", "traffic", "measured" if self.measured else "predicted", ""

    def __str__(self) -> str:
        lines = [self.title]
        for which in PASSES:
            rows = self._rows(which)
            if not rows:
                continue
            rows.insert(0, self._head(which))
            widths = [max(len(row[i]) for row in rows if i == 0 or row[1]) for i in range(6)]
            lines.append("")
            for row in rows:
                lines.append("  ".join(cell.ljust(width) if i in (0, 5) else cell.rjust(width)
                                       for i, (cell, width) in enumerate(zip(row, widths))).rstrip())
            cost = self.cost(which)
            took = cost["measured_s"] if self.measured else cost["predicted_s"]
            lines.append(f"total {scaled(took, 's')}, memory {scaled(cost['memory_bytes'], 'B')}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"Plan({self.title.splitlines()[0]!r})"

    def _repr_html_(self) -> str:
        parts = [self.svg, *(table(self._head(which), self._rows(which)) for which in PASSES if self._rows(which))]
        return "".join(parts)


def _pass(which: str) -> int:
    if which not in PASSES:
        raise ArgumentError(f"expected one of {', '.join(PASSES)}, found {which!r:.60}")
    return PASSES.index(which)


def scaled(value: float, unit: str) -> str:
    """A number with a prefix: 1.23 ms, 4.5 MB."""
    if math.isnan(value):
        return ""
    prefixes = {-3: "n", -2: "u", -1: "m", 0: "", 1: "k", 2: "M", 3: "G", 4: "T"}
    power = 0 if value == 0 else max(-3, min(4, math.floor(math.log10(abs(value)) / 3)))
    return f"{value / 1000 ** power:.3g} {prefixes[power]}{unit}"

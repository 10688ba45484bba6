"""What a race has measured: rows with median and quartiles, tables as text, race.txt, race.csv, and where another is faster."""
import csv
import os
import statistics
import sys
import typing


class Spread(typing.NamedTuple):
    """Median and quartiles."""

    median: float
    low: float
    high: float


def spread(values):
    values = sorted(values)
    if len(values) < 2:
        return Spread(values[0], values[0], values[0])
    low, median, high = statistics.quantiles(values, n=4, method="inclusive")
    return Spread(median, low, high)


class Row(typing.NamedTuple):
    section: str
    dataset: str
    network: str
    who: str
    median: float
    low: float
    high: float
    unit: str

    @property
    def about(self):
        return " ".join(filter(None, (self.section, self.dataset, self.network)))


MORE_IS_BETTER = {"trials/s"}


def short(value):
    """Three or four figures, never an exponent."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:#.3g}".rstrip(".") if value >= 1 else f"{value:.3f}"


def times(ratio):
    return f"{ratio:.0f}x" if ratio >= 10 else f"{ratio:.2g}x" if ratio >= 0.1 else f"{ratio:.3f}x"


class Book:
    def __init__(self, folder=None):
        self.rows, self.faster, self.text = [], [], None
        self.folder = folder
        if folder:
            os.makedirs(folder, exist_ok=True)
            self.text = open(os.path.join(folder, "race.txt"), "w", encoding="utf-8")

    def say(self, text=""):
        print(text, flush=True)
        if self.text:
            print(text, file=self.text, flush=True)

    def add(self, section, dataset, network, who, values, unit, ours=None):
        """Keeps a measurement; `ours` is the row that it is compared with."""
        row = Row(section, dataset, network, who, *values, unit)
        self.rows.append(row)
        if ours is not None and self.ratio(row, ours) < 1:
            self.faster.append((row, ours))
        return row

    @staticmethod
    def ratio(row, ours):
        """How many times as long as ours it takes, or as much as ours it needs."""
        return ours.median / row.median if row.unit in MORE_IS_BETTER else row.median / ours.median

    def cell(self, row, ours=None):
        """Median, half the distance of the quartiles in percent, and how many times ours; a star where it is better than ours."""
        if not isinstance(row, Row):
            return row or "-"
        around = 50 * (row.high - row.low) / row.median if row.median else 0
        text = f"{short(row.median)} ±{around:.0f}%"
        if ours is None:
            return text
        ratio = self.ratio(row, ours)
        return f"{text} {'*' if ratio < 1 else ''}{times(ratio)}"

    def table(self, head, widths):
        """Returns what prints a line of a table with these columns; the head is printed now."""

        def line(cells):
            padded = [str(c).ljust(w) if i < 2 else str(c).rjust(w) for i, (c, w) in enumerate(zip(cells, widths))]
            self.say(" ".join(padded).rstrip())

        line(head)
        return line

    def end(self):
        self.say()
        if self.faster:
            self.say("Where another is faster or smaller:")
            for row, ours in self.faster:
                self.say(f"  {row.about}: {row.who} {short(row.median)} {row.unit}, {ours.who} {short(ours.median)}: "
                         f"{1 / self.ratio(row, ours):.2f} times as good")  # fmt: skip
        else:
            self.say("Nobody else was faster or smaller in what was measured.")
        if self.folder:
            with open(os.path.join(self.folder, "race.csv"), "w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(Row._fields)
                writer.writerows([*row[:4], *(f"{value:.6g}" for value in row[4:7]), row[7]] for row in self.rows)
            self.text.close()


def complain(text):
    """One line, and the end."""
    sys.exit(f"race: {text}")

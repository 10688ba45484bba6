"""Writes docs/api.md from the docstrings.

    PYTHONPATH=. python3 generate_api.py > docs/api.md
"""

import inspect
import re
import textwrap

import sfumato

SECTIONS = [
    ("Graphs", ["Graph", "load", "datasets"]),
    ("Estimators", ["Labeler", "GraphClassifier", "cross_val_score", "Model"]),
    ("Searches", ["tune", "Study", "compare", "open_comparison", "Comparison"]),
    ("Networks and plans", ["nets", "draw", "explain", "Plan"]),
    ("Calls and errors", ["show_progress", "SfumatoError", "ArgumentError", "FormatError", "OutOfMemoryError",
                          "FileError", "NotFoundError", "UnsupportedError", "CancelledError", "DivergedError",
                          "DeviceError", "InterruptedWarning"]),
]


def signature(name, what):
    text = re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(inspect.signature(what)))
    text = re.sub(r"\b(sfumato\.\w+|typing|collections\.abc)\.", "", text)
    return name + re.sub(r"^\((self|cls)(, )?", "(", text)


def filled(text):
    """Paragraphs of at most 120 characters per line."""
    return "\n\n".join(textwrap.fill(" ".join(part.split()), 120) for part in inspect.cleandoc(text).split("\n\n"))


def members(kind):
    """Public methods and properties, in the order of the source, those of bases first."""
    seen = {}
    for base in reversed(kind.__mro__):
        if base.__module__.startswith("sfumato"):
            seen.update({name: value for name, value in vars(base).items() if not name.startswith("_")})
    return seen


def entry(name):
    what = getattr(sfumato, name)
    yield f"### {name}\n"
    is_error = inspect.isclass(what) and issubclass(what, BaseException)
    if not is_error:
        yield "```python\n" + "\n".join(textwrap.wrap(signature(name, what), 118, subsequent_indent="    ")) + "\n```\n"
    yield filled(what.__doc__) + "\n"
    if not inspect.isclass(what) or is_error:
        return
    for member, value in members(what).items():
        function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
        if not inspect.isfunction(function):
            continue
        shown = member if isinstance(value, property) else signature(member, function)
        text = " " + " ".join(function.__doc__.split()) if function.__doc__ else ""
        yield textwrap.fill(f"- `{shown}`.{text}", 120, subsequent_indent="  ", break_long_words=False,
                            break_on_hyphens=False)
    yield ""


def page():
    lines = ["# API reference\n\nWritten by `generate_api.py` from the docstrings.\n"]
    for title, names in SECTIONS:
        lines.append(f"## {title}\n")
        for name in names:
            lines.extend(entry(name))
    return "\n".join(lines).rstrip("\n")


def main():
    print(page())


if __name__ == "__main__":
    main()

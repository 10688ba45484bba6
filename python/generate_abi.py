"""Writes sfumato/_abi.py, the ctypes mirror of include/sfumato.h: constants, structs, callback types, functions.

    python3 generate_abi.py [HEADER] > sfumato/_abi.py

The header is regular enough for a few patterns. tests/test_abi.py compares the committed file with a new one, and
sizes and offsets with what a C compiler says.
"""

import re
import sys
from pathlib import Path

SCALARS = {
    "bool": "c_bool", "char": "c_char", "int": "c_int", "size_t": "c_size_t", "double": "c_double", "float": "c_float",
    "int32_t": "c_int32", "uint32_t": "c_uint32", "int64_t": "c_int64", "uint64_t": "c_uint64", "void": "None",
}
# Returns bytes that are not terminated: ctypes must not look for their end.
NOT_TERMINATED = {"sfu_dataset_node_name"}
HEAD = '''"""The interface of libsfumato for ctypes. Written by generate_abi.py from include/sfumato.h; do not edit."""

from ctypes import (CFUNCTYPE, POINTER, Structure, c_bool, c_char, c_char_p, c_double, c_float, c_int, c_int32, c_int64,
                    c_size_t, c_uint32, c_uint64, c_void_p)
from typing import Any
'''


def without_comments(text):
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return re.sub(r"^#(?:.*\\\n)*.*$", "", text, flags=re.M)


def statuses(text):
    return re.findall(r"X\((SFU_\w+), (\d+), ", text)


class Header:
    def __init__(self, text):
        self.statuses = statuses(text)
        self.version = re.search(r'#define SFU_VERSION "(.*)"', text).group(1)
        text = without_comments(text)
        text = re.sub(r"static inline [^{]*\{[^}]*\}", "", text)
        self.enums = set(re.findall(r"typedef enum (\w+)", text))
        self.constants = [pair for body in re.findall(r"enum(?: \w+)? \{([^}]*)\}", text)
                          for pair in re.findall(r"(SFU_\w+) = (-?\d+)", body)]
        self.structs = re.findall(r"typedef struct (\w+) \{(.*?)\} \1;", text, flags=re.S)
        self.struct_names = {name for name, _ in self.structs}
        self.callbacks = re.findall(r"typedef (\w+) \(\*(\w+)\)\((.*?)\);", text, flags=re.S)
        self.callback_names = {name for _, name, _ in self.callbacks}
        pattern = r"SFU_API (?:SFU_CHECKED )?([\w *]+?)(sfu_\w+)\((.*?)\);"
        text = re.sub(r"\w+ \(\*(\w+)\)\([^)]*\)(?=[,)])", r"void *\1", re.sub(r"\s+", " ", text))
        self.functions = re.findall(pattern, text)

    def type(self, text):
        """The ctypes type of a C type without a name."""
        const = "const" in text.split() or text.startswith("const ")
        stars = text.count("*")
        base = re.sub(r"\b(const|struct|enum)\b|\*", "", text).strip()
        if stars == 0:
            if base in self.enums or base == "sfu_status":
                return "c_int"
            return base if base in self.struct_names | self.callback_names else SCALARS[base]
        if stars == 1 and base == "char" and const:
            return "c_char_p"
        if stars == 1 and base in self.struct_names:
            return f"POINTER({base})"
        return "c_void_p"

    def parameter(self, text):
        text = text.strip()
        if text == "void":
            return None
        if "[" in text:
            return "c_void_p"
        match = re.fullmatch(r"(.*?)(\w+)", text, flags=re.S)
        return self.type(match.group(1).strip() or text)

    def fields(self, body):
        for line in filter(None, (part.strip() for part in re.sub(r"\s+", " ", body).split(";"))):
            function = re.match(r"[\w *]+\(\*(\w+)\)\(", line)
            if function:
                yield function.group(1), "c_void_p"
                continue
            base, rest = re.match(r"((?:const )?(?:struct )?\w+(?: const)?)(.*)", line).groups()
            for declarator in rest.split(","):
                stars, name, count = re.match(r"\s*((?:\*\s*(?:const\s*)?)*)(\w+)(?:\[(\w+)\])?", declarator).groups()
                kind = self.type(base + " " + stars)
                kind = "c_void_p" if kind.startswith("POINTER") else kind  # a struct may be declared later
                yield name, f"{kind} * {count}" if count else kind


def wrapped(start, items, end):
    lines, line = [], start
    for i, item in enumerate(items):
        item += "," if i + 1 < len(items) else ""
        if len(line) + len(item) + 1 > 118:
            lines.append(line)
            line = "    " + " " * 4
        line += ("" if line.endswith(("(", "[", " ")) else " ") + item
    return "\n".join([*lines, line + end])


def written(header):
    yield HEAD
    yield f'VERSION = "{header.version}"'
    for name, value in [*header.statuses, *header.constants]:
        yield f"{name} = {value}"
    for name, body in header.structs:
        yield f"\n\nclass {name}(Structure):\n    _fields_ = ["
        for field, kind in header.fields(body):
            # A callback type is declared after the structs.
            yield f'        ("{field}", {"c_void_p" if kind in header.callback_names else kind}),'
        yield "    ]"
    yield "\n"
    for result, name, parameters in header.callbacks:
        kinds = [header.parameter(p) for p in parameters.split(",")]
        yield f"{name} = CFUNCTYPE({', '.join([header.type(result), *kinds])})"
    yield "\nSTRUCTS: dict[str, Any] = {\n" + "\n".join(f'    "{n}": {n},' for n, _ in header.structs) + "\n}\n"
    yield "# Name: (type of the result, types of the arguments)."
    yield "FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {"
    for result, name, parameters in header.functions:
        kinds = list(filter(None, (header.parameter(p) for p in parameters.split(","))))
        back = "c_void_p" if name in NOT_TERMINATED else header.type(result.strip())
        yield wrapped(f'    "{name}": ({back}, [', kinds, "]),")
    yield "}"


def main():
    header = sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent / "include" / "sfumato.h"
    print("\n".join(written(Header(Path(header).read_text()))))


if __name__ == "__main__":
    main()

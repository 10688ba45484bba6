"""The mirror of the C header: generated from it, and with the sizes and offsets that a compiler gives."""

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sfumato import _abi

PYTHON = Path(__file__).parent.parent
HEADER = PYTHON.parent / "include" / "sfumato.h"


def test_generated_from_the_header():
    command = [sys.executable, PYTHON / "generate_abi.py", HEADER]
    made = subprocess.run(command, capture_output=True, text=True, check=True)
    assert made.stdout == (PYTHON / "sfumato" / "_abi.py").read_text(), "run generate_abi.py > sfumato/_abi.py"


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_sizes_and_offsets(tmp_path):
    lines = ["#include <sfumato.h>", "#include <stdio.h>", "int main(void) {"]
    expected = {}
    for name, struct in _abi.STRUCTS.items():
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
        expected[name] = ctypes.sizeof(struct)
        for field, _ in struct._fields_:
            lines.append(f'printf("{name}.{field} %zu\\n", offsetof({name}, {field}));')
            expected[f"{name}.{field}"] = getattr(struct, field).offset
    (tmp_path / "sizes.c").write_text("\n".join([*lines, "return 0; }"]))
    subprocess.run(["cc", "-O2", "-c", "-I", HEADER.parent, "sizes.c", "-o", "sizes.o"], cwd=tmp_path, check=True)
    subprocess.run(["cc", "sizes.o", "-o", "sizes"], cwd=tmp_path, check=True)
    found = subprocess.run([tmp_path / "sizes"], capture_output=True, text=True, check=True).stdout
    assert {line.split()[0]: int(line.split()[1]) for line in found.splitlines()} == expected

"""Runs the program: `python -m sfumato`, and the script `sfumato`."""

import os
import sys
from pathlib import Path


def main() -> None:
    """Replaces this process by the program."""
    program = Path(__file__).parent / "bin" / "sfumato"
    try:
        os.execv(program, ["sfumato", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"sfumato: {program} cannot be started: {error.strerror}; install the wheel again")


if __name__ == "__main__":
    main()

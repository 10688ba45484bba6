"""Long calls: in a thread of their own without the interpreter's lock, with Ctrl-C and a progress bar.

The library calls back a few times per second. The caller's thread waits, where Python can deliver Ctrl-C; it then
tells the library to stop. A second Ctrl-C does not wait for it.
"""

from __future__ import annotations

import sys
import threading
import time
import warnings
from typing import Any, Callable, Optional, TypeVar

from . import _abi
from ._library import decoded, lib
from .errors import CancelledError, InterruptedWarning

Result = TypeVar("Result")
_show: Optional[bool] = None


def show_progress(show: Optional[bool] = None) -> None:
    """Shows progress bars always (True), never (False), or in terminals and notebooks only (None, the default).

    They appear through tqdm if it is installed, otherwise as a line on stderr, after the first second of a call."""
    global _show
    _show = show


class Task:
    """A call that is running: what it reported last, and whether it is to stop."""

    def __init__(self) -> None:
        self.stop = False
        self.state: Optional[tuple[str, str, float, float]] = None  # what, unit, done, total

    def report(self, what: str, unit: str, done: float, total: float) -> bool:
        """To be called by callbacks of the library, on any thread. False: the call is to end."""
        self.state = (what, unit, done, total)
        return not self.stop


def interrupted(what: str) -> None:
    warnings.warn(f"interrupted by Ctrl-C: {what}", InterruptedWarning, stacklevel=3)


def run(work: Callable[[Task], Result]) -> tuple[Result, bool]:
    """Runs work(task) and returns its result and whether it was interrupted. KeyboardInterrupt if that left none."""
    task = Task()
    done = threading.Event()
    outcome: list[Any] = []
    errors: list[BaseException] = []

    def body() -> None:
        callback = _abi.sfu_progress_fn(lambda _user, at: task.report(
            decoded(at.contents.what), decoded(at.contents.unit), at.contents.done, at.contents.total))
        try:
            lib.sfu_set_progress(callback, None)
            outcome.append(work(task))
        except BaseException as error:  # passed on to the caller
            errors.append(error)
        finally:
            lib.sfu_set_progress(_abi.sfu_progress_fn(0), None)
            done.set()

    threading.Thread(target=body, name="sfumato", daemon=True).start()
    reason = _wait(task, done)
    if reason is not None and not isinstance(reason, KeyboardInterrupt):
        raise reason
    if errors:
        if reason is not None and isinstance(errors[0], CancelledError):
            raise reason
        raise errors[0]
    return outcome[0], reason is not None


def _wait(task: Task, done: threading.Event) -> Optional[BaseException]:
    """Waits for the end of a call; returns the exception, Ctrl-C or another, that asked it to stop."""
    reason: Optional[BaseException] = None
    bar = _Bar()
    try:
        while True:
            try:
                while not done.wait(0.1):
                    bar.update(task.state)
                return reason
            except BaseException as error:
                if reason is not None:
                    raise
                reason = error
                task.stop = True
    finally:
        bar.close()


# ---- progress --------------------------------------------------------------------------------------------------------

def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    return bool(shell) and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell"  # type: ignore[union-attr]


class _Bar:
    """A bar of tqdm, or a line."""

    def __init__(self) -> None:
        self.begin = time.monotonic()
        self.bar: Any = None
        self.wide = 0
        wanted = _show
        if wanted is None:
            wanted = _in_notebook() or bool(getattr(sys.stderr, "isatty", lambda: False)())
        self.wanted = wanted

    def update(self, state: Optional[tuple[str, str, float, float]]) -> None:
        if not self.wanted or state is None or (_show is None and time.monotonic() - self.begin < 1):
            return
        what, unit, done, total = state
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                from tqdm.auto import tqdm
        except ImportError:
            self._line(what, unit, done, total)
            return
        if self.bar is None:
            self.bar = tqdm(leave=False)
        amount = "|{bar}| {n_fmt} of {total_fmt} {unit}" if total else " {n_fmt} {unit}" if unit else ""
        self.bar.bar_format = "{desc}" + amount + " [{elapsed}]"
        self.bar.unit, self.bar.total, self.bar.n = unit, round(total) or None, round(done)
        self.bar.set_description_str(what)

    def _line(self, what: str, unit: str, done: float, total: float) -> None:
        line = f"{what}: {done:.0f}" + (f" of {total:.0f}" if total else "") + f" {unit}"
        sys.stderr.write("\r" + line.ljust(self.wide))
        sys.stderr.flush()
        self.wide = len(line)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()
            self.bar = None
        if self.wide:
            sys.stderr.write("\r" + " " * self.wide + "\r")
            self.wide = 0

"""Loads libsfumato and calls it: errors, options, ownership of handles, strings, arrays, the log."""

from __future__ import annotations

import ctypes
import logging
import os
import re
from pathlib import Path
from typing import Any, Callable, Iterable, Optional, Sequence, Union

from . import _abi
from .errors import BY_STATUS, ArgumentError, SfumatoError

log = logging.getLogger("sfumato")
log.addHandler(logging.NullHandler())


def _path() -> str:
    """The library of the package, or the one that $SFUMATO_LIBRARY names (for tests of a build)."""
    given = os.environ.get("SFUMATO_LIBRARY")
    return given if given else str(Path(__file__).parent / "lib" / "libsfumato.so")


def _load() -> Any:
    path = _path()
    try:
        loaded = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(f"libsfumato cannot be loaded from {path}: {error}; install the wheel again") from None
    for name, (result, arguments) in _abi.FUNCTIONS.items():
        function = getattr(loaded, name)
        function.restype = result
        function.argtypes = arguments
    found = loaded.sfu_version().decode()
    if found != _abi.VERSION:
        raise ImportError(f"{path} is version {found}, this package expects {_abi.VERSION}; install the wheel again")
    return loaded


lib = _load()

_LEVELS = {_abi.SFU_LOG_NOTE: logging.INFO, _abi.SFU_LOG_WARNING: logging.WARNING}


def _on_log(_user: Any, level: int, line: bytes) -> None:
    log.log(_LEVELS.get(level, logging.INFO), "%s", decoded(line))


_log_callback = _abi.sfu_log_fn(_on_log)  # the library keeps its address
lib.sfu_set_log(_log_callback, None)


# ---- errors ----------------------------------------------------------------------------------------------------------

def check(status: int) -> None:
    """Raises the exception of a status, with the message of the library."""
    if status != _abi.SFU_OK:
        message = decoded(lib.sfu_message()) or decoded(lib.sfu_status_text(status))
        raise BY_STATUS.get(status, SfumatoError)(message)


# ---- text ------------------------------------------------------------------------------------------------------------

def decoded(text: Optional[bytes]) -> str:
    return text.decode("utf-8", "replace") if text else ""


def encoded(text: Any, what: str = "text") -> Optional[bytes]:
    """A C string from str, bytes or a path; None stays None."""
    if text is None:
        return None
    try:
        data = os.fsencode(text)
    except (TypeError, UnicodeEncodeError):
        raise ArgumentError(f"{what}: expected text, found {type(text).__name__} {text!r:.60}") from None
    if b"\0" in data:
        raise ArgumentError(f"{what}: a zero byte in {text!r:.60}")
    return data


def strings(texts: Optional[Iterable[Any]], what: str) -> Any:
    """An array of C strings; None stays None."""
    if texts is None:
        return None
    data = [encoded(text, what) for text in texts]
    return (ctypes.c_char_p * max(len(data), 1))(*data)


def taken(pointer: ctypes.c_void_p) -> Optional[str]:
    """The text that the library allocated at a pointer; frees it."""
    if not pointer.value:
        return None
    try:
        return os.fsdecode(ctypes.string_at(pointer.value))
    finally:
        lib.sfu_text_free(pointer)


def listed(item: Callable[[int], Any]) -> list[Any]:
    """The items of an accessor that returns NULL after the last."""
    found: list[Any] = []
    while True:
        one = item(len(found))
        if not one:
            return found
        found.append(one.contents if hasattr(one, "contents") else decoded(one))


def described(item: Callable[..., Any]) -> dict[str, str]:
    """The names of an accessor that returns NULL after the last, with their descriptions."""
    text = ctypes.c_char_p()
    found: dict[str, str] = {}
    while (name := item(len(found), ctypes.byref(text))) is not None:
        found[decoded(name)] = decoded(text.value)
    return found


# ---- handles ---------------------------------------------------------------------------------------------------------

class Handle:
    """Owns an object of the library. It is freed when nothing refers to the handle any more: whoever uses its memory,
    a call or an array, keeps a reference."""

    __slots__ = ("pointer", "_free", "_keep", "__weakref__")

    def __init__(self, pointer: Optional[int], free: Callable[[int], None], *keep: Any):
        self.pointer = pointer
        self._free = free
        self._keep = keep

    def __del__(self) -> None:
        pointer, self.pointer = getattr(self, "pointer", None), None
        if pointer:
            self._free(pointer)

    def __reduce__(self) -> Any:
        raise TypeError("a handle of the library cannot be copied or pickled")


def created(free: Callable[[int], None], make: Callable[..., int], *arguments: Any, keep: Sequence[Any] = ()) -> Handle:
    """Calls make(&pointer, arguments...) and owns the result."""
    pointer = ctypes.c_void_p()
    check(make(ctypes.byref(pointer), *arguments))
    return Handle(pointer.value, free, *keep)


# ---- structs ---------------------------------------------------------------------------------------------------------

def options(kind: str, **fields: Any) -> Any:
    """An options struct with its defaults; a field that is None keeps its default."""
    struct = _abi.STRUCTS[kind]
    made = struct()
    getattr(lib, f"{kind}_init_sized")(ctypes.byref(made), ctypes.sizeof(made))
    put(made, **fields)
    return made


_INTEGERS = {
    ctypes.c_int: (-2**31, 2**31 - 1), ctypes.c_int32: (-2**31, 2**31 - 1), ctypes.c_uint32: (0, 2**32 - 1),
    ctypes.c_int64: (-2**63, 2**63 - 1), ctypes.c_uint64: (0, 2**64 - 1), ctypes.c_size_t: (0, 2**64 - 1),
}


Size = Union[None, int, str]  # bytes, such as "8G"; None: no limit


def size_of(value: Any, what: str) -> int:
    """Bytes: a whole number, or a text as the program takes it, such as "8G", "512m", "1.5T" or "1e9"; at least 1M."""
    if isinstance(value, str):
        match = re.fullmatch(r"([0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)([KMGT]?)", value, re.IGNORECASE)
        size = float(match[1]) * 1024 ** " KMGT".index(match[2].upper() or " ") if match else 0
        if not 1 <= size < 2**63:
            raise ArgumentError(f"{what}: expected a number of bytes such as 8G, 512M or 1000000, found {value!r:.60}")
    elif type(value).__name__ in ("bool", "bool_"):
        raise ArgumentError(f'{what}: expected a number of bytes or a text such as "8G", found {value!r}')
    else:
        size = whole(value, what, 1, 2**63 - 1)
    if size < 2**20:
        hint = f' (did you mean "{int(size)}G"?)' if size < 1024 else ""
        raise ArgumentError(f"{what}: expected at least 1M, found {int(size)} bytes{hint}")
    return int(size)


def whole(value: Any, what: str, low: int = -2**31, high: int = 2**31 - 1) -> int:
    """A whole number in a range."""
    try:
        number = value.__index__()
    except AttributeError:
        raise ArgumentError(f"{what}: expected a whole number, found {type(value).__name__} {value!r:.60}") from None
    if not low <= number <= high:
        raise ArgumentError(f"{what}: expected a whole number from {low} to {high}, found {number}")
    return int(number)


def put(struct: Any, **fields: Any) -> None:
    """Sets fields, with checks: ctypes would wrap numbers that are too large."""
    types = dict(struct._fields_)
    keep = struct.__dict__.setdefault("_keep", [])
    for name, value in fields.items():
        if value is None:
            continue
        kind = types[name]
        if name == "memory":
            value = size_of(value, name)
        elif kind in _INTEGERS:
            value = whole(value, name, *_INTEGERS[kind])
        elif kind is ctypes.c_double:
            value = real(value, name)
        elif kind is ctypes.c_bool:
            value = truth(value, name)
        elif kind is ctypes.c_char_p:
            value = encoded(value, name)
        elif kind is ctypes.c_void_p:
            keep.append(value)
            value = address(value)
        setattr(struct, name, value)
        keep.append(value)


def truth(value: Any, what: str) -> bool:
    """True or False: nothing else is taken for one."""
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return bool(value)
    raise ArgumentError(f"{what}: expected True or False, found {type(value).__name__} {value!r:.60}")


def real(value: Any, what: str) -> float:
    if isinstance(value, (str, bytes)):
        raise ArgumentError(f"{what}: expected a number, found {value!r:.60}")
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ArgumentError(f"{what}: expected a number, found {type(value).__name__} {value!r:.60}") from None


def address(value: Any) -> int:
    """The address of a numpy array, a ctypes object or a callback."""
    if isinstance(value, int):
        return value
    if hasattr(value, "ctypes"):
        return value.ctypes.data
    if isinstance(value, ctypes._CFuncPtr):  # type: ignore[attr-defined]
        return ctypes.cast(value, ctypes.c_void_p).value or 0
    return ctypes.addressof(value)


def choice(names: Sequence[str], value: Any, what: str) -> int:
    """The index of a name in a list, as the enumerations of the library count."""
    if isinstance(value, str) and value in names:
        return list(names).index(value)
    raise ArgumentError(f"{what}: expected {', '.join(names[:-1])} or {names[-1]}, found {value!r:.60}")


def fields_of(struct: Any) -> dict[str, Any]:
    """A result struct as a dict: text decoded, NaN as None stays NaN, pointers left out."""
    result: dict[str, Any] = {}
    for name, kind in struct._fields_:
        value = getattr(struct, name)
        if kind is ctypes.c_void_p:
            continue
        if isinstance(value, bytes):
            value = decoded(value)
        elif isinstance(value, ctypes.Array):
            value = list(value)
        elif kind is ctypes.c_char_p:
            value = None
        result[name] = value
    return result

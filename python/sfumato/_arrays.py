"""Arrays between Python and the library: checked on the way in, owned or read-only views on the way out."""

from __future__ import annotations

import ctypes
from typing import Any, Optional

import numpy as np

from ._library import Handle
from .errors import ArgumentError

INT32 = np.iinfo(np.int32)


def as_array(value: Any, what: str) -> np.ndarray:
    """Anything with a buffer, __array_interface__, __array__ or DLPack on the CPU; not copied if it is an array."""
    if hasattr(value, "detach"):  # a tensor of torch
        value = value.detach()
    try:
        if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
            return np.from_dlpack(value)
        return np.asarray(value)
    except Exception as error:
        raise ArgumentError(f"{what}: expected an array, found {type(value).__name__} ({error})") from None


def integers(value: Any, what: str, shape: Optional[tuple[int, ...]] = None, dtype: Any = np.int32) -> np.ndarray:
    """A contiguous array of integers that fit into the type; not copied if it is one."""
    array = as_array(value, what)
    if array.size == 0:
        array = array.astype(dtype)
    if array.dtype.kind == "b":
        array = array.astype(dtype)
    if array.dtype.kind == "f" and float(np.abs(array).max()) < 2.0**62 and (array == np.floor(array)).all():
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise ArgumentError(f"{what}: expected whole numbers, found {_described(array)}")
    if shape is not None and array.shape != shape:
        raise ArgumentError(f"{what}: expected the shape {shape}, found {array.shape}")
    limits = np.iinfo(dtype)
    if array.dtype.itemsize > 4 or array.dtype.kind == "u":
        if array.size and (int(array.min()) < limits.min or int(array.max()) > limits.max):
            raise ArgumentError(f"{what}: {array.max()} or {array.min()} does not fit into {np.dtype(dtype).name}")
    return np.ascontiguousarray(array, dtype)


def floats(value: Any, what: str, shape: Optional[tuple[int, ...]] = None) -> np.ndarray:
    """A contiguous float32 array of finite numbers; not copied if it is one."""
    array = as_array(value, what)
    if array.dtype.kind == "O":
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ArgumentError(f"{what}: expected numbers, found {_described(array)} ({error})") from None
    if array.dtype.kind not in "fiub":
        raise ArgumentError(f"{what}: expected numbers, found {_described(array)}")
    if shape is not None and array.shape != shape:
        raise ArgumentError(f"{what}: expected the shape {shape}, found {array.shape}")
    with np.errstate(over="ignore"):
        single = np.ascontiguousarray(array, np.float32)
    # The sum of finite numbers is finite unless they are enormous; it is cheaper than a mask of the whole array.
    if single.size and not np.isfinite(single.sum(dtype=np.float64)) and not np.isfinite(single).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(single))[0])
        found = array[where]
        raise ArgumentError(f"{what}: expected finite numbers within float32, found {found} at {where}")
    return single


def _described(array: np.ndarray) -> str:
    return f"an array of {array.dtype} with the shape {array.shape}"


def view(pointer: Optional[int], shape: tuple[int, ...], dtype: Any, owner: Handle) -> np.ndarray:
    """A read-only array over memory of the library. It keeps the owner alive."""
    count = int(np.prod(shape, dtype=np.int64))
    if not pointer or count == 0:
        return np.zeros(shape, dtype)
    size = count * np.dtype(dtype).itemsize
    memory = (ctypes.c_char * size).from_address(pointer)
    memory._owner = owner  # type: ignore[attr-defined]
    return np.frombuffer(memoryview(memory).toreadonly(), dtype).reshape(shape)


def is_missing(value: Any) -> bool:
    """None, NaN, and pandas' NA and NaT."""
    return (value is None or type(value).__name__ in ("NAType", "NaTType")
            or (isinstance(value, (float, np.floating)) and bool(value != value)))


def is_sparse(value: Any) -> bool:
    """Whether it is a sparse matrix or array of scipy, without importing scipy.sparse."""
    return hasattr(value, "tocsr") and hasattr(value, "shape")


def csr_parts(matrix: Any, what: str) -> tuple[np.ndarray, np.ndarray, Optional[np.ndarray]]:
    """indptr (int64), indices (int32) and values (float32; None: all are 1) of a CSR matrix. Its arrays may be longer
    than indptr says, never shorter: the library reads as many entries as indptr says."""
    try:
        matrix = matrix.tocsr()
    except Exception as error:
        raise ArgumentError(f"{what}: no valid sparse matrix ({error})") from None
    indptr = integers(matrix.indptr, f"{what}, indptr", (matrix.shape[0] + 1,), np.int64)
    count = int(indptr[-1])
    indices, data = (as_array(part, what) for part in (matrix.indices, matrix.data))
    if indices.ndim != 1 or data.ndim != 1 or not 0 <= count <= min(len(indices), len(data)):
        raise ArgumentError(f"{what}: indptr ends with {count}, but there are {indices.size} indices and {data.size} "
                            "values")
    ones = data.dtype.kind == "b" and bool(data[:count].all())
    return indptr, integers(indices[:count], f"{what}, indices"), None if ones else floats(data[:count], what)

"""The exceptions: one per status of the library, each also a built-in exception of the same kind."""

from __future__ import annotations

from . import _abi


class SfumatoError(Exception):
    """The base of all errors of the library. The text is the library's message."""


class ArgumentError(SfumatoError, ValueError):
    """An argument that is not allowed."""


class FormatError(SfumatoError, ValueError):
    """Invalid or unexpected contents of a file."""


class OutOfMemoryError(SfumatoError, MemoryError):
    """There is not enough memory."""


class FileError(SfumatoError, OSError):
    """A file could not be read or written."""


class NotFoundError(SfumatoError, FileNotFoundError):
    """A file, dataset or part of one does not exist."""


class UnsupportedError(SfumatoError, NotImplementedError):
    """Something that this build of the library does not contain."""


class CancelledError(SfumatoError):
    """A call that was ended before it had a result."""


class DivergedError(SfumatoError, ArithmeticError):
    """Training diverged: the loss is no longer a number."""


class DeviceError(SfumatoError, RuntimeError):
    """A GPU failed, or another process uses it."""


class InterruptedWarning(UserWarning):
    """A call was ended by Ctrl-C and returned its best result so far."""


BY_STATUS = {
    _abi.SFU_ERR_MEMORY: OutOfMemoryError,
    _abi.SFU_ERR_ARGUMENT: ArgumentError,
    _abi.SFU_ERR_FORMAT: FormatError,
    _abi.SFU_ERR_IO: FileError,
    _abi.SFU_ERR_NOT_FOUND: NotFoundError,
    _abi.SFU_ERR_UNSUPPORTED: UnsupportedError,
    _abi.SFU_ERR_CANCELLED: CancelledError,
    _abi.SFU_ERR_DIVERGED: DivergedError,
    _abi.SFU_ERR_DEVICE: DeviceError,
}

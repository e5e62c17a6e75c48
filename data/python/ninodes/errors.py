"""What can go wrong, as exceptions that carry the library's own message."""
from __future__ import annotations

from typing import Any


class LibraryNotFound(ImportError):
    """libninodes.so.2 is nowhere, or is older than this package."""


class Error(Exception):
    """Something failed.

    code     short name of the kind: "range", "missing", ...
    where    what is concerned, in the user's own words: "KSampler.steps", "vae.safetensors: conv_in.weight", or ""
    message  one line
    detail   a finer word than code where there is one: "truncated", "busy", "none"
    """

    def __init__(self, code: str, where: str, message: str, detail: str = ""):
        super().__init__(f"{where}: {message}" if where else message)
        self.code, self.where, self.message, self.detail = code, where, message, detail

    def __reduce__(self) -> Any:  # exceptions go through pickle when a process pool hands them on
        return type(self), (self.code, self.where, self.message, self.detail)


class OutOfMemory(Error, MemoryError):
    """Memory of the host or the device is not enough; the message says for what."""


class ArgumentError(Error, ValueError):
    """A rule of a function was broken."""


class FileError(Error):
    """A file cannot be read or written."""


class FormatError(Error, ValueError):
    """A file or a piece of JSON is malformed."""


class RangeError(Error, ValueError):
    """A value lies outside of its range."""


class UnknownName(Error, LookupError):
    """There is no node, input, device or profile of that name."""


class DeviceError(Error):
    """The device or its driver failed, or there is none."""


class Cancelled(Error):
    """The job was cancelled."""


class Missing(Error):
    """A model or another file is in none of the folders that were searched."""


class Unsupported(Error):
    """Well-formed, but not something that this version can do."""


CLASSES = {"NOMEM": OutOfMemory, "ARG": ArgumentError, "IO": FileError, "FORMAT": FormatError, "RANGE": RangeError,
           "UNKNOWN": UnknownName, "DEVICE": DeviceError, "CANCELLED": Cancelled, "MISSING": Missing,
           "UNSUPPORTED": Unsupported}


def error_of(err: Any) -> Error:
    """The exception for a nino_error."""
    from . import _abi, _library

    name = next((n for n, code in _abi.STATUS.items() if code == err.code), "")
    return CLASSES.get(name, Error)(_library.text(_library.lib.nino_status_name(err.code)), _library.text(err.where),
                                    _library.text(err.msg), _library.text(err.kind))

"""Finds libninodes.so.2, and gives its functions their types and its errors a form."""
from __future__ import annotations

import ctypes
import os
import shutil
from typing import Any, Iterator

from . import _abi
from .errors import LibraryNotFound, error_of

SONAME = "libninodes.so.2"


def _places() -> Iterator[str]:
    told = os.environ.get("NINODES_LIBRARY")
    if told:  # and nowhere else: who names a library means that one
        yield os.path.join(told, SONAME) if os.path.isdir(told) else told
        return
    yield SONAME  # as the dynamic linker finds it
    program = shutil.which("ninodes")
    if program:  # an install under a prefix of its own, and a build folder
        folder = os.path.dirname(os.path.realpath(program))
        yield os.path.join(os.path.dirname(folder), "lib", SONAME)
        yield os.path.join(folder, SONAME)


def _open() -> ctypes.CDLL:
    tried = []
    for place in _places():
        try:
            library = ctypes.CDLL(place)
        except OSError as e:
            tried.append(f"  {place}: {e}")
            continue
        for name, (result, *parameters) in _abi.FUNCTIONS.items():
            try:
                function = getattr(library, name)
            except AttributeError:
                raise LibraryNotFound(f"{place} has no function {name}: it is older than this package") from None
            function.restype, function.argtypes = result, parameters
        return library
    raise LibraryNotFound(
        f"{SONAME} was not found. Install ninodes (package libninodes2, or make install), or let NINODES_LIBRARY name "
        "the file or its folder. Tried:\n" + "\n".join(tried))


lib = _open()


def path_bytes(path: Any) -> bytes:
    """A file's name as the library takes it."""
    return os.fsencode(os.fspath(path))


def text(raw: bytes | None) -> str:
    """Text of the library. Names of files in it may be any bytes."""
    return raw.decode("utf-8", "surrogateescape") if raw else ""


def call(name: str, *args: Any) -> Any:
    """Calls a function that returns a status, or a handle that is NULL on failure, and takes a nino_error last."""
    err = _abi.Error()
    result = getattr(lib, name)(*args, ctypes.byref(err))
    failed = result is None if getattr(lib, name).restype is ctypes.c_void_p else result != 0
    if failed:
        raise error_of(err)
    return result


class Handle:
    """An object of the library, which ends when nobody uses it any more: arrays keep the job that their pixels are of."""

    def __init__(self, value: int, destroy: str, callback: Any = None):
        self.value = value
        self._callback = callback  # may be called until the object has ended
        self._destroy = getattr(lib, destroy)

    def __del__(self) -> None:
        if getattr(self, "value", None):
            self._destroy(ctypes.byref(ctypes.c_void_p(self.value)))
            self.value = 0

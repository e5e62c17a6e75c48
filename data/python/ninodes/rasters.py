"""Pictures and latents in memory: numpy arrays where numpy is installed, memoryviews everywhere."""
from __future__ import annotations

import ctypes
import os
from typing import TYPE_CHECKING, Any

from . import _abi
from ._library import call, lib, path_bytes
from .errors import ArgumentError

if TYPE_CHECKING:
    import numpy


class Raster:
    """Pictures of one size or latents, channels last: shape [n, height, width, channels], or
    [n, frames, height, width, channels] of a video's latent.

    Pictures are float32 from 0 to 1, RGB or RGBA; those that come from files are bytes. The memory belongs to the library
    and is read-only; it stays as long as this object, or an array or a memoryview of it, is used.
    """

    def __init__(self, shape: tuple[int, ...], is_bytes: bool, address: int, owner: Any):
        self.shape = shape
        self.dtype = "uint8" if is_bytes else "float32"
        self._address = address
        self._owner = owner

    def __repr__(self) -> str:
        return f"<ninodes.Raster {'x'.join(map(str, self.shape))} {self.dtype}>"

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def size(self) -> int:
        """How many numbers it has."""
        n = 1
        for d in self.shape:
            n *= d
        return n

    @property
    def __array_interface__(self) -> dict[str, Any]:  # numpy.asarray(raster), without a copy
        return {"version": 3, "shape": self.shape, "typestr": "|u1" if self.dtype == "uint8" else "<f4",
                "data": (self._address, True)}

    def memoryview(self) -> memoryview:
        """The numbers without a copy: a read-only view of format "B" or "f", in the raster's shape."""
        block: Any = (ctypes.c_uint8 * (self.size * (1 if self.dtype == "uint8" else 4))).from_address(self._address)
        block.raster = self  # a view keeps the block, the block keeps the memory
        view = memoryview(block).toreadonly().cast("B")
        return view.cast("B" if self.dtype == "uint8" else "f", self.shape)

    def numpy(self) -> numpy.ndarray[Any, Any]:
        """The numbers as a read-only numpy array, without a copy; numpy.array(raster) makes one of your own."""
        import numpy

        return numpy.asarray(self)

    def to_bytes(self) -> bytes:
        """Pictures as 8-bit samples, picture after picture, rows from the top, as SaveImage writes them: what
        PIL.Image.frombytes() and its like take."""
        if self.dtype == "uint8":
            return self.memoryview().tobytes()
        try:
            import numpy
        except ImportError:
            flat = self.memoryview().cast("B").cast("f")
            return bytes(min(max(int(255.0 * x), 0), 255) for x in flat)
        return numpy.clip(self.numpy() * numpy.float32(255), 0, 255).astype(numpy.uint8).tobytes()


def raster_of(r: _abi.Raster, owner: Any) -> Raster:
    """What a nino_raster that owner keeps alive points to."""
    frames = (r.frames,) if r.frames else ()
    return Raster((r.n, *frames, r.height, r.width, r.channels), r.type == _abi.U8, r.data, owner)


def _is_whole(view: memoryview) -> bool:
    return view.format in ("B", "f") and view.c_contiguous


def _view_of(data: Any) -> memoryview:
    """data as contiguous bytes or float32, of the shape that it has; a copy only where it is something else."""
    if isinstance(data, Raster):
        return data.memoryview()
    try:
        view = memoryview(data)
    except TypeError:
        view = None
    if view is not None and _is_whole(view):
        return view
    try:
        import numpy
    except ImportError:
        raise TypeError("pixels must be contiguous bytes or float32 with the buffer protocol; other forms need numpy") from None
    array: Any = numpy.asarray(data)
    if array.dtype != numpy.uint8:
        array = array.astype(numpy.float32)
    whole: Any = numpy.ascontiguousarray(array)
    return memoryview(whole)


def raster_in(data: Any, is_latent: bool) -> tuple[_abi.Raster, Any]:
    """A nino_raster for data, and what must live as long as it is used."""
    view = _view_of(data)
    shape = tuple(view.shape or ())
    if not is_latent and len(shape) == 3:
        shape = (1, *shape)
    if len(shape) != 4 and not (is_latent and len(shape) == 5):
        forms = "[n, height, width, channels] or [n, frames, height, width, channels]" if is_latent else \
            "[height, width, channels] or [n, height, width, channels]"
        raise ArgumentError("argument", "", f"the shape {list(shape)} is none of {forms}")
    if is_latent and view.format != "f":
        raise ArgumentError("argument", "", "a latent must be float32")
    block: Any = ctypes.create_string_buffer(view.tobytes(), view.nbytes) if view.readonly else \
        (ctypes.c_uint8 * view.nbytes).from_buffer(view.cast("B"))
    r = _abi.Raster(size=ctypes.sizeof(_abi.Raster), type=_abi.U8 if view.format == "B" else _abi.F32, n=shape[0],
                    frames=shape[1] if len(shape) == 5 else 0, height=shape[-3], width=shape[-2], channels=shape[-1],
                    data=ctypes.addressof(block))
    return r, (view, block)


class _Loaded:
    def __init__(self, path: bytes):
        self.picture = _abi.Picture()
        call("nino_picture_load", path, ctypes.byref(self.picture))

    def __del__(self) -> None:
        lib.nino_picture_release(ctypes.byref(self.picture))


def load_picture(path: str | os.PathLike[str]) -> Raster:
    """The pixels of a PNG, JPEG or WebP file, or the frames of an animated one or a video, as RGBA bytes
    [frames, height, width, 4]."""
    owner = _Loaded(path_bytes(path))
    p = owner.picture
    return Raster((p.frames, p.height, p.width, 4), True, p.rgba, owner)

"""Runs ComfyUI workflows through libninodes, without a compiler and without ComfyUI.

::

    import ninodes

    workflow = ninodes.Workflow.load("text_to_image.json")
    workflow["KSampler.seed"] = 7
    with ninodes.Device(models="models", output_dir="out") as device:
        job = device.run(workflow, progress=print)
        print(job.outputs[0].path, job.images()[0].shape)

Every error of the library is a ninodes.Error with its message.
"""
from __future__ import annotations

from ._library import lib as _lib
from ._library import text as _text
from .device import Device, DeviceInfo, Options, devices
from .errors import (ArgumentError, Cancelled, DeviceError, Error, FileError, FormatError, LibraryNotFound, Missing,
                     OutOfMemory, RangeError, UnknownName, Unsupported)
from .events import Event, EventKind, Progress
from .jobs import Job, Output, Text
from .plans import Plan, PlanBasis, PlanScope, PlanTiling
from .rasters import Raster, load_picture
from .workflows import Issue, Node, Workflow

__version__ = "0.1.0"


def library_version() -> str:
    """The version of the library that was found."""
    return _text(_lib.nino_version())


__all__ = ["ArgumentError", "Cancelled", "Device", "DeviceError", "DeviceInfo", "Error", "Event", "EventKind",
           "FileError", "FormatError", "Issue", "Job", "LibraryNotFound", "Missing", "Node", "Options", "OutOfMemory",
           "Output", "Plan", "PlanBasis", "PlanScope", "PlanTiling", "Progress", "RangeError", "Raster", "Text",
           "UnknownName", "Unsupported", "Workflow", "devices", "library_version", "load_picture"]

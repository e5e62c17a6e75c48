"""A run of a workflow: its events, and what comes out of it."""
from __future__ import annotations

import ctypes
import dataclasses
import itertools
import threading
from typing import TYPE_CHECKING, Any, Callable, Iterator

from . import _abi
from ._library import Handle, call, lib, text
from .errors import Missing, error_of
from .events import Event, Progress, ProgressReader, event_of
from .rasters import Raster, raster_of

if TYPE_CHECKING:
    from .workflows import Node

# How long a wait may keep Python from seeing Ctrl-C.
TICK_MS = 100
BATCH = 256


@dataclasses.dataclass(frozen=True)
class Output:
    """A file that a node has written."""

    node: str
    path: str


@dataclasses.dataclass(frozen=True)
class Text:
    """What a monitor node says to people."""

    node: str
    title: str
    text: str


class Job:
    """A job that was started by Device.start().

    As a context manager it is cancelled when the block is left before its end. Its results stay readable after
    close(), and after the device was closed. One thread at a time may use it; cancel() may come from any.
    """

    def __init__(self, handle: Handle, nodes: list[Node]):
        self._handle = handle
        self._nodes = nodes
        self._reading = threading.Lock()

    def __enter__(self) -> Job:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.close()

    def close(self) -> None:
        """Cancels what still runs and waits for its end."""
        if not self.is_done:
            self.cancel()
        while not self.is_done:
            self._next_batch()

    def cancel(self) -> None:
        """Returns at once; wait() then raises Cancelled."""
        lib.nino_job_cancel(self._handle.value)

    # ---- while it runs

    @property
    def is_done(self) -> bool:
        """The job has ended, and all its events were read."""
        return bool(lib.nino_job_done(self._handle.value, None, None))

    def fileno(self) -> int:
        """For select() and event loops: readable when poll() has something or the job has ended."""
        return int(lib.nino_job_fd(self._handle.value))

    def _name(self, number: int) -> str:
        return text(lib.nino_job_name(self._handle.value, number))

    def poll(self) -> list[Event]:
        """The events that have come; never waits."""
        raw = (_abi.Event * BATCH)()
        with self._reading:
            n = lib.nino_job_poll(self._handle.value, raw, BATCH)
            events = [event_of(raw[i], self._name) for i in range(n)]
        return [e for e in events if e]

    def _next_batch(self) -> list[Event]:
        events = self.poll()
        if not events:
            lib.nino_job_wait(self._handle.value, TICK_MS)
        return events

    def events(self) -> Iterator[Event]:
        """All events up to the end of the job, as they come; raises its error then."""
        while not self.is_done:
            yield from self._next_batch()
        self._raise()

    def wait(self, progress: Callable[[Progress], Any] | None = None) -> Job:
        """Waits for the end and raises the job's error. progress is called in this thread, with a Progress each time; what
        it raises, and Ctrl-C, cancel the job."""
        reader = ProgressReader()
        try:
            for event in self.events():
                p = reader.take(event) if progress else None
                if p and progress:
                    progress(p)
        except BaseException:
            self.close()
            raise
        return self

    def _raise(self) -> None:
        status, err = ctypes.c_int(), _abi.Error()
        lib.nino_job_done(self._handle.value, ctypes.byref(status), ctypes.byref(err))
        if status.value:
            raise error_of(err)

    # ---- results

    def _rows(self, function: str, row: type) -> Any:
        n = getattr(lib, function)(self._handle.value, None, 0)
        rows = (row * n)()
        return rows[: min(n, getattr(lib, function)(self._handle.value, rows, n))]

    @property
    def outputs(self) -> list[Output]:
        """The files that were written so far."""
        return [Output(text(r.node), text(r.path)) for r in self._rows("nino_job_outputs", _abi.JobOutput)]

    @property
    def texts(self) -> list[Text]:
        """What monitor nodes have said."""
        return [Text(text(r.node), text(r.title), text(r.text)) for r in self._rows("nino_job_texts", _abi.JobText)]

    def _rasters(self, function: str, node: str | None) -> list[Raster]:
        ids = [n.id for n in self._nodes if node is None or n.id == node] or \
            [n.id for n in self._nodes if node in (n.class_type, n.title)]
        found = []
        for i in ids:
            for number in itertools.count():  # several where the node ran over a list
                r = _abi.Raster(size=ctypes.sizeof(_abi.Raster))
                try:
                    call(function, self._handle.value, i.encode(), number, ctypes.byref(r))
                except Missing:
                    break
                found.append(raster_of(r, self._handle))
        return found

    def images(self, node: str | None = None) -> list[Raster]:
        """The pictures that output nodes such as SaveImage were given: of one node (id, class or title), or of all."""
        return self._rasters("nino_job_image", node)

    def latents(self, node: str | None = None) -> list[Raster]:
        """The latents that output nodes such as SaveLatent were given."""
        return self._rasters("nino_job_latent", node)

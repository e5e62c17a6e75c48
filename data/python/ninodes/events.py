"""What a job tells about itself while it works."""
from __future__ import annotations

import ctypes
import dataclasses
import enum
from typing import Any, Callable

from . import _abi

class EventKind(enum.IntEnum):
    """The kinds of events, as ninodes/monitor.h explains them. JOB, NODE, STAGE, STEP and TILE are scopes, which end with END."""

    JOB = 1
    NODE = 2
    STAGE = 3
    STEP = 4
    TILE = 5
    END = 6
    KERNEL = 7
    MEM = 8
    DEVICE = 9
    PROGRESS = 10
    MESSAGE = 11
    TILE_INFO = 12
    SEAM = 13
    LOST = 14
    OUTPUT = 15
    TRANSFER = 16
    CACHE = 17
    STEP_INFO = 18
    PREVIEW = 19
    HOST = 20
    CEILINGS = 21
    CEILING_POINT = 22
    CHUNK = 23
    CLIP = 24
    NOTE = 25
    ONCE = 26
    SUM = 27
    CHOICE = 28


# Which member of nino_event.u has the rest of an event; all others have "scope".
_PARTS = {"KERNEL": "kernel", "TRANSFER": "kernel", "MEM": "mem", "DEVICE": "sample", "HOST": "sample",
          "PROGRESS": "progress", "TILE_INFO": "tile", "SEAM": "seam", "STEP_INFO": "step", "PREVIEW": "step",
          "CHUNK": "chunk", "CLIP": "clip", "CEILINGS": "ceilings", "CEILING_POINT": "ceiling_point", "ONCE": "once",
          "CHOICE": "choice", "LOST": "lost", "SUM": "sum"}
_PART_OF = {EventKind[k].value: v for k, v in _PARTS.items()}


@dataclasses.dataclass(frozen=True)
class Event:
    """One event. kind says what it is; data has what belongs to that kind, under the names of ninodes/monitor.h."""

    kind: EventKind
    # CLOCK_MONOTONIC: time.monotonic_ns().
    time_ns: int
    name: str
    # Of scopes and their END, the number of the scope; of all, that of the enclosing one.
    id: int
    parent: int
    track: int
    sub: int
    data: dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Progress:
    """How far a job has come."""

    # 0 to 1, by planned arithmetic, or by nodes where there is no plan.
    fraction: float
    # The node that runs: "3 KSampler"; its number of n_nodes.
    node: str
    node_index: int
    n_nodes: int
    # The step of a sampling; n_steps is 0 outside of one.
    step: int
    n_steps: int
    # Seconds left; NaN: not known yet.
    eta_s: float

    def __str__(self) -> str:
        step = f", step {self.step} of {self.n_steps}" if self.n_steps else ""
        return f"{100 * self.fraction:3.0f} % {self.node}{step}"


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, ctypes.Array) else value


def event_of(raw: _abi.Event, name: Callable[[int], str]) -> Event | None:
    """An event of the library; None for a kind that only a newer one knows."""
    try:
        kind = EventKind(raw.kind)
    except ValueError:
        return None
    part = _PART_OF.get(raw.kind, "scope")
    u = getattr(raw.u, part)
    data = {part: _plain(u)} if not isinstance(u, ctypes.Structure) else {f[0]: _plain(getattr(u, f[0])) for f in u._fields_}
    if part == "kernel":
        data["shape"], data["family"] = name(u.shape), name(u.family)
    if kind in (EventKind.TILE_INFO, EventKind.CHUNK):
        data["device"] = name(raw.id)
    return Event(kind, raw.t_ns, name(raw.name), raw.id, raw.parent, raw.track, raw.sub, data)


class ProgressReader:
    """Makes Progress of the events of one job."""

    def __init__(self) -> None:
        self.node = ""

    def take(self, event: Event) -> Progress | None:
        if event.kind == EventKind.NODE:
            self.node = event.name
        if event.kind != EventKind.PROGRESS:
            return None
        d = event.data
        fraction = min(d["done"] / d["total"], 1.0) if d["total"] > 0 else 0.0
        return Progress(fraction, self.node, d["node_index"], d["n_nodes"], d["step"], d["n_steps"], d["eta_s"])

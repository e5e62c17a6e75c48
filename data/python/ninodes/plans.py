"""What a workflow would take, told without running it."""
from __future__ import annotations

import dataclasses
from typing import Any

from . import _abi
from ._library import text


@dataclasses.dataclass(frozen=True)
class PlanScope:
    """A node (depth 0) or a part of one; 0 seconds: the profile has no numbers."""

    name: str
    depth: int
    flops: float
    bytes: float
    seconds: float
    kernels: int
    peak_bytes: int


@dataclasses.dataclass(frozen=True)
class PlanTiling:
    """Tiles of the last decode, in pixels; why is "" where nothing is tiled."""

    is_tiled: bool
    tile_w: int
    tile_h: int
    overlap: int
    n_tiles: int
    why: str


@dataclasses.dataclass(frozen=True)
class PlanBasis:
    """What the times rest on. Efficiencies are assumed on every device; least_seconds: no run is faster."""

    file: str
    date: str
    is_measured: bool
    peak_type: str
    peak: float
    bandwidth: float
    launch_s: float
    efficiency_gemm: float
    efficiency_conv: float
    efficiency_attn: float
    least_seconds: float


@dataclasses.dataclass(frozen=True)
class Plan:
    """Arithmetic, memory and time of a run. Bytes are those of the device's pool; budget 0: not known."""

    profile: str
    flops: float
    bytes: float
    seconds: float
    kernels: int
    peak_bytes: int
    weight_bytes: int
    peak_activation_bytes: int
    budget: int
    fits: bool
    tiling: PlanTiling
    basis: PlanBasis
    scopes: list[PlanScope]
    # What has to be compiled: file and options of each program.
    programs: list[tuple[str, str]]


def _fields(struct: Any, cls: type) -> dict[str, Any]:
    out = {f.name: getattr(struct, f.name) for f in dataclasses.fields(cls) if hasattr(struct, f.name)}
    return {k: text(v) if isinstance(v, bytes) else v for k, v in out.items()}


def plan_of(raw: _abi.Plan) -> Plan:
    """A plan of its own from the library's, which is to be released."""
    values = _fields(raw, Plan)
    values["tiling"] = PlanTiling(**_fields(raw.tiling, PlanTiling))
    values["basis"] = PlanBasis(**_fields(raw.basis, PlanBasis))
    values["scopes"] = [PlanScope(**_fields(raw.scopes[i], PlanScope)) for i in range(raw.n_scopes)]
    values["programs"] = [(text(raw.programs[i].file), text(raw.programs[i].options)) for i in range(raw.n_programs)]
    return Plan(**values)

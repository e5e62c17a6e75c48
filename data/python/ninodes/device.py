"""Devices: opening one, running and planning workflows on it."""
from __future__ import annotations

import atexit
import ctypes
import dataclasses
import os
import weakref
from typing import TYPE_CHECKING, Any, Callable, Sequence, TypedDict, Union

from . import _abi
from ._library import Handle, call, lib, path_bytes, text
from .errors import ArgumentError
from .events import Progress
from .jobs import Job
from .plans import Plan, plan_of
from .workflows import Workflow

if TYPE_CHECKING:
    from typing_extensions import Unpack

Path = Union[str, "os.PathLike[str]"]


@dataclasses.dataclass(frozen=True)
class DeviceInfo:
    """A device, as its driver tells. problem: why it cannot be used, or ""."""

    selector: str
    name: str
    vendor: str
    driver: str
    platform: str
    profile: str
    is_gpu: bool
    compute_units: int
    mem_bytes: int
    max_buffer: int
    local_bytes: int
    has_fp16: bool
    has_fp64: bool
    problem: str
    schedule: str


class Options(TypedDict, total=False):
    """What can be told to a single job; what is left out is as the device has it, and there as the library has it."""

    # Model folders, searched in order.
    models: Path | Sequence[Path]
    # Where LoadImage finds files, and where SaveImage puts its own.
    input_dir: Path
    output_dir: Path
    # Writes a trace: .pftrace, .ninotrace, else Chrome's JSON.
    trace: Path
    # "auto", "fp32", "fp16", "bf16"
    precision: str
    # "none", "latent2rgb", "taesd", "auto"; every so many steps.
    preview: str
    preview_every: int
    # Files carry no profile of the run; or neither that nor the workflow.
    no_profile: bool
    no_metadata: bool
    # What output nodes are given stays in memory, for Job.images() and Job.latents(). True for a device unless told.
    keep_results: bool
    # Nodes that only write files do not run.
    no_files: bool
    # Results of earlier jobs are not used.
    anew: bool


def _word(function: str, key: str, word: str) -> int:
    out = ctypes.c_int()
    if not getattr(lib, function)(word.encode(), ctypes.byref(out)):
        raise ArgumentError("argument", key, f"there is no choice {word!r}")
    return out.value


def _options(given: dict[str, Any]) -> _abi.JobOptions:
    unknown = given.keys() - Options.__annotations__.keys()
    if unknown:
        raise TypeError(f"no such option: {sorted(unknown)[0]}; there are: {', '.join(Options.__annotations__)}")
    o = _abi.JobOptions(size=ctypes.sizeof(_abi.JobOptions))
    if "models" in given:
        models = given["models"]
        folders = [models] if isinstance(models, (str, os.PathLike)) else list(models)
        o.models = (ctypes.c_char_p * (len(folders) + 1))(*map(path_bytes, folders), None)
    for key, field in (("input_dir", "input_dir"), ("output_dir", "output_dir"), ("trace", "trace_path")):
        if given.get(key) is not None:
            setattr(o, field, path_bytes(given[key]))
    if "precision" in given:
        o.precision = _word("nino_precision_opt_find", "precision", given["precision"])
    if "preview" in given:
        o.preview = _word("nino_preview_opt_find", "preview", given["preview"])
    o.preview_every = given.get("preview_every", 0)
    for key in ("no_profile", "no_metadata", "no_files", "keep_results"):
        setattr(o, key, given.get(key, False))
    o.is_anew = given.get("anew", False)
    return o


def _info(raw: _abi.DeviceInfo) -> DeviceInfo:
    values = {f.name: getattr(raw, f.name) for f in dataclasses.fields(DeviceInfo)}
    return DeviceInfo(**{k: text(v) if isinstance(v, bytes) else v for k, v in values.items()})


def devices() -> list[DeviceInfo]:
    """All devices of this machine, those that cannot be used with the reason."""
    n = lib.nino_devices(None, 0)
    rows = (_abi.DeviceInfo * n)()
    return [_info(r) for r in rows[: min(n, lib.nino_devices(rows, n))]]


class Device:
    """An open device. Models stay loaded and results are used again from job to job: open one and keep it.

    ::

        with Device(models="models") as device:
            job = device.run(Workflow.load("workflow.json"), progress=print)
            print(job.outputs, job.images())

    selector      "cl:0", part of a device's name as "cl:gfx1151", "ref"; None: the first GPU, else the first CPU
    memory        bytes of device memory to use at most; 0: what is free
    cache_dir     where compiled kernels are kept; None: the user's cache folder, "": nowhere
    log           called with a level ("error", "warn", "info", "debug") and a line, on threads of the library
    log_level     the least important level that log is called with
    title         not None: listens for `ninodes monitor` under this title
    Options       those that all its jobs have unless told otherwise

    It may be used from any thread; jobs run one after the other.
    """

    def __init__(self, selector: str | None = None, *, memory: int = 0, cache_dir: Path | None = None,
                 log: Callable[[str, str], Any] | None = None, log_level: str = "warn", title: str | None = None,
                 **options: Unpack[Options]):
        if log_level.upper() not in _abi.LOG_LEVELS:
            raise ArgumentError("argument", "log_level", f"there is no level {log_level!r}")
        names = {v: k.lower() for k, v in _abi.LOG_LEVELS.items()}

        def tell(_priv: Any, level: int, line: bytes) -> None:
            if log:
                log(names.get(level, "info"), text(line))

        callback = _abi.LogFn(tell) if log else _abi.LogFn(0)
        options.setdefault("keep_results", True)
        job = _options(dict(options))
        params = _abi.CtxParams(size=ctypes.sizeof(_abi.CtxParams), device=selector.encode() if selector else None,
                                mem_limit=memory, cache_dir=None if cache_dir is None else path_bytes(cache_dir),
                                job=ctypes.pointer(job), serve=title is not None, title=(title or "").encode(),
                                log=callback, log_level=_abi.LOG_LEVELS[log_level.upper()])
        value = call("nino_ctx_create", ctypes.byref(params))
        self._handle: Handle | None = Handle(value, "nino_ctx_destroy", callback)
        self._jobs: weakref.WeakSet[Job] = weakref.WeakSet()
        _open.add(self)

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.close()

    def close(self) -> None:
        """Cancels its jobs, waits for their end and gives the device's memory back."""
        for job in list(self._jobs):
            job.cancel()
        self._handle = None

    def _value(self) -> int:
        if not self._handle:
            raise ArgumentError("argument", "", "the device was closed")
        return self._handle.value

    @property
    def info(self) -> DeviceInfo:
        out = _abi.DeviceInfo()
        lib.nino_ctx_device(self._value(), ctypes.byref(out))
        return _info(out)

    def pause(self, is_paused: bool = True) -> None:
        """The running job stops between two kernels until this is called with False."""
        lib.nino_ctx_pause(self._value(), is_paused)

    def start(self, workflow: Workflow, **options: Unpack[Options]) -> Job:
        """Starts a job and returns at once."""
        o = _options(dict(options))
        value = call("nino_job_start", self._value(), workflow._handle.value, ctypes.byref(o))
        job = Job(Handle(value, "nino_job_destroy"), workflow.nodes)
        self._jobs.add(job)
        return job

    def run(self, workflow: Workflow, progress: Callable[[Progress], Any] | None = None,
            **options: Unpack[Options]) -> Job:
        """Runs a workflow to its end: start() and Job.wait()."""
        return self.start(workflow, **options).wait(progress)

    def plan(self, workflow: Workflow, profile: str | None = None, **options: Unpack[Options]) -> Plan:
        """What a run would take, without running: on this device, or on one of which there is a profile ("gfx1151")."""
        o, out = _options(dict(options)), _abi.Plan()
        call("nino_graph_plan", self._value(), workflow._handle.value, profile.encode() if profile else None,
             ctypes.byref(o), ctypes.byref(out))
        try:
            return plan_of(out)
        finally:
            lib.nino_plan_release(ctypes.byref(out))


_open: weakref.WeakSet[Device] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:  # the library's threads must not call into an interpreter that has ended
    for device in list(_open):
        device.close()

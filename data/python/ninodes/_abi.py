"""What this package uses of the library's C interface, as ctypes: structs, constants and functions.

tests/python/test_abi.py compares all of it with data/abi, which is made from the headers.
"""
from __future__ import annotations

from ctypes import (CFUNCTYPE, POINTER, Structure, Union, c_bool, c_char, c_char_p, c_double, c_float, c_int, c_size_t,
                    c_uint, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p)
from typing import Any

# nino_status
STATUS = {"NOMEM": -1, "ARG": -2, "IO": -3, "FORMAT": -4, "RANGE": -5, "UNKNOWN": -6, "DEVICE": -7, "CANCELLED": -8,
          "MISSING": -9, "UNSUPPORTED": -10}
# nino_log_level
LOG_LEVELS = {"ERROR": 0, "WARN": 1, "INFO": 2, "DEBUG": 3}
# nino_raster_type
U8, F32 = 0, 1


class Error(Structure):
    c_name = "nino_error"
    _fields_ = [("code", c_int), ("kind", c_char_p), ("where", c_char * 192), ("msg", c_char * 320)]


class JobOptions(Structure):
    c_name = "nino_job_options"
    _fields_ = [("size", c_size_t), ("models", POINTER(c_char_p)), ("input_dir", c_char_p), ("output_dir", c_char_p),
                ("trace_path", c_char_p), ("precision", c_int), ("preview", c_int), ("preview_every", c_int),
                ("preview_share", c_double), ("no_profile", c_bool), ("no_metadata", c_bool), ("is_silent", c_bool),
                ("keep_results", c_bool), ("no_files", c_bool), ("is_anew", c_bool)]


LogFn = CFUNCTYPE(None, c_void_p, c_int, c_char_p)


class CtxParams(Structure):
    c_name = "nino_ctx_params"
    _fields_ = [("size", c_size_t), ("device", c_char_p), ("mem_limit", c_uint64), ("cache_dir", c_char_p),
                ("state_dir", c_char_p), ("steps", c_int), ("job", POINTER(JobOptions)), ("serve", c_bool),
                ("title", c_char_p), ("log", LogFn), ("log_priv", c_void_p), ("log_level", c_int), ("helper", c_char_p)]


class DeviceInfo(Structure):
    c_name = "nino_device_info"
    _fields_ = [("selector", c_char * 16), ("name", c_char * 128), ("vendor", c_char * 64), ("driver", c_char * 96),
                ("platform", c_char * 96), ("profile", c_char * 64), ("is_gpu", c_bool), ("compute_units", c_uint),
                ("mem_bytes", c_uint64), ("max_buffer", c_uint64), ("local_bytes", c_uint64), ("has_fp16", c_bool),
                ("has_fp64", c_bool), ("problem", c_char * 160), ("schedule", c_char * 32)]


class Raster(Structure):
    c_name = "nino_raster"
    _fields_ = [("size", c_size_t), ("type", c_int), ("n", c_int), ("frames", c_int), ("height", c_int),
                ("width", c_int), ("channels", c_int), ("data", c_void_p)]


class Picture(Structure):
    c_name = "nino_picture"
    _fields_ = [("format", c_char_p), ("width", c_int), ("height", c_int), ("frames", c_int), ("rgba", c_void_p),
                ("fps", c_double), ("is_cut", c_bool)]


class GraphNode(Structure):
    c_name = "nino_graph_node"
    _fields_ = [("id", c_char_p), ("class_type", c_char_p), ("title", c_char_p), ("def_", c_void_p)]


class Issue(Structure):
    c_name = "nino_issue"
    _fields_ = [("severity", c_int), ("code", c_char_p), ("node", c_char_p), ("input", c_char_p),
                ("message", c_char_p), ("class_type", c_char_p)]


ReportFn = CFUNCTYPE(None, c_void_p, POINTER(Issue))


class JobOutput(Structure):
    c_name = "nino_job_output"
    _fields_ = [("node", c_char_p), ("path", c_char_p)]


class JobText(Structure):
    c_name = "nino_job_text"
    _fields_ = [("node", c_char_p), ("title", c_char_p), ("text", c_char_p)]


class PlanScope(Structure):
    c_name = "nino_plan_scope"
    _fields_ = [("name", c_char * 96), ("depth", c_int), ("flops", c_double), ("bytes", c_double),
                ("seconds", c_double), ("kernels", c_uint64), ("peak_bytes", c_uint64)]


class PlanTiling(Structure):
    c_name = "nino_plan_tiling"
    _fields_ = [("is_tiled", c_bool), ("tile_w", c_int), ("tile_h", c_int), ("overlap", c_int), ("n_tiles", c_int),
                ("why", c_char * 160)]


class PlanBasis(Structure):
    c_name = "nino_plan_basis"
    _fields_ = [("file", c_char * 256), ("date", c_char * 16), ("is_measured", c_bool), ("peak_type", c_char * 8),
                ("peak", c_double), ("bandwidth", c_double), ("launch_s", c_double), ("efficiency_gemm", c_double),
                ("efficiency_conv", c_double), ("efficiency_attn", c_double), ("least_seconds", c_double)]


class PlanProgram(Structure):
    c_name = "nino_plan_program"
    _fields_ = [("file", c_char * 32), ("options", c_char * 256)]


class Plan(Structure):
    c_name = "nino_plan"
    _fields_ = [("profile", c_char * 64), ("flops", c_double), ("bytes", c_double), ("seconds", c_double),
                ("kernels", c_uint64), ("peak_bytes", c_uint64), ("weight_bytes", c_uint64),
                ("peak_activation_bytes", c_uint64), ("budget", c_uint64), ("fits", c_bool), ("tiling", PlanTiling),
                ("n_scopes", c_size_t), ("scopes", POINTER(PlanScope)), ("basis", PlanBasis),
                ("n_programs", c_size_t), ("programs", POINTER(PlanProgram))]


def _part(name: str, *fields: Any) -> Any:
    return type(name, (Structure,), {"_fields_": list(fields)})


# The members of nino_event.u, which have no name of their own in C.
EVENT_PARTS = {
    "scope": _part("Scope", ("arg0", c_uint32), ("arg1", c_uint32)),
    "kernel": _part("Kernel", ("dur_ns", c_uint64), ("queued_us", c_uint32), ("submitted_us", c_uint32),
                    ("flops", c_double), ("bytes", c_double), ("shape", c_uint32), ("family", c_uint32)),
    "mem": _part("Mem", ("bytes", c_uint64), ("in_use", c_uint64), ("reserved", c_uint64), ("largest_free", c_uint64),
                 ("owner", c_uint8), ("is_hit", c_uint8), ("arena", c_uint16), ("owner_use", c_uint32)),
    "sample": _part("Sample", ("id", c_uint16 * 4), ("value", c_double * 4)),
    "ceilings": _part("Ceilings", ("flops_f32", c_double), ("flops_f16", c_double), ("bandwidth", c_double),
                      ("launch_s", c_double), ("measured_at", c_uint64)),
    "ceiling_point": _part("CeilingPoint", ("bytes", c_uint64), ("read", c_double), ("write", c_double),
                           ("copy", c_double), ("index", c_uint32), ("n", c_uint32)),
    "progress": _part("ProgressPart", ("done", c_double), ("total", c_double), ("eta_s", c_double),
                      ("node_index", c_uint32), ("n_nodes", c_uint32), ("step", c_uint32), ("n_steps", c_uint32)),
    "tile": _part("Tile", *((n, c_uint16) for n in ("x", "y", "w", "h", "core_x", "core_y", "core_w", "core_h",
                                                    "order", "n", "pass", "n_passes")),
                  ("ns", c_uint64), ("peak_bytes", c_uint64)),
    "seam": _part("Seam", ("mean", c_float), ("max", c_float), ("gradient", c_float), ("n_seams", c_uint32),
                  ("pixels", c_uint64), ("recomputed", c_uint64)),
    "step": _part("Step", ("step", c_uint32), ("total", c_uint32), ("sigma", c_double), ("seconds", c_double),
                  ("eta_s", c_double), ("width", c_uint32), ("height", c_uint32)),
    "chunk": _part("Chunk", ("first", c_uint32), ("frames", c_uint32), ("order", c_uint32), ("n", c_uint32),
                   ("ns", c_uint64), ("cache_bytes", c_uint64), ("peak_bytes", c_uint64)),
    "clip": _part("Clip", ("first_mean", c_float), ("rest_mean", c_float), ("first_colour", c_float),
                  ("rest_colour", c_float), ("border", c_float), ("limit", c_float), ("frames", c_uint32),
                  ("n_borders", c_uint32), ("ns", c_uint64)),
    "once": _part("Once", ("load_ns", c_uint64)),
    "choice": _part("Choice", ("seconds", c_double), ("unchosen", c_double), ("unlimited", c_double), ("walks", c_uint32)),
    "lost": c_uint64,
    "sum": c_uint64 * 5,
    "pad": c_uint64 * 5,
}


class EventUnion(Union):
    _fields_ = list(EVENT_PARTS.items())


class Event(Structure):
    c_name = "nino_event"
    _fields_ = [("t_ns", c_uint64), ("kind", c_uint8), ("sub", c_uint8), ("track", c_uint16), ("name", c_uint32),
                ("id", c_uint32), ("parent", c_uint32), ("u", EventUnion)]


_err = POINTER(Error)
# Name: result, then parameters. Handles are void pointers; a T ** that ends an object takes their address.
FUNCTIONS = {
    "nino_version": (c_char_p,),
    "nino_status_name": (c_char_p, c_int),
    "nino_devices": (c_size_t, POINTER(DeviceInfo), c_size_t),
    "nino_devices_explain": (c_size_t, c_char_p, c_size_t),
    "nino_device_objects": (c_size_t, POINTER(DeviceInfo), POINTER(c_size_t)),
    "nino_precision_opt_find": (c_bool, c_char_p, POINTER(c_int)),
    "nino_preview_opt_find": (c_bool, c_char_p, POINTER(c_int)),
    "nino_ctx_create": (c_void_p, POINTER(CtxParams), _err),
    "nino_ctx_destroy": (None, POINTER(c_void_p)),
    "nino_ctx_device": (None, c_void_p, POINTER(DeviceInfo)),
    "nino_ctx_pause": (None, c_void_p, c_bool),
    "nino_graph_load": (c_void_p, c_char_p, c_size_t, c_char_p, _err),
    "nino_graph_load_file": (c_void_p, c_char_p, _err),
    "nino_graph_destroy": (None, POINTER(c_void_p)),
    "nino_graph_name": (c_char_p, c_void_p),
    "nino_graph_json": (c_void_p, c_void_p, POINTER(c_size_t)),
    "nino_graph_api_json": (c_void_p, c_void_p, POINTER(c_size_t)),
    "nino_graph_set": (c_int, c_void_p, c_char_p, _err),
    "nino_graph_set_image": (c_int, c_void_p, c_char_p, POINTER(Raster), _err),
    "nino_graph_set_latent": (c_int, c_void_p, c_char_p, POINTER(Raster), _err),
    "nino_graph_nodes": (c_size_t, c_void_p, POINTER(GraphNode), c_size_t),
    "nino_graph_check": (c_size_t, c_void_p, c_void_p, ReportFn, c_void_p),
    "nino_graph_plan": (c_int, c_void_p, c_void_p, c_char_p, POINTER(JobOptions), POINTER(Plan), _err),
    "nino_plan_release": (None, POINTER(Plan)),
    "nino_job_start": (c_void_p, c_void_p, c_void_p, POINTER(JobOptions), _err),
    "nino_job_cancel": (None, c_void_p),
    "nino_job_destroy": (None, POINTER(c_void_p)),
    "nino_job_poll": (c_size_t, c_void_p, POINTER(Event), c_size_t),
    "nino_job_name": (c_char_p, c_void_p, c_uint32),
    "nino_job_done": (c_bool, c_void_p, POINTER(c_int), _err),
    "nino_job_wait": (None, c_void_p, c_int),
    "nino_job_fd": (c_int, c_void_p),
    "nino_job_outputs": (c_size_t, c_void_p, POINTER(JobOutput), c_size_t),
    "nino_job_texts": (c_size_t, c_void_p, POINTER(JobText), c_size_t),
    "nino_job_image": (c_int, c_void_p, c_char_p, c_size_t, POINTER(Raster), _err),
    "nino_job_latent": (c_int, c_void_p, c_char_p, c_size_t, POINTER(Raster), _err),
    "nino_picture_load": (c_int, c_char_p, POINTER(Picture), _err),
    "nino_picture_release": (None, POINTER(Picture)),
}
STRUCTS = (Error, JobOptions, CtxParams, DeviceInfo, Raster, Picture, GraphNode, Issue, JobOutput, JobText, PlanScope,
           PlanTiling, PlanBasis, PlanProgram, Plan, Event)

"""Workflows: ComfyUI's files, their nodes and values."""
from __future__ import annotations

import ctypes
import dataclasses
import json
import os
from typing import TYPE_CHECKING, Any, Iterator, Mapping

from . import _abi
from ._library import Handle, call, lib, path_bytes, text
from .errors import ArgumentError, UnknownName
from .rasters import raster_in

if TYPE_CHECKING:
    from .device import Device


@dataclasses.dataclass(frozen=True)
class Node:
    """A node of a workflow."""

    id: str
    class_type: str
    title: str
    # False: a class that cannot run here.
    runs: bool


@dataclasses.dataclass(frozen=True)
class Issue:
    """What is wrong with a workflow, or worth knowing. node and input are "" where it is about no single one."""

    is_error: bool
    code: str
    node: str
    input: str
    message: str
    class_type: str


def _as_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if hasattr(value, "item"):  # a scalar of numpy
        value = value.item()
    return json.dumps(value)


class Workflow:
    """A workflow, from a file of ComfyUI in any form, a picture that carries one, or JSON in memory.

    Values are read and set by the name of a node (its id, or a class or title that only one node has) and of an input::

        workflow = Workflow.load("text_to_image.json")
        workflow["KSampler.seed"] = 7
        workflow.update({"Prompt.text": "a red circle", "KSampler.steps": 12})

    One thread at a time may use it. Jobs take a copy: it may change as soon as they have started.
    """

    def __init__(self, source: str | bytes | Mapping[str, Any], name: str = ""):
        """source: the JSON, as text or as Python has it. name: what the workflow is called in messages."""
        if not isinstance(source, (str, bytes)):
            source = json.dumps(source)
        data = source.encode() if isinstance(source, str) else source
        self._handle = Handle(call("nino_graph_load", data, len(data), name.encode()), "nino_graph_destroy")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Workflow:
        """Reads a workflow file, or the workflow inside a picture; "-" is standard input."""
        self = cls.__new__(cls)
        self._handle = Handle(call("nino_graph_load_file", path_bytes(path)), "nino_graph_destroy")
        return self

    def __repr__(self) -> str:
        return f"<ninodes.Workflow {self.name!r}: {len(self.nodes)} nodes>"

    @property
    def name(self) -> str:
        return text(lib.nino_graph_name(self._handle.value))

    # ---- nodes and values

    @property
    def nodes(self) -> list[Node]:
        """All nodes, in the order of the file."""
        n = lib.nino_graph_nodes(self._handle.value, None, 0)
        rows = (_abi.GraphNode * n)()
        lib.nino_graph_nodes(self._handle.value, rows, n)
        return [Node(text(r.id), text(r.class_type), text(r.title), bool(r.def_)) for r in rows]

    def node(self, name: str) -> Node:
        """The node with this id, or the only one with this class or title."""
        nodes = self.nodes
        found = [n for n in nodes if n.id == name] or [n for n in nodes if name in (n.class_type, n.title)]
        if len(found) > 1:
            raise ArgumentError("argument", name, "several nodes have this name: use an id such as "
                                f"{found[0].id} or {found[1].id}")
        if not found:
            raise UnknownName("unknown", name, "no node has this id, class or title")
        return found[0]

    def set(self, place: str, value: Any) -> None:
        """Sets an input: place is "NODE.INPUT". Text is taken as `--set` of the program takes it."""
        call("nino_graph_set", self._handle.value, f"{place}={_as_text(value)}".encode("utf-8", "surrogateescape"))

    def __setitem__(self, place: str, value: Any) -> None:
        self.set(place, value)

    def update(self, values: Mapping[str, Any]) -> None:
        """Sets several inputs."""
        for place, value in values.items():
            self.set(place, value)

    def __getitem__(self, place: str) -> Any:
        """The value of "NODE.INPUT"; a link is a list of the node's id and the number of the output."""
        name, _, key = place.rpartition(".")
        inputs = self.api()[self.node(name).id].get("inputs", {})
        if key not in inputs:
            raise UnknownName("unknown", place, f"the workflow has no such input; there are: {', '.join(inputs) or 'none'}")
        return inputs[key]

    def set_image(self, node: str, pixels: Any) -> None:
        """Gives a node such as LoadImage its pictures from memory; None takes them away again.

        pixels: [height, width, channels] or [n, height, width, channels] of uint8 or of float32 from 0 to 1; a numpy
        array, a Raster, or whatever has the buffer protocol.
        """
        self._set_raster("nino_graph_set_image", node, pixels, False)

    def set_latent(self, node: str, latent: Any) -> None:
        """Gives a node such as LoadLatent or EmptyLatentImage its latent from memory, channels last, float32."""
        self._set_raster("nino_graph_set_latent", node, latent, True)

    def _set_raster(self, function: str, node: str, data: Any, is_latent: bool) -> None:
        r, _keep = raster_in(data, is_latent) if data is not None else (None, None)
        call(function, self._handle.value, self.node(node).id.encode(), ctypes.byref(r) if r else None)

    # ---- as JSON

    def _json(self, function: str) -> str:
        n = ctypes.c_size_t()
        where = getattr(lib, function)(self._handle.value, ctypes.byref(n))
        return text(ctypes.string_at(where, n.value)) if where else ""

    def json(self) -> str:
        """The workflow in the form that the file had, byte for byte while nothing was set."""
        return self._json("nino_graph_json")

    def api(self) -> dict[str, Any]:
        """The API form, as Python has it: by node id, class_type and inputs."""
        api: dict[str, Any] = json.loads(self._json("nino_graph_api_json"))
        return api

    # ---- checks

    def check(self, device: Device | None = None) -> list[Issue]:
        """All that is wrong, errors and warnings. Files of models are looked for where a device is given."""
        found: list[Issue] = []

        def report(_priv: Any, issue: Any) -> None:
            i = issue.contents
            found.append(Issue(i.severity == 1, text(i.code), text(i.node), text(i.input), text(i.message),
                               text(i.class_type)))

        lib.nino_graph_check(self._handle.value, device._value() if device else None, _abi.ReportFn(report), None)
        return found

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes)

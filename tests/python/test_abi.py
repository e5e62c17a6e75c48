"""What data/python declares of the library's interface, against data/abi, which is made from the headers."""
import ctypes
import os
import unittest
import xml.etree.ElementTree as tree

from ninodes import EventKind, _abi

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
# These may grow at their end and carry their size (data/abi/growth): the package may know less of them.
GROWING = {"nino_ctx_params", "nino_job_options", "nino_raster"}


class Interface:
    def __init__(self):
        root = tree.parse(os.path.join(ROOT, "data/abi/libninodes.xml")).getroot()
        self.types = {e.get("id"): e for e in root.iter() if e.get("id") and e.tag != "subrange"}
        self.structs = {e.get("name"): e for e in root.iter("class-decl") if e.find("data-member") is not None}
        self.enums = {e.get("name"): {v.get("name"): int(v.get("value")) for v in e.iter("enumerator")}
                      for e in root.iter("enum-decl")}
        self.functions = {e.get("name"): e for e in root.iter("function-decl")}

    def form(self, number):
        """("int", bytes, is_signed), ("float", bytes), ("pointer",), ("array", form, n), ("struct", bytes) or ("void",)"""
        e = self.types[number]
        if e.tag in ("typedef-decl", "qualified-type-def"):
            return self.form(e.get("type-id"))
        if e.tag == "pointer-type-def":
            return ("pointer",)
        if e.tag == "array-type-def":
            return ("array", self.form(e.get("type-id")), int(e.find("subrange").get("length")))
        if e.tag in ("class-decl", "union-decl"):
            return ("struct", int(e.get("size-in-bits")) // 8)
        if e.tag == "enum-decl":
            return ("int", 4, True)
        name, size = e.get("name"), int(e.get("size-in-bits") or 0) // 8
        if name == "void":
            return ("void",)
        if name in ("float", "double"):
            return ("float", size)
        return ("int", size, not (name.startswith("unsigned") or name in ("bool", "_Bool")))

    def members(self, e):
        """Name, byte offset, type id."""
        for m in e.findall("data-member"):
            v = m.find("var-decl")
            yield v.get("name"), int(m.get("layout-offset-in-bits") or 0) // 8, v.get("type-id")


def form_of(t):
    """The same of a type of ctypes. An enum is an int in both."""
    if t is None:
        return ("void",)
    if issubclass(t, ctypes.Array):
        return ("array", form_of(t._type_), t._length_)
    if issubclass(t, (ctypes.Structure, ctypes.Union)):
        return ("struct", ctypes.sizeof(t))
    if t in (ctypes.c_char_p, ctypes.c_void_p) or hasattr(t, "contents") or issubclass(t, ctypes._CFuncPtr):
        return ("pointer",)
    if t in (ctypes.c_float, ctypes.c_double):
        return ("float", ctypes.sizeof(t))
    return ("int", ctypes.sizeof(t), t is ctypes.c_char or (t is not ctypes.c_bool and t(-1).value < 0))


class Abi(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.c = Interface()

    def compare(self, name, declared, e, may_be_shorter=False):
        there = list(self.c.members(e))
        for (field, t), (c_field, offset, number) in zip(declared._fields_, there):
            where = f"{name}.{c_field}"
            self.assertEqual(field.rstrip("_"), c_field, where)
            self.assertEqual(getattr(declared, field).offset, offset, f"{where}: its place")
            self.assertEqual(form_of(t), self.c.form(number), f"{where}: its type")
        if may_be_shorter:
            self.assertLessEqual(len(declared._fields_), len(there), name)
        else:
            self.assertEqual(len(declared._fields_), len(there), f"{name}: members")
            self.assertEqual(ctypes.sizeof(declared), int(e.get("size-in-bits")) // 8, f"{name}: size")

    def test_structs(self):
        for s in _abi.STRUCTS:
            self.compare(s.c_name, s, self.c.structs[s.c_name], s.c_name in GROWING)

    def test_event(self):
        u = next(number for name, _, number in self.c.members(self.c.structs["nino_event"]) if name == "u")
        members = list(self.c.members(self.c.types[u]))
        self.assertEqual([m[0] for m in members], list(_abi.EVENT_PARTS))
        for name, _, number in members:
            declared = _abi.EVENT_PARTS[name]
            if issubclass(declared, ctypes.Structure):
                self.compare(f"nino_event.u.{name}", declared, self.c.types[number])
            else:
                self.assertEqual(form_of(declared), self.c.form(number), name)

    def test_functions(self):
        for name, (result, *parameters) in _abi.FUNCTIONS.items():
            e = self.c.functions[name]
            self.assertEqual(form_of(result), self.c.form(e.find("return").get("type-id")), f"{name}: its result")
            there = [self.c.form(p.get("type-id")) for p in e.findall("parameter")]
            self.assertEqual([form_of(p) for p in parameters], there, f"{name}: its parameters")

    def test_constants(self):
        kinds = {k.name: k.value for k in EventKind}
        for ours, enum, prefix in ((_abi.STATUS, "nino_status", "NINO_ERR_"), (kinds, "nino_event_kind", "NINO_EV_"),
                                   (_abi.LOG_LEVELS, "nino_log_level", "NINO_LOG_")):
            there = {n[len(prefix):]: v for n, v in self.c.enums[enum].items() if n.startswith(prefix) and n != "NINO_EV_NONE"}
            self.assertEqual(ours, there, enum)
        self.assertEqual(self.c.enums["nino_raster_type"], {"NINO_RASTER_U8": _abi.U8, "NINO_RASTER_F32": _abi.F32})


if __name__ == "__main__":
    unittest.main()

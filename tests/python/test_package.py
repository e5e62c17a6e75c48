"""The package without a device: workflows, values, errors, finding the library, the wheel."""
import os
import pickle
import subprocess
import sys
import tempfile
import unittest
import zipfile

import ninodes

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
PACKAGE = os.path.join(ROOT, "data/python")
FILE = os.path.join(ROOT, "data/workflows/text_to_image.json")


def python(code, **env):
    """Exit status and output of a new interpreter; a variable of None is taken away."""
    whole = {**os.environ, "PYTHONPATH": PACKAGE, **env}
    p = subprocess.run([sys.executable, "-c", code], env={k: v for k, v in whole.items() if v is not None}, text=True,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return p.returncode, p.stdout


class Workflows(unittest.TestCase):
    def test_values(self):
        w = ninodes.Workflow.load(FILE)
        with open(FILE, encoding="utf-8") as f:
            self.assertEqual(w.json(), f.read())  # byte for byte while nothing is set
        w["KSampler.seed"] = 2**64 - 1
        w.update({"Prompt.text": "ein grüner Kreis = \"1\"\n", "KSampler.cfg": 1.5, "6.steps": 12})
        self.assertEqual(w["KSampler.seed"], 2**64 - 1)
        self.assertEqual(w["Prompt.text"], "ein grüner Kreis = \"1\"\n")
        self.assertEqual((w["6.cfg"], w["6.steps"]), (1.5, 12))
        self.assertEqual(w["KSampler.model"], ["1", 0])
        self.assertEqual(w.api()["6"]["class_type"], "KSampler")
        again = ninodes.Workflow(w.json())
        self.assertEqual(again.api(), w.api())
        self.assertEqual([n.id for n in w], list(w.api()))
        self.assertEqual(w.node("Prompt"), ninodes.Node("3", "CLIPTextEncode", "Prompt", True))

    def test_errors(self):
        w = ninodes.Workflow.load(FILE)
        with self.assertRaises(ninodes.RangeError) as e:
            w["KSampler.steps"] = 0
        self.assertIn("steps", e.exception.where)
        self.assertIsInstance(e.exception, ValueError)
        for place in ("Nobody.steps", "KSampler.stepz"):
            with self.assertRaises(ninodes.UnknownName):
                w[place] = 1
            with self.assertRaises(LookupError):
                w[place]
        with self.assertRaises(ninodes.ArgumentError) as e:
            w["CLIPTextEncode.text"] = "which?"
        self.assertIn("several", e.exception.message)
        with self.assertRaises(ninodes.ArgumentError):
            w.node("CLIPTextEncode")
        with self.assertRaises(ninodes.FormatError):
            ninodes.Workflow("{")
        with self.assertRaises(ninodes.Missing) as e:
            ninodes.Workflow.load("/nowhere/workflow.json")
        self.assertIn("/nowhere/workflow.json", str(e.exception))
        with self.assertRaises(ninodes.UnknownName):
            ninodes.Device("no such device")
        copy = pickle.loads(pickle.dumps(e.exception))
        self.assertEqual((type(copy), str(copy), copy.code), (type(e.exception), str(e.exception), "missing"))

    def test_check(self):
        w = ninodes.Workflow({"1": {"class_type": "SaveImage", "inputs": {"filename_prefix": "x"}}})
        found = w.check()
        self.assertEqual([(i.is_error, i.code, i.node, i.input) for i in found], [(True, "missing_input", "1", "images")])
        self.assertEqual([i for i in ninodes.Workflow.load(FILE).check() if i.is_error], [])

    def test_devices(self):
        self.assertIn("ref", [d.selector for d in ninodes.devices()])
        self.assertEqual(ninodes.__version__, ninodes.library_version())


class Library(unittest.TestCase):
    def test_not_found(self):
        status, out = python("import ninodes", NINODES_LIBRARY="/nowhere")
        self.assertEqual(status, 1)
        self.assertIn("ninodes.errors.LibraryNotFound: libninodes.so.2 was not found", out)
        self.assertIn("/nowhere", out)

    def test_too_old(self):
        status, out = python("import ninodes", NINODES_LIBRARY="libc.so.6")
        self.assertEqual(status, 1)
        self.assertIn("older than this package", out)

    def test_beside_the_program(self):
        with tempfile.TemporaryDirectory() as d:
            os.makedirs(d + "/bin")
            os.makedirs(d + "/lib")
            with open(d + "/bin/ninodes", "w", encoding="utf-8") as f:
                f.write("#!/bin/sh\n")
            os.chmod(d + "/bin/ninodes", 0o755)
            os.symlink(os.path.realpath(os.path.join(os.environ["NINODES_LIBRARY"], "libninodes.so.2")), d + "/lib/libninodes.so.2")
            status, out = python("import ninodes; print(ninodes.library_version(), ninodes._lib._name)", NINODES_LIBRARY=None,
                                 LD_LIBRARY_PATH=None, PATH=d + "/bin")
            self.assertEqual(status, 0, out)
            self.assertTrue(out.startswith(ninodes.__version__), out)


class Wheel(unittest.TestCase):
    def test_wheel(self):
        with tempfile.TemporaryDirectory() as d:
            made = []
            for out in ("one", "two"):
                path = subprocess.run([sys.executable, os.path.join(PACKAGE, "backend.py"), os.path.join(d, out)], check=True,
                                      stdout=subprocess.PIPE, text=True, env={**os.environ, "TZ": "Asia/Tokyo"}).stdout.strip()
                with open(path, "rb") as f:
                    made.append(f.read())
            self.assertEqual(made[0], made[1])
            with zipfile.ZipFile(path) as z:
                names = z.namelist()
                self.assertIn("ninodes/py.typed", names)
                for n in os.listdir(os.path.join(PACKAGE, "ninodes")):
                    self.assertTrue(n == "__pycache__" or f"ninodes/{n}" in names, n)
                metadata = z.read(next(n for n in names if n.endswith("METADATA"))).decode()
            self.assertIn("Name: ninodes\nVersion: " + ninodes.__version__, metadata)
            # an interpreter imports it from there: zip files are on the way of imports
            status, out = python("import ninodes; print(ninodes.__file__)", PYTHONPATH=path)
            self.assertEqual((status, path in out), (0, True), out)


if __name__ == "__main__":
    unittest.main()

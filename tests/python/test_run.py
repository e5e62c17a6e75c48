"""Jobs of the package: on the reference, and the demo on a device of OpenCL where there is one."""
import array
import gc
import io
import math
import os
import select
import sys
import tempfile
import threading
import unittest
from unittest import mock

import ninodes

try:
    import numpy
except ImportError:
    numpy = None
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
TINY = {"models": os.path.join(ROOT, "data/tiny/models"), "input_dir": os.path.join(ROOT, "data/tiny/input")}
PIXELS = bytes([255, 0, 0, 0, 255, 0, 0, 0, 255, 51, 51, 51])
INVERT = {"1": {"class_type": "LoadImage", "inputs": {"image": "from memory"}},
          "2": {"class_type": "ImageInvert", "inputs": {"image": ["1", 0]}},
          "3": {"class_type": "SaveImage", "inputs": {"images": ["2", 0], "filename_prefix": "inverted"}}}
LATENT = {"1": {"class_type": "EmptyLatentImage", "inputs": {"width": 16, "height": 32, "batch_size": 2}},
          "2": {"class_type": "SaveLatent", "inputs": {"samples": ["1", 0], "filename_prefix": "latent"}}}
DEMO = os.path.join(ROOT, "data/workflows/text_to_image.json")


def picture():
    return memoryview(PIXELS).cast("B", (2, 2, 3))


class Reference(unittest.TestCase):
    def setUp(self):
        self.out = tempfile.TemporaryDirectory()
        self.addCleanup(self.out.cleanup)
        self.device = ninodes.Device("ref", output_dir=self.out.name)
        self.addCleanup(self.device.close)

    def invert(self, pixels, **options):
        w = ninodes.Workflow(INVERT)
        w.set_image("LoadImage", pixels)
        return self.device.run(w, **options)

    def test_pictures(self):
        job = self.invert(picture())
        (image,) = job.images()
        self.assertEqual((image.shape, image.dtype, len(image)), ((1, 2, 2, 3), "float32", 1))
        want = bytes(255 - b for b in PIXELS)
        self.assertEqual([round(255 * x) for x in image.memoryview().cast("B").cast("f")], list(want))
        (output,) = job.outputs
        self.assertEqual(output.node, "3")
        saved = ninodes.load_picture(output.path)
        self.assertEqual((saved.shape, saved.dtype), ((1, 2, 2, 4), "uint8"))
        rgb = b"".join(saved.to_bytes()[i:i + 3] for i in range(0, 16, 4))
        self.assertEqual(image.to_bytes(), rgb)
        with mock.patch.dict(sys.modules, {"numpy": None}):
            self.assertEqual(image.to_bytes(), rgb)
        self.assertEqual([len(job.images(n)) for n in ("3", "SaveImage", "nobody")], [1, 1, 0])
        self.assertEqual(self.invert(picture(), no_files=True).outputs, [])

    def test_forms_of_pixels(self):
        want = self.invert(picture()).images()[0].memoryview().tobytes()
        floats = memoryview(array.array("f", (b / 255 for b in PIXELS))).cast("B").cast("f", (1, 2, 2, 3))
        for pixels in (floats, memoryview(bytearray(PIXELS)).cast("B", (1, 2, 2, 3)), self.invert(self.invert(picture()).images()[0]).images()[0]):
            got = self.invert(pixels).images()[0].memoryview().cast("B").cast("f")
            for a, b in zip(got, memoryview(want).cast("f")):
                self.assertAlmostEqual(a, b, delta=1e-6)
        for bad in (PIXELS, memoryview(PIXELS).cast("B", (1, 1, 2, 2, 3))):
            with self.assertRaises(ninodes.ArgumentError) as e:
                self.invert(bad)
            self.assertIn("shape", str(e.exception))
        with self.assertRaises(ninodes.ArgumentError):
            self.invert(memoryview(PIXELS).cast("B", (3, 2, 2)))  # two channels
        with mock.patch.dict(sys.modules, {"numpy": None}), self.assertRaises(TypeError):
            self.invert([[[0.5, 0.5, 0.5]]])
        w = ninodes.Workflow(INVERT)
        with self.assertRaises(ninodes.ArgumentError):
            w.set_image("SaveImage", picture())

    @unittest.skipUnless(numpy, "numpy is not installed")
    def test_numpy(self):
        want = 1 - numpy.frombuffer(PIXELS, numpy.uint8).reshape(1, 2, 2, 3) / 255
        for dtype in (numpy.uint8, numpy.float32, numpy.float64):
            pixels = numpy.frombuffer(PIXELS, numpy.uint8).reshape(2, 2, 3)
            pixels = pixels if dtype == numpy.uint8 else (pixels / 255).astype(dtype)
            image = self.invert(pixels).images()[0]
            self.assertLess(abs(image.numpy() - want).max(), 1e-6)
        self.assertFalse(image.numpy().flags.writeable)
        self.assertEqual(image.numpy().ctypes.data, numpy.asarray(image).ctypes.data)  # no copy
        turned = self.invert(pixels.transpose(1, 0, 2)).images()[0].numpy()  # strides
        self.assertLess(abs(turned - want.transpose(0, 2, 1, 3)).max(), 1e-6)
        latent = numpy.arange(2 * 4 * 2 * 4, dtype=numpy.float32).reshape(2, 4, 2, 4)
        w = ninodes.Workflow(LATENT)
        w.set_latent("1", latent)
        self.assertTrue((self.device.run(w).latents()[0].numpy() == latent).all())
        with self.assertRaises(ninodes.ArgumentError):
            w.set_latent("1", latent.astype(numpy.uint8))

    def test_latents(self):
        job = self.device.run(ninodes.Workflow(LATENT))
        (latent,) = job.latents()
        self.assertEqual(latent.shape, (2, 4, 2, 4))
        self.assertEqual(set(latent.memoryview().tobytes()), {0})
        self.assertEqual(job.images(), [])
        w = ninodes.Workflow(LATENT)
        w.set_latent("EmptyLatentImage", memoryview(bytes(range(16))).cast("f", (1, 1, 1, 4)))
        self.assertEqual(self.device.run(w).latents()[0].memoryview().tobytes(), bytes(range(16)))
        w.set_latent("EmptyLatentImage", None)
        self.assertEqual(self.device.run(w).latents()[0].shape, (2, 4, 2, 4))

    def test_results_outlive_the_device(self):
        with ninodes.Device("ref", output_dir=self.out.name) as device:
            w = ninodes.Workflow(INVERT)
            w.set_image("1", picture())
            view = device.run(w).images()[0].memoryview()
        gc.collect()
        other = [bytearray(64) for _ in range(1000)]
        self.assertEqual([round(255 * x) for x in view.cast("B").cast("f")], [255 - b for b in PIXELS])
        with self.assertRaises(ninodes.ArgumentError):
            device.run(w)
        del other

    def test_errors_of_jobs(self):
        w = ninodes.Workflow({"1": {"class_type": "LoadImage", "inputs": {"image": "none.png"}},
                              "2": {"class_type": "PreviewImage", "inputs": {"images": ["1", 0]}}})
        with self.assertRaises(ninodes.Missing) as e:
            self.device.run(w, input_dir=self.out.name)
        self.assertIn("none.png", str(e.exception))
        self.assertEqual([i.code for i in w.check(self.device) if i.is_error], ["missing_file"])
        with self.assertRaisesRegex(TypeError, "no such option: modles"):
            self.device.run(w, modles="x")
        with self.assertRaisesRegex(ninodes.ArgumentError, "precision"):
            self.device.run(w, precision="fp3")

    def test_log(self):
        lines = []
        with ninodes.Device("ref", log=lambda level, line: lines.append((level, line)), log_level="debug",
                            output_dir=self.out.name, **TINY) as device:
            device.run(ninodes.Workflow.load(os.path.join(ROOT, "data/tiny/decode.json")))
        self.assertTrue(lines and all(level in ("error", "warn", "info", "debug") for level, _ in lines), lines)

    def test_plan(self):
        w = ninodes.Workflow.load(os.path.join(ROOT, "data/tiny/decode.json"))
        plan = self.device.plan(w, profile="gfx1151", **TINY)
        self.assertEqual(plan.profile, "gfx1151")
        self.assertGreater(plan.flops, 1e6)
        self.assertGreater(plan.seconds, plan.basis.least_seconds)
        self.assertEqual(sum(s.kernels for s in plan.scopes if s.depth == 0), plan.kernels)
        self.assertFalse(plan.tiling.is_tiled)
        with self.assertRaises(ninodes.UnknownName):
            self.device.plan(w, profile="nothing", **TINY)


@unittest.skipUnless(any(d.selector.startswith("cl") and not d.problem for d in ninodes.devices()), "part skipped: no OpenCL device")
class Demo(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.out = tempfile.TemporaryDirectory()
        cls.device = ninodes.Device(models=os.path.join(ROOT, "data/demo/models"), output_dir=cls.out.name)

    @classmethod
    def tearDownClass(cls):
        cls.device.close()
        cls.out.cleanup()

    def test_progress_and_events(self):
        w = ninodes.Workflow.load(DEMO)
        seen, buffer = [], io.StringIO()
        job = self.device.run(w, progress=lambda p: (seen.append(p), print(p, file=buffer)))
        self.assertEqual(seen[-1].fraction, 1.0)
        self.assertEqual([p.fraction for p in seen], sorted(p.fraction for p in seen))
        self.assertIn("100 % 8 SaveImage", buffer.getvalue())
        self.assertTrue(all(p.n_nodes == 7 or math.isnan(p.eta_s) for p in seen))
        self.assertEqual(job.images()[0].shape, (1, 128, 128, 3))
        with self.device.start(w, anew=True, no_files=True) as job:
            events = list(job.events())
        kinds = [e.kind for e in events]
        self.assertEqual([kinds.count(k) for k in (ninodes.EventKind.JOB, ninodes.EventKind.NODE)], [1, 7])
        self.assertEqual(kinds.count(ninodes.EventKind.STEP_INFO), 10)
        kernels = [e for e in events if e.kind == ninodes.EventKind.KERNEL]
        self.assertGreater(len(kernels), 100)
        self.assertTrue({"gemm", "norm"} <= {e.data["family"] for e in kernels})
        opened = {e.id for e in events if e.kind in (ninodes.EventKind.JOB, ninodes.EventKind.NODE)}
        self.assertTrue(opened <= {e.id for e in events if e.kind == ninodes.EventKind.END})

    def test_stopping(self):
        w = ninodes.Workflow.load(DEMO)
        w["KSampler.steps"] = 10000

        class Enough(Exception):
            pass

        def progress(p):
            if p.step > 2:
                raise Enough

        with self.assertRaises(Enough):
            self.device.run(w, progress, no_files=True)
        job = self.device.start(w, no_files=True)
        threading.Timer(0.1, job.cancel).start()
        with self.assertRaises(ninodes.Cancelled) as e:
            job.wait()
        self.assertEqual(e.exception.code, "cancelled")
        with self.device.start(w, no_files=True) as job:  # left before its end
            while not job.poll():
                self.assertTrue(select.select([job.fileno()], [], [], 60)[0])
        self.assertTrue(job.is_done)
        job = self.device.start(w, no_files=True)
        with ninodes.Device("ref") as other:
            self.assertEqual(other.info.selector, "ref")
        job.close()


if __name__ == "__main__":
    unittest.main()

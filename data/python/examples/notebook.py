"""Cells for a notebook (`# %%` is understood by Jupyter's and most editors' tools): a plan, a run, pixels as arrays.

MODELS, WORKFLOW and OUT in the environment say where things are.
"""
# %% A workflow, and what would be wrong with it here
import os

import numpy as np

import ninodes

workflow = ninodes.Workflow.load(os.environ.get("WORKFLOW", "data/workflows/text_to_image.json"))
device = ninodes.Device(models=os.environ.get("MODELS", "data/demo/models"), output_dir=os.environ.get("OUT", "output"))
problems = [issue for issue in workflow.check(device) if issue.is_error]
print(workflow, device.info.name, problems or "no problems")

# %% What it would take: time and memory, without running it
plan = device.plan(workflow)
print(f"{plan.flops / 1e9:.1f} GFLOP, {plan.peak_bytes / 2**20:.0f} MiB, {'fits' if plan.fits else 'does not fit'}")
for scope in plan.scopes:
    if scope.depth == 0:
        print(f"  {scope.name:40} {scope.flops / 1e9:8.2f} GFLOP")

# %% Two seeds without files; the models stay loaded between the runs
pictures = []
for seed in (1, 2):
    workflow["KSampler.seed"] = seed
    pictures.append(device.run(workflow, no_files=True).images()[0].numpy()[0])
print("differ by", float(np.abs(pictures[0] - pictures[1]).mean()))

# %% Where the time went: kernels of one more run, from its events
total: dict[str, int] = {}
with device.start(workflow, no_files=True, anew=True) as job:
    for event in job.events():
        if event.kind == ninodes.EventKind.KERNEL:
            total[event.data["family"]] = total.get(event.data["family"], 0) + event.data["dur_ns"]
for family, ns in sorted(total.items(), key=lambda item: -item[1]):
    print(f"  {family:6} {ns / 1e6:8.1f} ms")

# %% A picture of your own through a workflow, in memory only
invert = ninodes.Workflow({
    "1": {"class_type": "LoadImage", "inputs": {"image": "from memory"}},
    "2": {"class_type": "ImageInvert", "inputs": {"image": ["1", 0]}},
    "3": {"class_type": "PreviewImage", "inputs": {"images": ["2", 0]}},
})
invert.set_image("LoadImage", pictures[0])
inverted = device.run(invert, no_files=True).images()[0].numpy()[0]
print("sum of a picture and its inverse:", float((inverted + pictures[0]).mean()))
device.close()

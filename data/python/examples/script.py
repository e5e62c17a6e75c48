#!/usr/bin/env python3
"""One picture from a workflow: script.py WORKFLOW [NODE.INPUT=VALUE ...]

MODELS is the folder of models ("models" unless told), OUT where pictures go ("output").
"""
import os
import sys

import ninodes


def main() -> int:
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        workflow = ninodes.Workflow.load(sys.argv[1])
        workflow.update(dict(pair.split("=", 1) for pair in sys.argv[2:]))
        with ninodes.Device(models=os.environ.get("MODELS", "models"), output_dir=os.environ.get("OUT", "output")) as device:
            print("on", device.info.name, file=sys.stderr)
            job = device.run(workflow, progress=lambda p: print(p, file=sys.stderr))
    except ninodes.Error as e:
        print("error:", e, file=sys.stderr)
        return 1
    for output in job.outputs:
        print(output.path)
    return 0


if __name__ == "__main__":
    sys.exit(main())

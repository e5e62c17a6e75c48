#!/usr/bin/env python3
"""A picture for each line of a file of prompts, on one open device: batch.py WORKFLOW PROMPTS OUT

A prompt that fails is reported and the next one goes on; Ctrl-C ends after the running one was cancelled. MODELS is the
folder of models ("models" unless told). The workflow's prompt is the node with the title Prompt.
"""
import os
import sys

import ninodes


def main() -> int:
    if len(sys.argv) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    workflow_path, prompts_path, out = sys.argv[1:]
    with open(prompts_path, encoding="utf-8") as f:
        prompts = [line.strip() for line in f if line.strip()]
    workflow = ninodes.Workflow.load(workflow_path)
    failed = 0
    with ninodes.Device(models=os.environ.get("MODELS", "models"), output_dir=out) as device:
        for number, prompt in enumerate(prompts, 1):
            workflow.update({"Prompt.text": prompt, "KSampler.seed": number})
            try:
                job = device.run(workflow)
            except ninodes.Error as e:
                print(f"{number}/{len(prompts)} {prompt}: {e}", file=sys.stderr)
                failed += 1
                continue
            print(f"{number}/{len(prompts)} {prompt}: {job.outputs[0].path}")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ninodes.Error as e:
        sys.exit(f"error: {e}")
    except KeyboardInterrupt:
        sys.exit(130)

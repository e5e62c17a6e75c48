#!/bin/bash
# Every kernel of the GPU schedules compiles for gfx1151 without spills and within its registers.
exec python3 tests/gate/gfx1151.py

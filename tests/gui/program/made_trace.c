// Writes the trace of a made-up run, for scripts that look at one in the app.
// usage: made_trace FILE [STEPS]
#include "tests/gui/program/made_run.h"

#include <stdlib.h>

int main(int argc, char **argv)
{
    const int steps = argc > 2 ? atoi(argv[2]) : 4;
    if (argc < 2 || steps < 1)
        return 2;
    Maker m = { .run = nino_run_new(), .t = 1000000000, .gpu = 1000000000, .seed = 1 };
    m.trace = nino_trace_create(argv[1], NULL);
    if (!m.trace)
        return 1;
    uint32_t job;
    const uint32_t node = make_start(&m, &job);
    for (int i = 0; i < steps; i++)
        make_step(&m, node, i, steps);
    make_end(&m, node, job);
    g_object_unref(m.run);
    return nino_trace_finish(&m.trace, NULL) != NINO_OK;
}

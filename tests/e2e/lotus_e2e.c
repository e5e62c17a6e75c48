// Lotus from a picture to a picture in one step, told what it is to do by LotusConditioning, whose text
// encoder lies among the user's models: against torch (tests/data/make/lotus.py).
#include "tests/e2e_flow.h"

#include <errno.h>
#include <sys/stat.h>

static const e2e_flow flows[] = { { "lotus_own", "8", 1e-6 } };

int main(void)
{
    const char *data = test_data_next(NULL);
    char line[1400], dir[600];
    snprintf(dir, sizeof(dir), "%s", flow_models());
    CHECK(!mkdir(dir, 0700) || errno == EEXIST);
    snprintf(dir, sizeof(dir), "%s/text_encoders", flow_models());
    CHECK(!mkdir(dir, 0700) || errno == EEXIST);
    snprintf(line, sizeof(line), "cp '%s/synth/lotus_text.safetensors' '%s/h.safetensors'", data,
             dir);
    CHECK(system(line) == 0);
    return e2e_check_flows(data, flows, sizeof(flows) / sizeof(flows[0]));
}

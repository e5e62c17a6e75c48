// Samplers that go to x0 and add noise again. DDPM: Ho et al. (2020); LCM: Luo et al. (2023).
#include "core/sample/solver/solve.h"
#include <string.h>

nino_status nino_sample_ddpm(nino_solve *s)
{
    float *x = s->x, *a[2];
    nino_status st = nino_solve_arrays(s, a, 2);
    float *D = a[0], *noise = a[1];
    for (int k = 0; st == NINO_OK && k < s->n_steps; k++) {
        const float from = s->sigma[k], to = s->sigma[k + 1];
        if ((st = nino_solve_denoise(s, x, from, D, NULL)))
            break;
        nino_solve_report(s, k, from, x, D);
        const float ac = 1.0f / (from * from + 1.0f), ac_to = 1.0f / (to * to + 1.0f);
        const float alpha = ac / ac_to, scale = f_sqrt(1.0f + from * from);
        const float grow = f_sqrt(1.0f / alpha), root = f_sqrt(1.0f - ac);
        EACH(s)
        {
            const float eps = (x[i] - D[i]) / from;
            x[i] = grow * (x[i] / scale - (1.0f - alpha) * eps / root);
        }
        if (!(to > 0))
            continue;
        const float size = f_sqrt((1.0f - alpha) * (1.0f - ac_to) / (1.0f - ac));
        const float rescale = f_sqrt(1.0f + to * to);
        nino_solve_noise(s, noise);
        EACH(s) x[i] = (x[i] + size * noise[i]) * rescale;
    }
    return st;
}

nino_status nino_sample_lcm(nino_solve *s)
{
    float *x = s->x, *a[2];
    nino_status st = nino_solve_arrays(s, a, 2);
    float *D = a[0], *noise = a[1];
    for (int k = 0; st == NINO_OK && k < s->n_steps; k++) {
        const float from = s->sigma[k], to = s->sigma[k + 1];
        if ((st = nino_solve_denoise(s, x, from, D, NULL)))
            break;
        nino_solve_report(s, k, from, x, D);
        if (to > 0) {
            nino_solve_noise(s, noise);
            nino_sampling_noise_scaling(s->run->ms, to, false, noise, D, x, s->count);
        } else {
            memcpy(x, D, (size_t) s->count * sizeof(float));
        }
    }
    return st;
}

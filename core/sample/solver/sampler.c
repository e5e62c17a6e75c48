// Samplers by name, their defaults, and the run of one.
#include "core/sample/solver/sampler.h"
#include "core/base/error.h"
#include "core/sample/solver/solve.h"
#include <stdlib.h>
#include <string.h>

const char *const nino_sampler_names[NINO_SAMPLER_COUNT + 1] = {
    [NINO_SAMPLER_EULER] = "euler",
    [NINO_SAMPLER_EULER_CFG_PP] = "euler_cfg_pp",
    [NINO_SAMPLER_EULER_ANCESTRAL] = "euler_ancestral",
    [NINO_SAMPLER_EULER_ANCESTRAL_CFG_PP] = "euler_ancestral_cfg_pp",
    [NINO_SAMPLER_HEUN] = "heun",
    [NINO_SAMPLER_HEUNPP2] = "heunpp2",
    [NINO_SAMPLER_DPM_2] = "dpm_2",
    [NINO_SAMPLER_DPM_2_ANCESTRAL] = "dpm_2_ancestral",
    [NINO_SAMPLER_LMS] = "lms",
    [NINO_SAMPLER_DPM_FAST] = "dpm_fast",
    [NINO_SAMPLER_DPM_ADAPTIVE] = "dpm_adaptive",
    [NINO_SAMPLER_DPMPP_2S_ANCESTRAL] = "dpmpp_2s_ancestral",
    [NINO_SAMPLER_DPMPP_2S_ANCESTRAL_CFG_PP] = "dpmpp_2s_ancestral_cfg_pp",
    [NINO_SAMPLER_DPMPP_SDE] = "dpmpp_sde",
    [NINO_SAMPLER_DPMPP_SDE_GPU] = "dpmpp_sde_gpu",
    [NINO_SAMPLER_DPMPP_2M] = "dpmpp_2m",
    [NINO_SAMPLER_DPMPP_2M_CFG_PP] = "dpmpp_2m_cfg_pp",
    [NINO_SAMPLER_DPMPP_2M_SDE] = "dpmpp_2m_sde",
    [NINO_SAMPLER_DPMPP_2M_SDE_GPU] = "dpmpp_2m_sde_gpu",
    [NINO_SAMPLER_DPMPP_2M_SDE_HEUN] = "dpmpp_2m_sde_heun",
    [NINO_SAMPLER_DPMPP_2M_SDE_HEUN_GPU] = "dpmpp_2m_sde_heun_gpu",
    [NINO_SAMPLER_DPMPP_3M_SDE] = "dpmpp_3m_sde",
    [NINO_SAMPLER_DPMPP_3M_SDE_GPU] = "dpmpp_3m_sde_gpu",
    [NINO_SAMPLER_DDPM] = "ddpm",
    [NINO_SAMPLER_LCM] = "lcm",
    [NINO_SAMPLER_IPNDM] = "ipndm",
    [NINO_SAMPLER_IPNDM_V] = "ipndm_v",
    [NINO_SAMPLER_DEIS] = "deis",
    [NINO_SAMPLER_RES_MULTISTEP] = "res_multistep",
    [NINO_SAMPLER_RES_MULTISTEP_CFG_PP] = "res_multistep_cfg_pp",
    [NINO_SAMPLER_RES_MULTISTEP_ANCESTRAL] = "res_multistep_ancestral",
    [NINO_SAMPLER_RES_MULTISTEP_ANCESTRAL_CFG_PP] = "res_multistep_ancestral_cfg_pp",
    [NINO_SAMPLER_GRADIENT_ESTIMATION] = "gradient_estimation",
    [NINO_SAMPLER_GRADIENT_ESTIMATION_CFG_PP] = "gradient_estimation_cfg_pp",
    [NINO_SAMPLER_ER_SDE] = "er_sde",
    [NINO_SAMPLER_SEEDS_2] = "seeds_2",
    [NINO_SAMPLER_SEEDS_3] = "seeds_3",
    [NINO_SAMPLER_SA_SOLVER] = "sa_solver",
    [NINO_SAMPLER_SA_SOLVER_PECE] = "sa_solver_pece",
    [NINO_SAMPLER_DDIM] = "ddim",
    [NINO_SAMPLER_UNI_PC] = "uni_pc",
    [NINO_SAMPLER_UNI_PC_BH2] = "uni_pc_bh2",
};

static nino_status (*const run_table[NINO_SAMPLER_COUNT + 1])(nino_solve *s) = {
    [NINO_SAMPLER_EULER] = nino_sample_euler,
    [NINO_SAMPLER_EULER_CFG_PP] = nino_sample_euler_ancestral_cfg_pp,
    [NINO_SAMPLER_EULER_ANCESTRAL] = nino_sample_euler_ancestral,
    [NINO_SAMPLER_EULER_ANCESTRAL_CFG_PP] = nino_sample_euler_ancestral_cfg_pp,
    [NINO_SAMPLER_HEUN] = nino_sample_heun,
    [NINO_SAMPLER_HEUNPP2] = nino_sample_heunpp2,
    [NINO_SAMPLER_DPM_2] = nino_sample_dpm_2,
    [NINO_SAMPLER_DPM_2_ANCESTRAL] = nino_sample_dpm_2_ancestral,
    [NINO_SAMPLER_LMS] = nino_sample_lms,
    [NINO_SAMPLER_DPM_FAST] = nino_sample_dpm_fast,
    [NINO_SAMPLER_DPM_ADAPTIVE] = nino_sample_dpm_adaptive,
    [NINO_SAMPLER_DPMPP_2S_ANCESTRAL] = nino_sample_dpmpp_2s_ancestral,
    [NINO_SAMPLER_DPMPP_2S_ANCESTRAL_CFG_PP] = nino_sample_dpmpp_2s_ancestral_cfg_pp,
    [NINO_SAMPLER_DPMPP_SDE] = nino_sample_dpmpp_sde,
    [NINO_SAMPLER_DPMPP_SDE_GPU] = nino_sample_dpmpp_sde,
    [NINO_SAMPLER_DPMPP_2M] = nino_sample_dpmpp_2m,
    [NINO_SAMPLER_DPMPP_2M_CFG_PP] = nino_sample_dpmpp_2m_cfg_pp,
    [NINO_SAMPLER_DPMPP_2M_SDE] = nino_sample_dpmpp_2m_sde,
    [NINO_SAMPLER_DPMPP_2M_SDE_GPU] = nino_sample_dpmpp_2m_sde,
    [NINO_SAMPLER_DPMPP_2M_SDE_HEUN] = nino_sample_dpmpp_2m_sde,
    [NINO_SAMPLER_DPMPP_2M_SDE_HEUN_GPU] = nino_sample_dpmpp_2m_sde,
    [NINO_SAMPLER_DPMPP_3M_SDE] = nino_sample_dpmpp_3m_sde,
    [NINO_SAMPLER_DPMPP_3M_SDE_GPU] = nino_sample_dpmpp_3m_sde,
    [NINO_SAMPLER_DDPM] = nino_sample_ddpm,
    [NINO_SAMPLER_LCM] = nino_sample_lcm,
    [NINO_SAMPLER_IPNDM] = nino_sample_ipndm,
    [NINO_SAMPLER_IPNDM_V] = nino_sample_ipndm_v,
    [NINO_SAMPLER_DEIS] = nino_sample_deis,
    [NINO_SAMPLER_RES_MULTISTEP] = nino_sample_res_multistep,
    [NINO_SAMPLER_RES_MULTISTEP_CFG_PP] = nino_sample_res_multistep_cfg_pp,
    [NINO_SAMPLER_RES_MULTISTEP_ANCESTRAL] = nino_sample_res_multistep,
    [NINO_SAMPLER_RES_MULTISTEP_ANCESTRAL_CFG_PP] = nino_sample_res_multistep_cfg_pp,
    [NINO_SAMPLER_GRADIENT_ESTIMATION] = nino_sample_gradient_estimation,
    [NINO_SAMPLER_GRADIENT_ESTIMATION_CFG_PP] = nino_sample_gradient_estimation_cfg_pp,
    [NINO_SAMPLER_ER_SDE] = nino_sample_er_sde,
    [NINO_SAMPLER_SEEDS_2] = nino_sample_seeds_2,
    [NINO_SAMPLER_SEEDS_3] = nino_sample_seeds_3,
    [NINO_SAMPLER_SA_SOLVER] = nino_sample_sa_solver,
    [NINO_SAMPLER_SA_SOLVER_PECE] = nino_sample_sa_solver,
    [NINO_SAMPLER_DDIM] = nino_sample_euler,
    [NINO_SAMPLER_UNI_PC] = nino_sample_unipc,
    [NINO_SAMPLER_UNI_PC_BH2] = nino_sample_unipc,
    [NINO_SAMPLER_EULER_PP] = nino_sample_euler_pp,
};

bool nino_sampler_find(const char *name, nino_sampler_id *out)
{
    for (int i = 0; i < NINO_SAMPLER_COUNT; i++)
        if (!strcmp(name, nino_sampler_names[i])) {
            *out = (nino_sampler_id) i;
            return true;
        }
    return false;
}

const char *nino_sampler_name(nino_sampler_id id)
{
    return id == NINO_SAMPLER_EULER_PP ? "euler_pp" : nino_sampler_names[id];
}

bool nino_sampler_discards_penultimate(nino_sampler_id id)
{
    return id == NINO_SAMPLER_DPM_2 || id == NINO_SAMPLER_DPM_2_ANCESTRAL ||
           id == NINO_SAMPLER_UNI_PC || id == NINO_SAMPLER_UNI_PC_BH2;
}

bool nino_sampler_has_own_mask_noise(nino_sampler_id id) { return id == NINO_SAMPLER_DDIM; }

bool nino_sampler_needs_uncond(nino_sampler_id id)
{
    return id == NINO_SAMPLER_EULER_PP || strstr(nino_sampler_names[id], "_cfg_pp");
}

static int default_order(nino_sampler_id id)
{
    return id == NINO_SAMPLER_DPM_ADAPTIVE || id == NINO_SAMPLER_DEIS ? 3 : 4;
}

nino_sampler nino_sampler_default(nino_sampler_id id)
{
    nino_sampler s = { .id = id,
                       .eta = 1,
                       .s_noise = 1,
                       .s_tmax = INFINITY,
                       .r = 0.5,
                       .order = default_order(id),
                       .rtol = 0.05,
                       .atol = 0.0078,
                       .h_init = 0.05,
                       .icoeff = 1,
                       .accept_safety = 0.81,
                       .ge_gamma = 2,
                       .max_stage = 3,
                       .sde_start_sigma = NAN,
                       .sde_end_sigma = NAN,
                       .predictor_order = 3,
                       .corrector_order = 4,
                       .use_pece = id == NINO_SAMPLER_SA_SOLVER_PECE };
    switch (id) {
    case NINO_SAMPLER_EULER_CFG_PP: s.s_noise = 0; // fallthrough
    case NINO_SAMPLER_DPM_ADAPTIVE:
    case NINO_SAMPLER_RES_MULTISTEP:
    case NINO_SAMPLER_RES_MULTISTEP_CFG_PP: s.eta = 0; break;
    case NINO_SAMPLER_DPMPP_2M_SDE_HEUN:
    case NINO_SAMPLER_DPMPP_2M_SDE_HEUN_GPU: s.solver_type = NINO_SOLVER_HEUN; break;
    case NINO_SAMPLER_ER_SDE: s.solver_type = NINO_SOLVER_ER_SDE; break;
    case NINO_SAMPLER_SEEDS_3:
        s.r = 1.0 / 3;
        s.r2 = 2.0 / 3;
        break;
    default: break;
    }
    return s;
}

// The interval a Brownian tree covers: from the least sigma that is not 0 to the largest.
static void find_tree_range(nino_solve *s)
{
    double low = INFINITY, high = 0;
    for (int k = 0; k <= s->n_steps; k++) {
        const double v = s->sigma[k];
        low = v > 0 && v < low ? v : low;
        high = v > high ? v : high;
    }
    s->tree_from = low < high ? low : high;
    s->tree_to = high;
}

nino_status nino_sampler_run_all(const nino_sampler *sampler, const nino_sampler_run *run,
                                 nino_error *err)
{
    if (run->n_sigmas <= 1)
        return NINO_OK;
    if (run->count < 1 || sampler->id > NINO_SAMPLER_EULER_PP)
        return nino_fail(err, NINO_ERR_ARG, "sampler", "nothing to sample");
    nino_solve *s = calloc(1, sizeof(*s));
    if (!s)
        return nino_fail(err, NINO_ERR_NOMEM, "sampler", "no memory");
    *s = (nino_solve){ .opt = sampler,
                       .run = run,
                       .err = err,
                       .x = run->x,
                       .count = run->count,
                       .n_steps = run->n_sigmas - 1,
                       .is_flow = nino_sampling_is_flow(run->ms) };
    nino_status st = nino_solve_scalars(s, run->n_sigmas, &s->sigma);
    if (st == NINO_OK) {
        memcpy(s->sigma, run->sigmas, (size_t) run->n_sigmas * sizeof(float));
        find_tree_range(s);
        nino_rng_seed(&s->rng, run->seed);
        st = run_table[sampler->id](s);
    }
    for (int i = 0; i < s->n_arrays; i++)
        free(s->array[i]);
    nino_brownian_destroy(&s->tree);
    free(s);
    return st;
}

// Samplers by name, their defaults, and the run of one.
#include "core/sample/sampler.h"
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

bool nino_sampler_find(const char *name, nino_sampler_id *out)
{
    for (int i = 0; i < NINO_SAMPLER_COUNT; i++)
        if (!strcmp(name, nino_sampler_names[i])) {
            *out = (nino_sampler_id) i;
            return true;
        }
    return false;
}

bool nino_sampler_discards_penultimate(nino_sampler_id id)
{
    return id == NINO_SAMPLER_DPM_2 || id == NINO_SAMPLER_DPM_2_ANCESTRAL ||
           id == NINO_SAMPLER_UNI_PC || id == NINO_SAMPLER_UNI_PC_BH2;
}

bool nino_sampler_has_own_mask_noise(nino_sampler_id id) { return id == NINO_SAMPLER_DDIM; }

// ninodes plan: what a run would need, by scope, without arithmetic.
#include "commands.h"

int cmd_plan(const options *o)
{
    int rc = EXIT_OK;
    nino_error err = { .code = NINO_OK };
    nino_graph *g = load_graph(o, "plan", &rc);
    if (!g)
        return rc;
    nino_ctx_params params;
    nino_job_options jo;
    fill_ctx_params(o, &params, &jo);
    jo.no_files = true; // where results could be written does not matter
    nino_ctx *ctx = nino_ctx_create(&params, &err);
    nino_plan plan = { .n_scopes = 0 };
    if (!ctx) {
        rc = report_error(o, "plan", &err, "ninodes devices lists the devices");
        if (err.code == NINO_ERR_UNKNOWN)
            rc = EXIT_DEVICE;
    } else if (!(rc = check_graph(o, "plan", g, ctx))) {
        if (nino_graph_plan(ctx, g, o->profile, NULL, &plan, &err))
            rc = err.code == NINO_ERR_UNKNOWN ? (report_error(o, "plan", &err, NULL), EXIT_USAGE)
                                              : report_error(o, "plan", &err, NULL);
        else
            rc = print_plan(o, "plan", &plan, NULL, 0);
    }
    nino_plan_release(&plan);
    nino_ctx_destroy(&ctx);
    nino_graph_destroy(&g);
    return rc;
}

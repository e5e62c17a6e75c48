// Advice as text and as JSON lines.
#include "cli.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_ADVICE = 32 };

// Advice is made once it is asked for; NULL: out of memory.
static nino_advice *advice_advise(const nino_advice_input *in, size_t *n)
{
    nino_advice *list = calloc(MAX_ADVICE, sizeof(*list));
    *n = list ? nino_advise(in, list, MAX_ADVICE) : 0;
    *n = *n < MAX_ADVICE ? *n : MAX_ADVICE;
    return list;
}

void report_advice(FILE *f, const nino_advice_input *in)
{
    size_t n;
    nino_advice *list = advice_advise(in, &n);
    if (!n)
        fprintf(f, "  advice: nothing in this run costs enough to change\n");
    for (size_t i = 0; i < n; i++) {
        const nino_advice *a = &list[i];
        fprintf(f, "  advice: %s\n          %s\n", a->title, a->evidence);
        if (isfinite(a->gain_s))
            fprintf(f, "          gain: %.3f s of %.3f s (%.0f %%): %s\n", a->gain_s, a->of_s,
                    a->of_s > 0 ? 100 * a->gain_s / a->of_s : 0, a->how);
        else
            fprintf(f, "          gain: %s\n", a->how);
        if (a->action == NINO_ADVICE_SET)
            fprintf(f, "          --set %s%s\n", a->setting,
                    a->changes_result ? "   (the result may differ)" : "");
        else if (a->action != NINO_ADVICE_NONE)
            fprintf(f, "          %s%s\n", a->setting,
                    a->changes_result ? "   (the result may differ)" : "");
    }
    for (size_t i = 0; i < n; i++)
        if (list[i].action == NINO_ADVICE_SET) {
            fprintf(f, "  measure it: ninodes bench WORKFLOW --against %s\n", list[i].setting);
            break;
        }
    free(list);
}

void report_advice_json(const nino_advice_input *in)
{
    size_t n;
    nino_advice *list = advice_advise(in, &n);
    for (size_t i = 0; i < n; i++) {
        const nino_advice *a = &list[i];
        js_line("event/1", "advice");
        js_text("rule", a->rule);
        js_text("title", a->title);
        js_text("evidence", a->evidence);
        js_text("node", *a->node ? a->node : NULL);
        js_num("gain_s", a->gain_s);
        js_num("of_s", a->of_s);
        js_num("gain_bytes", a->gain_bytes);
        js_text("how", a->how);
        js_text("action", nino_advice_action_name(a->action));
        js_text("setting", *a->setting ? a->setting : NULL);
        js_bool("changes_result", a->changes_result);
        js_end();
    }
    free(list);
}

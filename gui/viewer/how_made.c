// The metadata of a file are read as ninodes inspect reads them.
#include "viewer/how_made.h"

#include <ninodes/inspect.h>
#include <string.h>

#include "base/i18n.h"

gboolean nino_profile_read(const char *path, nino_run_profile *out)
{
    nino_inspect f = { 0 };
    gboolean found = FALSE;
    if (nino_inspect_file(path, &f, NULL))
        return FALSE;
    for (size_t i = 0; i < f.n_meta && !found; i++)
        found = !strcmp(f.meta[i].key, NINO_RUN_PROFILE_KEY) &&
                !nino_run_profile_read(f.meta[i].value, strlen(f.meta[i].value), out, NULL);
    nino_inspect_release(&f);
    return found;
}

char *nino_profile_summary(const nino_run_profile *p)
{
    g_autoptr(GDateTime) t = g_date_time_new_from_unix_local(p->started);
    g_autofree char *date = t ? g_date_time_format(t, "%Y-%m-%d %H:%M") : g_strdup("?");
    g_autofree char *peak = g_format_size_full(p->peak_bytes, G_FORMAT_SIZE_IEC_UNITS);
    return g_strdup_printf(_("%.2f s on %s\n%s, at most %s of memory"), p->seconds, p->device, date,
                           peak);
}

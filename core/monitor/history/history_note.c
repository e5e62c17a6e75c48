// Notes of the user at moments of a run.
#include "core/monitor/history/history_priv.h"

#include <string.h>

static const char *only(void *text, uint32_t id) { return id ? text : ""; }

bool nino_history_note(nino_history *h, uint64_t t, const char *text)
{
    history_list *l = &h->list[NINO_EV_NOTE];
    const size_t i = nino_history_lower(l->ev, l->n, t);
    if (!t)
        return false;
    if (i < l->n && l->ev[i].t_ns == t) {
        memmove(&l->ev[i], &l->ev[i + 1], (l->n - i - 1) * sizeof(*l->ev));
        l->n--;
        h->kept--;
    }
    if (!text || !*text)
        return true;
    const size_t had = l->n;
    nino_history_add(h, &(nino_event){ .t_ns = t, .kind = NINO_EV_NOTE, .name = 1 }, 1, only,
                     (void *) text);
    return l->n > had;
}

// The precompiled character map of SentencePiece models.
#include "core/text/charsmap.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/bytes.h"
#include "core/base/error.h"

#define MAX_BLOB ((size_t) 64 << 20)

nino_status nino_charsmap_load(nino_charsmap *m, const void *blob, size_t n, const char *name,
                               nino_error *err)
{
    const unsigned char *p = blob;
    *m = (nino_charsmap){ 0 };
    if (!n)
        return NINO_OK;
    const size_t trie = n > 4 ? nino_le32(p) : 0;
    if (n > MAX_BLOB || !trie || trie % 4 || trie >= n - 4 || p[n - 1])
        return nino_fail_kind(err, NINO_ERR_FORMAT, "schema", name,
                              "the precompiled character map is damaged");
    m->n_units = trie / 4;
    m->n_text = n - 4 - trie;
    m->units = malloc(trie);
    m->text = malloc(m->n_text);
    if (!m->units || !m->text) {
        nino_charsmap_release(m);
        return nino_fail(err, NINO_ERR_NOMEM, name, "out of memory");
    }
    for (size_t i = 0; i < m->n_units; i++)
        m->units[i] = nino_le32(p + 4 + 4 * i);
    memcpy(m->text, p + 4 + trie, m->n_text);
    return NINO_OK;
}

void nino_charsmap_release(nino_charsmap *m)
{
    free(m->units);
    free(m->text);
    *m = (nino_charsmap){ 0 };
}

// A unit: bits 0-7 and 31 its label, bit 8 whether a value follows, 9-30 the offset of its
// children. A value has bit 31 set.
static size_t charsmap_offset_of(uint32_t unit)
{
    return (size_t) (unit >> 10) << ((unit & 0x200) >> 6);
}

const char *nino_charsmap_find(const nino_charsmap *m, const char *s, size_t len,
                               nino_charsmap_rule rule, size_t *used)
{
    const char *found = NULL;
    if (!m->n_units)
        return NULL;
    size_t at = charsmap_offset_of(m->units[0]);
    for (size_t i = 0; i < len && s[i]; i++) {
        const unsigned char c = (unsigned char) s[i];
        at ^= c;
        if (at >= m->n_units || (m->units[at] & 0x800000ff) != c)
            break;
        const uint32_t unit = m->units[at];
        at ^= charsmap_offset_of(unit);
        if (!(unit & 0x100) || at >= m->n_units)
            continue;
        const size_t value = m->units[at] & 0x7fffffff;
        if (value >= m->n_text)
            continue;
        found = m->text + value;
        *used = i + 1;
        if (rule == NINO_CHARSMAP_SHORTEST)
            break;
    }
    return found;
}

// Grid and links lie on all of the canvas. Made anew whenever a badge of a node changes, they would
// have all of it painted again: GTK takes a repeat or cairo node for unchanged only if it is the
// same one.
#include "canvas/canvas_kept.h"

#include <string.h>

void nino_canvas_kept_add(GByteArray *key, const void *p, gsize n)
{
    g_byte_array_append(key, p, (guint) n);
}

gboolean nino_canvas_kept_is(CanvasKept *k, GByteArray *key)
{
    const gboolean is_same =
        k->node && k->key->len == key->len && !memcmp(k->key->data, key->data, key->len);
    if (is_same) {
        g_byte_array_unref(key);
        return TRUE;
    }
    nino_canvas_kept_release(k);
    k->key = key;
    return FALSE;
}

void nino_canvas_kept_release(CanvasKept *k)
{
    g_clear_pointer(&k->node, gsk_render_node_unref);
    g_clear_pointer(&k->key, g_byte_array_unref);
}

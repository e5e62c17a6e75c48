// Prompts as ComfyUI's editor sends them: C comments go, {a|b} becomes one of its choices, \{ \} \|
// lose the backslash. Rules: ComfyUI_frontend src/utils/formatUtil.ts. There the choice is random;
// here it depends on the node and the place in its text, so a file always means the same.
#include <string.h>

#include "core/base/hash.h"
#include "core/workflow/ui.h"

#define MAX_DEPTH 32 // braces in braces; deeper ones stay as they are

typedef struct span {
    const char *at, *end;
} span;

static void strip_comments(nino_buf *out, const char *s, const char *end)
{
    while (s < end) {
        const char *close = NULL;
        if (end - s >= 4 && s[0] == '/' && s[1] == '*')
            close = memmem(s + 2, (size_t) (end - s - 2), "*/", 2);
        if (close) {
            s = close + 2;
        } else if (end - s >= 2 && s[0] == '/' && s[1] == '/') {
            while (s < end && *s != '\n' && *s != '\r')
                s++;
        } else {
            nino_buf_addc(out, *s++);
        }
    }
}

// The next choice of a block, from s on; *more: another one follows. Returns what is behind it.
static const char *read_choice(const char *s, const char *end, span *choice, bool *more)
{
    int depth = 0;
    *choice = (span){ s, end };
    *more = false;
    for (; s < end; s++) {
        if (*s == '\\' && s + 1 < end) {
            s++;
        } else if (*s == '{') {
            depth++;
        } else if ((*s == '}' || *s == '|') && !depth) {
            choice->end = s;
            *more = *s == '|';
            return s + 1;
        } else if (*s == '}') {
            depth--;
        }
    }
    return end; // never closed: it goes on to the end
}

static uint64_t ui_text_draw(const char *salt, uint32_t number)
{
    nino_hash h = nino_hash_bytes(salt, strlen(salt));
    uint64_t both[2] = { h.lo, number };
    return nino_hash_bytes(both, sizeof(both)).lo;
}

// s stands behind the brace. Returns what is behind the block; *chosen is one of its choices.
static const char *ui_text_choose(const char *s, const char *end, uint64_t random, span *chosen)
{
    uint64_t n = 0;
    const char *after = s;
    for (bool more = true; more; n++)
        after = read_choice(after, end, chosen, &more);
    random %= n;
    bool more;
    do
        s = read_choice(s, end, chosen, &more);
    while (random--);
    return after;
}

void nino_ui_dynamic_text(nino_buf *out, const char *text, size_t len, const char *salt)
{
    nino_buf plain = { 0 };
    span stack[MAX_DEPTH] = { { 0 } };
    int depth = 0;
    uint32_t n_drawn = 0;
    nino_buf_add(&plain, "", 0);
    strip_comments(&plain, text, text + len);
    span now = { plain.data, plain.data + plain.len };
    out->failed = out->failed || plain.failed;
    while (!out->failed && (now.at < now.end || depth)) {
        if (now.at == now.end) {
            now = stack[--depth];
        } else if (*now.at == '\\' && now.end - now.at > 1) {
            if (!strchr("{}|", now.at[1]))
                nino_buf_addc(out, '\\');
            nino_buf_addc(out, now.at[1]);
            now.at += 2;
        } else if (*now.at == '{' && depth < MAX_DEPTH) {
            span chosen = now;
            now.at = ui_text_choose(now.at + 1, now.end, ui_text_draw(salt, n_drawn++), &chosen);
            stack[depth++] = now;
            now = chosen;
        } else {
            nino_buf_addc(out, *now.at++);
        }
    }
    nino_buf_release(&plain);
}

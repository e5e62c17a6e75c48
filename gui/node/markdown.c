// Line by line, as notes of workflows use it; within a line a sign counts when its partner follows.
#include "node/markdown.h"

#include <string.h>

enum { MAX_DEPTH = 8 };

static void add_inline(GString *out, const char *s, gsize n, int depth);

static void add_plain(GString *out, const char *s, gsize n)
{
    g_autofree char *escaped = g_markup_escape_text(s, (gssize) n);
    g_string_append(out, escaped);
}

// Where `mark` comes again after `from`, with something between; -1: it does not.
static gssize partner(const char *s, gsize n, gsize from, const char *mark)
{
    const gsize len = strlen(mark);
    for (gsize i = from + 1; i + len <= n; i++)
        if (!memcmp(s + i, mark, len))
            return (gssize) i;
    return -1;
}

static gboolean is_word(char c) { return g_ascii_isalnum(c) || (guchar) c >= 0x80; }

// One of **bold**, *italic*, `code` at s[at]: adds it and returns how long it is; 0: it is none.
static gsize add_span(GString *out, const char *s, gsize n, gsize at, int depth)
{
    static const char *const spans[][2] = { { "`", "tt" }, { "**", "b" }, { "__", "b" },
                                            { "~~", "s" }, { "*", "i" },  { "_", "i" } };
    for (gsize k = 0; k < G_N_ELEMENTS(spans); k++) {
        const char *mark = spans[k][0];
        const gsize len = strlen(mark);
        if (at + len >= n || memcmp(s + at, mark, len) != 0)
            continue;
        const gssize end = partner(s, n, at + len, mark);
        const gboolean in_word = *mark == '_' && at && is_word(s[at - 1]); // a_name_like_this
        if (end < 0 || in_word || (*mark != '`' && g_ascii_isspace(s[at + len])))
            continue;
        g_string_append_printf(out, "<%s>", spans[k][1]);
        const gsize inner = (gsize) end - at - len;
        *mark == '`' ? add_plain(out, s + at + len, inner)
                     : add_inline(out, s + at + len, inner, depth + 1);
        g_string_append_printf(out, "</%s>", spans[k][1]);
        return (gsize) end + len - at;
    }
    return 0;
}

static gboolean is_address(const char *s, gsize n)
{
    return (n > 8 && !g_ascii_strncasecmp(s, "https://", 8)) ||
           (n > 7 &&
            (!g_ascii_strncasecmp(s, "http://", 7) || !g_ascii_strncasecmp(s, "mailto:", 7)));
}

static void add_link(GString *out, const char *to, gsize n_to, const char *text, gsize n, int depth)
{
    if (!is_address(to, n_to)) { // nothing else is opened
        add_inline(out, text, n, depth + 1);
        return;
    }
    g_string_append(out, "<a href=\"");
    add_plain(out, to, n_to);
    g_string_append(out, "\">");
    add_plain(out, text, n); // a link holds no other
    g_string_append(out, "</a>");
}

// [text](address), <address> or a bare address at s[at].
static gsize add_any_link(GString *out, const char *s, gsize n, gsize at, int depth)
{
    if (s[at] == '[') {
        const gssize mid = partner(s, n, at, "](");
        const gssize end = mid < 0 ? -1 : partner(s, n, (gsize) mid + 1, ")");
        if (end < 0)
            return 0;
        add_link(out, s + mid + 2, (gsize) (end - mid) - 2, s + at + 1, (gsize) mid - at - 1,
                 depth);
        return (gsize) end + 1 - at;
    }
    const gsize skip = s[at] == '<';
    gsize len = 0;
    while (at + skip + len < n && !strchr(" \t<>\"'`)]", s[at + skip + len]))
        len++;
    if (!is_address(s + at + skip, len) || (skip && (at + 1 + len >= n || s[at + 1 + len] != '>')))
        return 0;
    while (!skip && len && strchr(".,;:!?", s[at + len - 1])) // the sentence's
        len--;
    add_link(out, s + at + skip, len, s + at + skip, len, depth);
    return len + 2 * skip;
}

static void add_inline(GString *out, const char *s, gsize n, int depth)
{
    gsize plain = 0;
    for (gsize i = 0; i < n && depth < MAX_DEPTH;) {
        GString *own = g_string_new(NULL);
        gsize len = 0;
        if (s[i] == '\\' && i + 1 < n && g_ascii_ispunct(s[i + 1])) {
            add_plain(own, s + i + 1, 1);
            len = 2;
        } else if (strchr("`*_~", s[i])) {
            len = add_span(own, s, n, i, depth);
        } else if (s[i] == '[' || s[i] == '<' || s[i] == 'h') {
            len = add_any_link(own, s, n, i, depth);
        }
        if (len) {
            add_plain(out, s + plain, i - plain);
            g_string_append_len(out, own->str, (gssize) own->len);
            plain = i + len;
        }
        g_string_free(own, TRUE);
        i += MAX(len, 1);
    }
    add_plain(out, s + plain, n - plain);
}

static void add_line(GString *out, const char *line)
{
    static const char *const sizes[] = { "x-large", "large", "medium" };
    const gsize indent = strspn(line, " \t");
    const char *s = line + indent;
    const gsize hashes = strspn(s, "#"), digits = strspn(s, "0123456789");
    if (hashes && hashes <= 6 && s[hashes] == ' ') {
        g_string_append_printf(out, "<span size=\"%s\" weight=\"bold\">",
                               sizes[MIN(hashes, 3) - 1]);
        add_inline(out, s + hashes + 1, strlen(s + hashes + 1), 0);
        g_string_append(out, "</span>");
    } else if (strchr("-*+", *s) && *s && s[1] == ' ') {
        g_string_append_printf(out, "%*s• ", (int) indent + 1, "");
        add_inline(out, s + 2, strlen(s + 2), 0);
    } else if (digits && digits < 4 && s[digits] == '.' && s[digits + 1] == ' ') {
        g_string_append_printf(out, "%*s", (int) indent + 1, "");
        add_plain(out, s, digits + 2);
        add_inline(out, s + digits + 2, strlen(s + digits + 2), 0);
    } else if (*s == '>') {
        g_string_append(out, "<i>");
        add_inline(out, s + 1, strlen(s + 1), 0);
        g_string_append(out, "</i>");
    } else {
        add_inline(out, line, strlen(line), 0);
    }
}

char *nino_markdown_to_markup(const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    g_auto(GStrv) lines = g_strsplit(valid, "\n", -1);
    GString *out = g_string_new(NULL);
    gboolean in_code = FALSE, is_first = TRUE;
    for (char **l = lines; *l; l++) {
        if (g_str_has_prefix(*l + strspn(*l, " "), "```")) {
            in_code = !in_code;
            continue;
        }
        g_string_append(out, is_first ? "" : "\n");
        is_first = FALSE;
        if (in_code) {
            g_string_append(out, "<tt>");
            add_plain(out, *l, strlen(*l));
            g_string_append(out, "</tt>");
        } else {
            add_line(out, *l);
        }
    }
    return g_string_free(out, FALSE);
}

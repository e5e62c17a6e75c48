// Expressions in Python's grammar: text to a tree. Calls nest as deep as the text does, at most
// NINO_EXPR_DEPTH.
#include "core/node/expr.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/num.h"
#include "core/base/utf8.h"

#define MAX_TEXT 65536
#define MAX_NODES 1024 // also the depth of a chain such as 1+1+1

typedef struct parser {
    const char *text, *at, *token; // token: the last sign or word
    nino_arena *a;
    nino_error *err;
    nino_status st;
    int depth, n_nodes;
} parser;

nino_status nino_expr_fail(nino_error *err, int at, const char *fmt, ...)
{
    char text[160];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    return nino_fail_kind(err, NINO_ERR_ARG, "expression", "expression", "%s at character %d", text,
                          at);
}

static int expr_place(const parser *p, const char *at)
{
    int n = 1;
    for (const char *s = p->text; s < at; s++)
        n += (*s & 0xc0) != 0x80;
    return n;
}

static nino_expr_node *expr_wrong(parser *p, const char *what)
{
    char shown[48];
    if (p->st)
        return NULL;
    if (*p->at)
        nino_utf8_printable(shown, sizeof(shown), p->at, strnlen(p->at, 12));
    p->st = nino_expr_fail(p->err, expr_place(p, p->at), "%s%s%s%s", what, *p->at ? ", not '" : "",
                           *p->at ? shown : "", *p->at ? "'" : "");
    return NULL;
}

static nino_expr_node *expr_node(parser *p, nino_expr_op op)
{
    if (p->st)
        return NULL;
    if (++p->n_nodes > MAX_NODES)
        return expr_wrong(p, "the expression is too long");
    nino_expr_node *n = nino_arena_alloc(p->a, sizeof(*n));
    if (!n)
        p->st = nino_fail(p->err, NINO_ERR_NOMEM, "expression", "out of memory");
    else
        *n = (nino_expr_node){ .op = op, .at = expr_place(p, p->at) };
    return n;
}

static void expr_skip(parser *p) { p->at += strspn(p->at, " \t\r\n\f"); }

static bool is_name(char c) { return isalnum((unsigned char) c) || c == '_' || (c & 0x80); }

// Is this sign or word next? Then it is behind us. A sign that goes on is another one.
static bool expr_take(parser *p, const char *what)
{
    const size_t n = strlen(what);
    expr_skip(p);
    if (strncmp(p->at, what, n) != 0)
        return false;
    const char next = p->at[n];
    if (is_name(what[0]) ? is_name(next)
                         : (n == 1 && strchr("*/<>", *what) && next == *what) ||
                               (strchr("<>", *what) && n == 1 && next == '='))
        return false;
    p->token = p->at;
    p->at += n;
    return true;
}

static nino_expr_node *expr_whole(parser *p);

// ---- atoms -----------------------------------------------------------------------------------

static nino_expr_node *expr_number(parser *p)
{
    nino_expr_node *n = expr_node(p, NINO_OP_VALUE);
    const char *s = p->at;
    bool is_float = false;
    char plain[512];
    size_t len = 0;
    for (; isdigit((unsigned char) *s) || *s == '_' || *s == '.' || *s == 'e' || *s == 'E' ||
           ((*s == '+' || *s == '-') && (s[-1] == 'e' || s[-1] == 'E'));
         s++) {
        is_float = is_float || *s == '.' || *s == 'e' || *s == 'E';
        if (len + 1 < sizeof(plain) && *s != '_')
            plain[len++] = *s;
    }
    plain[len] = 0;
    if (!n)
        return NULL;
    if (is_float || (size_t) (s - p->at) >= sizeof(plain)) {
        n->value = nino_expr_float(0);
        if (!is_float || len + 1 >= sizeof(plain) || !nino_parse_double(plain, &n->value.f))
            return expr_wrong(p, "a number is needed");
    } else {
        n->value = nino_expr_int(p->a, 0);
        if (!n->value.i)
            p->st = nino_fail(p->err, NINO_ERR_NOMEM, "expression", "out of memory");
        if (p->st || !nino_big_parse(p->at, (size_t) (s - p->at), n->value.i))
            return expr_wrong(p, "a number is needed");
        if (plain[0] == '0' && strspn(plain, "0") != len)
            return expr_wrong(p, "a number without zeros before it is needed");
    }
    if (is_name(*s)) {
        p->at = s;
        return expr_wrong(p, "an operator is needed");
    }
    p->at = s;
    return n;
}

static nino_expr_node *expr_string(parser *p)
{
    nino_expr_node *n = expr_node(p, NINO_OP_VALUE);
    const char quote = *p->at, *s = p->at + 1;
    char *out = n ? nino_arena_alloc(p->a, strlen(s) + 1) : NULL;
    size_t len = 0;
    for (; out && *s && *s != quote && *s != '\n'; s++) {
        if (*s == '\\' && s[1]) {
            const char *from = "ntr\\'\"", *to = "\n\t\r\\'\"", *c = strchr(from, s[1]);
            if (!c)
                out[len++] = *s;
            out[len++] = c ? to[c - from] : s[1];
            s++;
        } else {
            out[len++] = *s;
        }
    }
    if (!out || *s != quote)
        return expr_wrong(p, "a text that ends with its quote is needed");
    n->value = nino_expr_text(out);
    p->at = s + 1;
    return n;
}

// Names may hold dots: a.width is one.
static nino_expr_node *expr_name(parser *p)
{
    nino_expr_node *n = expr_node(p, NINO_OP_NAME);
    const char *s = p->at;
    while (is_name(*s) || (*s == '.' && is_name(s[1])))
        s++;
    if (!n || !(n->name = nino_arena_strndup(p->a, p->at, (size_t) (s - p->at))))
        return NULL;
    p->at = s;
    if (!strcmp(n->name, "True") || !strcmp(n->name, "False")) {
        n->op = NINO_OP_VALUE;
        n->value = nino_expr_bool(n->name[0] == 'T');
    }
    return n;
}

// Arguments up to `close`, hanging on each other.
static nino_expr_node *expr_arguments(parser *p, const char *close)
{
    nino_expr_node *first = NULL, **end = &first;
    if (expr_take(p, close))
        return NULL;
    do {
        if (first && expr_take(p, close)) // a comma at the end
            return first;
        *end = expr_whole(p);
        if (!*end)
            return NULL;
        end = &(*end)->next;
    } while (expr_take(p, ","));
    if (!expr_take(p, close))
        return expr_wrong(p, "a closing bracket is needed");
    return first;
}

static nino_expr_node *expr_atom(parser *p)
{
    static const char *const words[] = { "and", "or", "not", "in", "is", "if", "else", "lambda" };
    expr_skip(p);
    if (isdigit((unsigned char) *p->at) || (*p->at == '.' && isdigit((unsigned char) p->at[1])))
        return expr_number(p);
    if (*p->at == '\'' || *p->at == '"')
        return expr_string(p);
    if (expr_take(p, "(")) {
        nino_expr_node *n = expr_whole(p);
        return n && !expr_take(p, ")") ? expr_wrong(p, "a closing bracket is needed") : n;
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        const char *was = p->at;
        if (expr_take(p, words[i])) {
            p->at = was;
            return expr_wrong(p, "a value is needed");
        }
    }
    return is_name(*p->at) ? expr_name(p) : expr_wrong(p, "a value is needed");
}

static nino_expr_node *expr_postfix(parser *p)
{
    nino_expr_node *n = expr_atom(p);
    while (n && !p->st) {
        if (n->op == NINO_OP_NAME && expr_take(p, "(")) {
            n->op = NINO_OP_CALL;
            n->a = expr_arguments(p, ")");
        } else if (expr_take(p, "[")) {
            nino_expr_node *index = expr_node(p, NINO_OP_INDEX);
            if (!index)
                return NULL;
            index->at = expr_place(p, p->token);
            index->a = n;
            index->b = expr_whole(p);
            if (index->b && !expr_take(p, "]"))
                return expr_wrong(p, "a closing bracket is needed");
            n = index;
        } else {
            return n;
        }
    }
    return NULL;
}

// ---- operators -------------------------------------------------------------------------------

static nino_expr_node *expr_two(parser *p, nino_expr_op op, const char *sign, nino_expr_node *a)
{
    nino_expr_node *n = expr_node(p, op);
    if (!n)
        return NULL;
    snprintf(n->sign, sizeof(n->sign), "%s", sign);
    n->at = p->token ? expr_place(p, p->token) : n->at;
    n->a = a;
    return n;
}

static nino_expr_node *expr_unary(parser *p);

static nino_expr_node *expr_power(parser *p)
{
    nino_expr_node *base = expr_postfix(p), *n;
    if (!base || !expr_take(p, "**"))
        return base;
    n = expr_two(p, NINO_OP_BINARY, "**", base);
    if (n && !(n->b = expr_unary(p)))
        return NULL;
    return n;
}

static nino_expr_node *expr_unary(parser *p)
{
    static const char *const signs[] = { "-", "+", "~" };
    nino_expr_node *n;
    for (int i = 0; i < 3; i++)
        if (expr_take(p, signs[i])) {
            if (++p->depth > NINO_EXPR_DEPTH)
                return expr_wrong(p, "the expression nests too deep");
            n = expr_two(p, NINO_OP_UNARY, signs[i], NULL);
            if (n && !(n->a = expr_unary(p)))
                n = NULL;
            p->depth--;
            return n;
        }
    return expr_power(p);
}

// What binds more tightly has a higher level.
static nino_expr_node *expr_binary(parser *p, int level)
{
    static const char *const signs[][5] = {
        { "|" }, { "^" }, { "&" }, { "<<", ">>" }, { "+", "-" }, { "//", "*", "/", "%" },
    };
    if (level == 6)
        return expr_unary(p);
    nino_expr_node *left = expr_binary(p, level + 1);
    for (int i = 0; left && signs[level][i];) {
        if (!expr_take(p, signs[level][i])) {
            i++;
            continue;
        }
        nino_expr_node *n = expr_two(p, NINO_OP_BINARY, signs[level][i], left);
        if (!n || !(n->b = expr_binary(p, level + 1)))
            return NULL;
        left = n;
        i = 0;
    }
    return left;
}

// The comparison at hand, or NULL.
static const char *expr_comparison(parser *p)
{
    static const char *const signs[] = { "==", "!=", "<=", ">=", "<", ">" };
    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
        if (expr_take(p, signs[i]))
            return signs[i];
    if (expr_take(p, "in"))
        return "in";
    if (expr_take(p, "is"))
        return expr_take(p, "not") ? "is not" : "is";
    const char *was = p->at;
    if (expr_take(p, "not") && expr_take(p, "in"))
        return "not in";
    p->at = was;
    return NULL;
}

static nino_expr_node *expr_compare(parser *p)
{
    nino_expr_node *left = expr_binary(p, 0), *whole = NULL, **end = NULL;
    const char *sign;
    while (left && (sign = expr_comparison(p))) {
        if (!whole) {
            whole = expr_two(p, NINO_OP_COMPARE, "", left);
            end = whole ? &whole->b : NULL;
        }
        nino_expr_node *right = whole ? expr_two(p, NINO_OP_COMPARE, sign, NULL) : NULL;
        if (!right || !(right->a = expr_binary(p, 0)))
            return NULL;
        *end = right;
        end = &right->next;
    }
    return left ? whole ? whole : left : NULL;
}

static nino_expr_node *expr_not(parser *p)
{
    if (!expr_take(p, "not"))
        return expr_compare(p);
    if (++p->depth > NINO_EXPR_DEPTH)
        return expr_wrong(p, "the expression nests too deep");
    nino_expr_node *n = expr_two(p, NINO_OP_NOT, "not", NULL);
    if (n && !(n->a = expr_not(p)))
        n = NULL;
    p->depth--;
    return n;
}

static nino_expr_node *expr_chain(parser *p, bool is_or)
{
    nino_expr_node *left = is_or ? expr_chain(p, false) : expr_not(p);
    while (left && expr_take(p, is_or ? "or" : "and")) {
        nino_expr_node *n = expr_two(p, is_or ? NINO_OP_OR : NINO_OP_AND, "", left);
        if (!n || !(n->b = is_or ? expr_chain(p, false) : expr_not(p)))
            return NULL;
        left = n;
    }
    return left;
}

static nino_expr_node *expr_whole(parser *p)
{
    if (++p->depth > NINO_EXPR_DEPTH)
        return expr_wrong(p, "the expression nests too deep");
    nino_expr_node *n = expr_chain(p, true);
    if (n && expr_take(p, "if")) {
        nino_expr_node *choice = expr_two(p, NINO_OP_IF, "", n);
        if (!choice || !(choice->b = expr_chain(p, true)))
            return NULL;
        if (!expr_take(p, "else"))
            return expr_wrong(p, "'else' is needed");
        if (!(choice->c = expr_whole(p)))
            return NULL;
        n = choice;
    }
    p->depth--;
    return n;
}

nino_status nino_expr_parse(const char *text, nino_arena *a, nino_expr_node **out, nino_error *err)
{
    parser p = { .text = text, .at = text, .a = a, .err = err };
    if (strlen(text) > MAX_TEXT)
        return nino_expr_fail(err, MAX_TEXT, "the expression is longer than %d bytes", MAX_TEXT);
    expr_skip(&p);
    if (!*p.at)
        return nino_expr_fail(err, 1, "the expression is empty");
    *out = expr_whole(&p);
    if (*out) {
        expr_skip(&p);
        if (*p.at)
            expr_wrong(&p, "an operator is needed");
    } else if (!p.st) {
        p.st = nino_fail(err, NINO_ERR_NOMEM, "expression", "out of memory");
    }
    return p.st;
}

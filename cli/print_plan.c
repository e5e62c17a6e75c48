// A plan as text or JSON: what a run would need, by scope.
#include "cli.h"

#include <stdlib.h>
#include <string.h>

// What most of the predicted time goes into: shares of bytes and launches are known, the rest is
// arithmetic. "-": no numbers.
static const char *limiter(const nino_plan_basis *b, double bytes, double s, uint64_t kernels)
{
    const double launches = (double) kernels * b->launch_s;
    if (s <= 0)
        return "-";
    if (launches > s / 2)
        return "launches";
    return b->bandwidth > 0 && bytes / b->bandwidth > (s - launches) / 2 ? "memory" : "arithmetic";
}

static void basis_json(const nino_plan *p)
{
    const nino_plan_basis *b = &p->basis;
    js_open("basis", '{');
    js_text("file", b->file);
    js_text("date", b->date);
    js_bool("measured", b->is_measured);
    js_bool("assumed_efficiencies", p->seconds > 0);
    js_text("peak_type", b->peak_type);
    js_num("peak", b->peak);
    js_num("bandwidth", b->bandwidth);
    js_num("launch_s", b->launch_s);
    js_num("efficiency_gemm", b->efficiency_gemm);
    js_num("efficiency_conv", b->efficiency_conv);
    js_num("efficiency_attn", b->efficiency_attn);
    js_num("least_seconds", b->least_seconds);
    js_text("limiter", limiter(b, p->bytes, p->seconds, p->kernels));
    js_close('}');
}

static void plan_json(const char *cmd, const nino_plan *p, const nino_scheme *s, const grid *g,
                      double total)
{
    js_envelope(cmd);
    js_text("profile", p->profile);
    js_bool("fits", p->fits);
    js_num("flops", p->flops);
    js_num("bytes", p->bytes);
    js_num("seconds", p->seconds);
    js_uint("kernels", p->kernels);
    js_uint("peak_bytes", p->peak_bytes);
    js_uint("weight_bytes", p->weight_bytes);
    js_uint("peak_activation_bytes", p->peak_activation_bytes);
    js_uint("budget", p->budget);
    basis_json(p);
    js_open("tiling", '{');
    js_bool("tiled", p->tiling.is_tiled);
    js_int("tile_w", p->tiling.tile_w);
    js_int("tile_h", p->tiling.tile_h);
    js_int("overlap", p->tiling.overlap);
    js_int("tiles", p->tiling.n_tiles);
    js_text("why", p->tiling.why);
    js_close('}');
    if (s)
        print_scheme_json(s);
    js_open("scopes", '[');
    for (size_t i = 0; i < p->n_scopes; i++) {
        const nino_plan_scope *part = &p->scopes[i];
        js_open(NULL, '{');
        js_text("name", part->name);
        js_int("depth", part->depth);
        js_num("flops", part->flops);
        js_num("bytes", part->bytes);
        js_num("seconds", part->seconds);
        js_uint("kernels", part->kernels);
        js_uint("peak_bytes", part->peak_bytes);
        js_text("limiter", limiter(&p->basis, part->bytes, part->seconds, part->kernels));
        js_close('}');
    }
    js_close(']');
    js_open("programs", '[');
    for (size_t i = 0; i < p->n_programs; i++) {
        js_open(NULL, '{');
        js_text("file", p->programs[i].file);
        js_text("options", p->programs[i].options);
        js_close('}');
    }
    js_close(']');
    if (g) {
        js_open("grid", '{');
        grid_axes_json(g);
        js_uint("runs", grid_cells(g));
        js_num("seconds", total);
        js_close('}');
    }
    js_envelope_end();
}

static void seconds(char *buf, size_t size, double s)
{
    if (s > 0)
        snprintf(buf, size, "~%.3f s", s); // no device's efficiencies are measured
    else
        snprintf(buf, size, "-");
}

// ---- the table ---------------------------------------------------------------------------------

// Steps and tiles that follow each other are one row: their sums, and the highest peak.
typedef struct row {
    nino_plan_scope s;
    size_t n;
} row;

// "8 VAEDecode / decoder.up.2" is the last part, indented by depth.
static void row_name(char *buf, size_t size, const row *r)
{
    const char *last = r->s.name;
    char times[32] = "";
    for (const char *p; (p = strstr(last, " / "));)
        last = p + 3;
    if (r->n > 1)
        snprintf(times, sizeof(times), " x %zu", r->n);
    snprintf(buf, size, "%*s%s%s", 2 * r->s.depth, "", last, times);
}

// The row and those inside it.
static size_t branch(const row *r, size_t n)
{
    size_t len = 1;
    while (len < n && r[len].s.depth > r->s.depth)
        len++;
    return len;
}

static bool is_same_branch(const row *a, const row *b, size_t len)
{
    for (size_t k = 0; k < len; k++)
        if (a[k].s.depth != b[k].s.depth || strcmp(a[k].s.name, b[k].s.name) != 0 ||
            (k && a[k].n != b[k].n))
            return false;
    return true;
}

static void add_branch(row *to, const row *from, size_t len)
{
    to->n++;
    for (size_t k = 0; k < len; k++) {
        nino_plan_scope *s = &to[k].s;
        s->flops += from[k].s.flops;
        s->bytes += from[k].s.bytes;
        s->seconds += from[k].s.seconds;
        s->kernels += from[k].s.kernels;
        if (s->peak_bytes < from[k].s.peak_bytes)
            s->peak_bytes = from[k].s.peak_bytes;
    }
}

// Joins what repeats at one depth, in place; returns the rows that are left.
static size_t fold(row *r, size_t n, int depth)
{
    size_t out = 0, last = SIZE_MAX, len;
    for (size_t i = 0; i < n; i += len) {
        const bool is_here = r[i].s.depth == depth;
        len = is_here ? branch(r + i, n - i) : 1;
        if (is_here && last != SIZE_MAX && out - last == len &&
            is_same_branch(r + last, r + i, len)) {
            add_branch(r + last, r + i, len);
            continue;
        }
        memmove(r + out, r + i, len * sizeof(*r));
        last = is_here ? out : SIZE_MAX;
        out += len;
    }
    return out;
}

static void plan_rows(const nino_plan *p)
{
    char a[32], t[32], name[128];
    row *r = calloc(p->n_scopes + 1, sizeof(*r));
    size_t n = r ? p->n_scopes : 0;
    int deepest = 0;
    for (size_t i = 0; i < n; i++) {
        r[i] = (row){ p->scopes[i], 1 };
        deepest = r[i].s.depth > deepest ? r[i].s.depth : deepest;
    }
    for (int d = deepest; d > 0; d--)
        n = fold(r, n, d);
    for (size_t i = 0; i < n; i++) {
        const nino_plan_scope *s = &r[i].s;
        row_name(name, sizeof(name), &r[i]);
        seconds(t, sizeof(t), s->seconds);
        printf("%-44.44s %12.3f %8llu %12s %11s  %s\n", name, s->flops * 1e-9,
               (unsigned long long) s->kernels, human_bytes(a, sizeof(a), (double) s->peak_bytes),
               t, limiter(&p->basis, s->bytes, s->seconds, s->kernels));
    }
    free(r);
}

static void plan_basis(const nino_plan *p)
{
    const nino_plan_basis *b = &p->basis;
    if (p->seconds <= 0)
        return;
    printf("~         assumed: products reach at most %.0f %%, convolutions %.0f %%, attention "
           "%.0f %% of the "
           "%s peak\n",
           100 * b->efficiency_gemm, 100 * b->efficiency_conv, 100 * b->efficiency_attn,
           b->peak_type);
    if (!b->is_measured)
        printf("          not measured on hardware\n");
    printf("bounds    at least %.3f s, with all of %.3g TFLOPS (%s) and %.3g GB/s, both %s\n",
           b->least_seconds, b->peak * 1e-12, b->peak_type, b->bandwidth * 1e-9,
           b->is_measured ? "measured here" : "the profile's");
}

// What has to be compiled once: how many programs of which files.
static void plan_programs(const nino_plan *p)
{
    if (p->n_programs)
        printf("programs  %zu:", p->n_programs);
    for (size_t i = 0; i < p->n_programs; i++) {
        const char *file = p->programs[i].file;
        size_t n = 0, before = 0;
        for (size_t k = 0; k < p->n_programs; k++) {
            n += !strcmp(p->programs[k].file, file);
            before += k < i && !strcmp(p->programs[k].file, file);
        }
        if (!before && n > 1)
            printf(" %s (%zu)", file, n);
        else if (!before)
            printf(" %s", file);
    }
    if (p->n_programs)
        printf("\n");
}

static void plan_text(const nino_plan *p)
{
    char a[32], b[32], t[32];
    printf("%-44s %12s %8s %12s %11s  %s\n", "scope", "GFLOP", "kernels", "peak", "time", "limit");
    plan_rows(p);
    seconds(t, sizeof(t), p->seconds);
    printf("%-44s %12.3f %8llu %12s %11s  %s\n", "total", p->flops * 1e-9,
           (unsigned long long) p->kernels, human_bytes(a, sizeof(a), (double) p->peak_bytes), t,
           limiter(&p->basis, p->bytes, p->seconds, p->kernels));
    printf("profile   %s", p->profile);
    if (*p->basis.file)
        printf(" (%s%s%s)", p->basis.file, *p->basis.date ? ", " : "", p->basis.date);
    printf("\n");
    plan_basis(p);
    printf("weights   %s, activations and workspace at most %s\n",
           human_bytes(a, sizeof(a), (double) p->weight_bytes),
           human_bytes(b, sizeof(b), (double) p->peak_activation_bytes));
    plan_programs(p);
    if (p->tiling.is_tiled)
        printf("tiles     %d of %dx%d pixels, overlap %d: %s\n", p->tiling.n_tiles,
               p->tiling.tile_w, p->tiling.tile_h, p->tiling.overlap, p->tiling.why);
    if (p->budget)
        printf("fits      %s (budget %s)\n", p->fits ? "yes" : "no",
               human_bytes(a, sizeof(a), (double) p->budget));
    else
        printf("fits      %s\n", p->fits ? "yes" : "no");
}

static void grid_text(const grid *g, double total)
{
    char t[32];
    const size_t n = grid_cells(g);
    seconds(t, sizeof(t), total);
    printf("grid      ");
    if (g->n_axes == 2)
        printf("%zu x %zu = ", g->axis[0].n, g->axis[1].n);
    printf("%zu %s; above is the one that needs most\n", n, n == 1 ? "run" : "runs");
    printf("time      %s for all at most: nodes that do not change run once\n", t);
}

int print_plan(const options *o, const char *cmd, const nino_plan *p, const nino_scheme *s,
               const grid *g, double total)
{
    if (o->json)
        plan_json(cmd, p, s, g, total);
    else if (!o->quiet)
        plan_text(p);
    if (s && !o->json && !o->quiet)
        print_scheme(s);
    if (g && !o->json && !o->quiet)
        grid_text(g, total);
    return p->fits ? EXIT_OK : EXIT_NOMEM;
}

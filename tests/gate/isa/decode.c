// The text of llvm-objdump -d as instructions: a row of the tables, operands, modifiers, targets of branches.
#include "tests/gate/isa/isa.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const isa_semantics *const tables[] = {
    isa_scalar_table,  isa_vector_table, isa_wide_table,
    isa_compare_table, isa_memory_table, isa_matrix_table
};

static const isa_semantics *semantics_find(const char *name)
{
    for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++)
        for (const isa_semantics *s = tables[t]; s->name; s++)
            if (!strcmp(s->name, name))
                return s;
    return NULL;
}

// ---- operands --------------------------------------------------------------------------------
static bool take_register(const char *t, isa_operand *o)
{
    static const struct {
        const char *name;
        uint16_t reg;
        uint8_t n;
    } named[] = {
        { "vcc_lo", ISA_VCC, 1 },   { "vcc_hi", ISA_VCC + 1, 1 },   { "vcc", ISA_VCC, 2 },
        { "exec_lo", ISA_EXEC, 1 }, { "exec_hi", ISA_EXEC + 1, 1 }, { "exec", ISA_EXEC, 2 },
        { "m0", ISA_M0, 1 },        { "null", ISA_NULL, 1 }
    };
    unsigned first, last;
    int end = 0;
    for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++)
        if (!strcmp(t, named[i].name)) {
            o->kind = ISA_SGPR;
            o->reg = named[i].reg;
            o->n = named[i].n;
            return true;
        }
    if (*t != 'v' && *t != 's')
        return false;
    if (sscanf(t + 1, "[%u:%u]%n", &first, &last, &end) == 2 && !t[1 + end] && last >= first)
        o->n = (uint8_t) (last - first + 1);
    else if (isdigit((unsigned char) t[1]) && sscanf(t + 1, "%u%n", &first, &end) == 1 &&
             !t[1 + end])
        o->n = 1;
    else
        return false;
    o->kind = *t == 'v' ? ISA_VGPR : ISA_SGPR;
    o->reg = (uint16_t) first;
    return first + o->n <= (*t == 'v' ? ISA_VGPRS : 106);
}

// A constant counts as what the operand is: 1.0 of f16 is not that of f32.
static bool take_value(const char *t, isa_operand *o)
{
    char *end;
    o->kind = ISA_VALUE;
    o->n = 1;
    if (!strncmp(t, "0x", 2)) {
        o->value = strtoull(t, &end, 16);
        if (o->type == 'd')
            o->value <<= 32; // the higher half of an f64
    } else if (strchr(t, '.')) {
        const double v = strtod(t, &end);
        o->value = o->type == 'd' || o->type == 'q'   ? isa_bits64(v)
                   : o->type == 'h' || o->type == 'p' ? isa_to_half((float) v)
                                                      : isa_bits((float) v);
    } else {
        o->value = (uint64_t) strtoll(t, &end, 10);
    }
    return end != t && !*end;
}

static bool take_operand(char *t, char type, int n, isa_operand *o)
{
    const size_t len = strlen(t);
    *o = (isa_operand){ .type = type };
    if (!strcmp(t, "off"))
        return true;
    if (*t == '-' && !isdigit((unsigned char) t[1])) {
        o->neg = true;
        t++;
    }
    if (*t == '|' && len > 2 && t[strlen(t) - 1] == '|') {
        o->abs = true;
        t[strlen(t) - 1] = 0;
        t++;
    }
    if (!take_register(t, o) && !take_value(t, o))
        return false;
    if (o->kind == ISA_VALUE)
        return type != 'a' && type != 'b';
    if (type == 'a')
        return o->kind == ISA_VGPR && o->n <= 2;
    const bool is_pair = type == 'q' || type == 'd' || type == 't' || type == 'b';
    const int wanted = type == 'n' ? n : type == 'm' ? 8 : is_pair ? 2 : 1;
    return o->n == wanted || o->reg == ISA_NULL;
}

// ---- modifiers -------------------------------------------------------------------------------
static bool take_bits(const char *t, uint8_t *out)
{
    int i = 0;
    for (*out = 0; *t && i < 4; t++, i++) {
        if ((*t != '0' && *t != '1') || (t[1] != ',' && t[1] != ']'))
            return false;
        *out |= (uint8_t) ((*t - '0') << i);
        if (*++t == ']')
            return !t[1];
    }
    return false;
}

// Others with halves named would be other instructions than their rows say.
static bool takes_halves(const char *name)
{
    return !strncmp(name, "v_pk_", 5) || !strncmp(name, "v_fma_mix", 9) ||
           !strncmp(name, "v_permlane", 10) || !strncmp(name, "v_pack_", 7);
}

static bool take_modifier(const char *t, isa_insn *i)
{
    static const struct {
        const char *name;
        size_t at;
    } bits[] = { { "op_sel:[", offsetof(isa_insn, op_sel) },
                 { "op_sel_hi:[", offsetof(isa_insn, op_sel_hi) } };
    for (size_t k = 0; k < sizeof(bits) / sizeof(bits[0]) && takes_halves(i->what->name); k++)
        if (!strncmp(t, bits[k].name, strlen(bits[k].name)))
            return take_bits(t + strlen(bits[k].name), (uint8_t *) i + bits[k].at);
    int end = 0;
    return (sscanf(t, "offset:%d%n", &i->offset, &end) == 1 ||
            sscanf(t, "offset0:%d%n", &i->offset, &end) == 1 ||
            sscanf(t, "offset1:%d%n", &i->offset1, &end) == 1) &&
           !t[end];
}

// ---- an instruction --------------------------------------------------------------------------
// Operands with their modifiers, cut at commas outside of brackets.
static int cut(char *text, char *out[8])
{
    int n = 0, depth = 0;
    for (char *p = text; *p; p++) {
        depth += *p == '[' ? 1 : *p == ']' ? -1 : 0;
        if ((p == text || (*p == ',' && !depth)) && n < 8) {
            if (*p == ',')
                *p++ = 0;
            while (*p == ' ')
                p++;
            out[n++] = p;
            depth += *p == '[';
        }
    }
    return n;
}

static bool take_operands(char *text, isa_insn *i)
{
    char *part[8];
    const int n = cut(text, part);
    const char *form = i->what->form;
    bool is_source = false;
    int at = 0;
    for (; *form; form++) {
        if (*form == ':') {
            is_source = true;
            continue;
        }
        isa_operand *o = is_source ? &i->src[i->n_src] : &i->dst[i->n_dst];
        if (at == n && *form == 'c') {
            *o = (isa_operand){ .kind = ISA_SGPR, .type = 's', .n = 1, .reg = ISA_VCC };
        } else {
            if (at == n)
                return false;
            char *rest = part[at++], *word = strsep(&rest, " ");
            if (!take_operand(word, *form, i->what->n, o))
                return false;
            while ((word = strsep(&rest, " ")))
                if (*word && !take_modifier(word, i))
                    return false;
        }
        if (is_source)
            i->n_src++;
        else
            i->n_dst++;
    }
    return at == n;
}

static bool take_waits(const char *t, isa_insn *i)
{
    static const char *const names[] = { "lgkmcnt", "vmcnt", "vscnt" };
    int n, end = 0;
    char name[16];
    if (sscanf(t, "null, %i", &n) == 1) { // s_waitcnt_vscnt
        i->wait[ISA_VS] = (int8_t) n;
        return true;
    }
    for (; sscanf(t, " %15[a-z](%d)%n", name, &n, &end) == 2; t += end) {
        int c = 0;
        while (c < ISA_COUNTERS && strcmp(name, names[c]) != 0)
            c++;
        if (c < ISA_COUNTERS)
            i->wait[c] = (int8_t) n;
        else if (strcmp(name, "expcnt") != 0) // of exports, which no kernel has
            return false;
    }
    return t[strspn(t, " ")] == 0;
}

// The name in the tables: e32, e64 and v_dual_ are ways to code it.
static void take_name(const char *word, char out[64])
{
    const bool is_dual = !strncmp(word, "v_dual_", 7);
    snprintf(out, 64, "%s%s", is_dual ? "v_" : "", word + (is_dual ? 7 : 0));
    const size_t n = strlen(out);
    if (n > 4 && (!strcmp(out + n - 4, "_e32") || !strcmp(out + n - 4, "_e64")))
        out[n - 4] = 0;
}

// What is not understood has no row.
static void take_insn(char *text, uint64_t address, isa_insn *i)
{
    char name[64], copy[256];
    *i = (isa_insn){ .address = address, .text = text, .op_sel_hi = 0xff, .wait = { -1, -1, -1 } };
    snprintf(copy, sizeof(copy), "%s", text);
    char *rest = copy, *word = strsep(&rest, " ");
    take_name(word, name);
    i->what = semantics_find(name);
    if (!i->what || i->what->form[0] == '*') // its operands mean nothing here
        return;
    if (i->what->form[0] == 'W' ? !take_waits(rest ? rest : "", i)
                                : !take_operands(rest ? rest : copy + strlen(copy), i))
        i->what = NULL;
}

// Branches say how many words they go on behind themselves.
static void find_targets(isa_program *p)
{
    for (size_t k = 0; k < p->n_insns; k++) {
        isa_insn *i = &p->insns[k];
        if (!strncmp(i->text, "s_cbranch", 9) || !strncmp(i->text, "s_branch", 8)) {
            const int16_t words = (int16_t) i->src[0].value;
            i->target = (uint32_t) isa_insn_at(p, i->address + 4 + (uint64_t) (words * 4));
        }
    }
}

static uint32_t registers_at(const isa_program *p, uint64_t address)
{
    const isa_kernel *best = NULL;
    for (const isa_kernel *k = p->kernels; k; k = k->next)
        if (k->entry <= address && (!best || k->entry > best->entry))
            best = k;
    return best ? best->n_vgprs : ISA_VGPRS;
}

static bool is_within(const isa_program *p, const isa_insn *i, const isa_operand *o)
{
    return o->kind != ISA_VGPR || o->reg + o->n <= (int) registers_at(p, i->address);
}

static bool check_registers(const isa_program *p, char err[400])
{
    for (size_t k = 0; k < p->n_insns; k++) {
        const isa_insn *i = &p->insns[k];
        bool ok = true;
        for (int o = 0; o < i->n_dst; o++)
            ok = ok && is_within(p, i, &i->dst[o]);
        for (int o = 0; o < i->n_src; o++)
            ok = ok && is_within(p, i, &i->src[o]);
        if (!ok) {
            snprintf(err, 400, "%#llx: \"%s\" has registers that are not allocated",
                     (unsigned long long) i->address, i->text);
            return false;
        }
    }
    return true;
}

// A line "\tTEXT // ADDRESS: WORDS"; a pair of a line are two instructions.
static bool take_line(isa_program *p, char *line, size_t *room)
{
    char *comment = strstr(line, "//"), *second;
    uint64_t address;
    if (*line != '\t' || !comment)
        return true;
    *comment = 0;
    address = strtoull(comment + 2, NULL, 16);
    for (char *end = comment; end > line && isspace((unsigned char) end[-1]); end--)
        end[-1] = 0;
    if (p->n_insns + 2 > *room) {
        isa_insn *more = realloc(p->insns, (*room = *room * 2 + 4096) * sizeof(*more));
        if (!more)
            return false;
        p->insns = more;
    }
    if ((second = strstr(line, " :: "))) {
        *second = 0;
        take_insn(line + 1, address, &p->insns[p->n_insns]);
        p->insns[p->n_insns++].is_first_of_pair = true;
        line = second + 3;
    }
    take_insn(line + 1, address, &p->insns[p->n_insns++]);
    return true;
}

bool isa_decode(isa_program *p, char err[400])
{
    size_t room = 0;
    for (char *line = p->text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        if (!take_line(p, line, &room)) {
            snprintf(err, 400, "out of memory");
            return false;
        }
    }
    find_targets(p);
    return check_registers(p, err);
}

size_t isa_insn_at(const isa_program *p, uint64_t address)
{
    size_t low = 0, high = p->n_insns;
    while (low < high) {
        const size_t mid = (low + high) / 2;
        if (p->insns[mid].address < address)
            low = mid + 1;
        else
            high = mid;
    }
    return low < p->n_insns && p->insns[low].address == address ? low : p->n_insns;
}

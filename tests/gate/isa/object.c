// Code objects: ELF files whose kernels are described by a descriptor each (symbol NAME.kd) and by
// metadata in MessagePack (LLVM's "User Guide for AMDGPU Backend", code object version 5).
#include "tests/gate/isa/isa.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EM_AMD_GPU = 224, NOTE_METADATA = 32 };

// ---- MessagePack, of what the metadata uses --------------------------------------------------
typedef struct pack {
    const uint8_t *at, *end;
    bool is_bad;
} pack;
typedef struct item {
    enum { ITEM_NUMBER, ITEM_TEXT, ITEM_LIST, ITEM_MAP } kind;
    uint64_t n; // number, length, entries
    const char *text;
} item;

static uint64_t pack_number(pack *p, int bytes)
{
    uint64_t v = 0;
    if (p->end - p->at < bytes) {
        p->is_bad = true;
        return 0;
    }
    for (int i = 0; i < bytes; i++)
        v = v << 8 | *p->at++;
    return v;
}

static item pack_next(pack *p)
{
    const int c = (int) pack_number(p, 1);
    item it = { .kind = ITEM_NUMBER };
    if (c < 0x80 || c >= 0xe0)
        it.n = (uint64_t) (int64_t) (int8_t) c;
    else if (c < 0xa0)
        it = (item){ c < 0x90 ? ITEM_MAP : ITEM_LIST, (uint64_t) (c & 15), NULL };
    else if (c < 0xc0)
        it = (item){ ITEM_TEXT, (uint64_t) (c & 31), NULL };
    else if (c >= 0xcc && c <= 0xcf)
        it.n = pack_number(p, 1 << (c - 0xcc));
    else if (c >= 0xd9 && c <= 0xdb)
        it = (item){ ITEM_TEXT, pack_number(p, 1 << (c - 0xd9)), NULL };
    else if (c >= 0xdc && c <= 0xdf)
        it = (item){ c < 0xde ? ITEM_LIST : ITEM_MAP, pack_number(p, c & 1 ? 4 : 2), NULL };
    else if (c != 0xc0 && c != 0xc2 && c != 0xc3)
        p->is_bad = true;
    else
        it.n = c == 0xc3;
    if (it.kind == ITEM_TEXT) {
        it.text = (const char *) p->at;
        p->is_bad = p->is_bad || (uint64_t) (p->end - p->at) < it.n;
        p->at += p->is_bad ? 0 : it.n;
    }
    return it;
}

static void pack_skip(pack *p, int depth)
{
    const item it = pack_next(p);
    const uint64_t n = it.kind == ITEM_LIST ? it.n : it.kind == ITEM_MAP ? 2 * it.n : 0;
    p->is_bad = p->is_bad || depth > 8;
    for (uint64_t i = 0; i < n && !p->is_bad; i++)
        pack_skip(p, depth + 1);
}

static bool pack_is(const item *it, const char *text)
{
    return it->kind == ITEM_TEXT && it->n == strlen(text) && !memcmp(it->text, text, it->n);
}

// ---- metadata --------------------------------------------------------------------------------
static void take_text(const item *it, char *out, size_t size)
{
    snprintf(out, size, "%.*s", it->kind == ITEM_TEXT ? (int) it->n : 0,
             it->kind == ITEM_TEXT ? it->text : "");
}

static void take_args(pack *p, isa_kernel *k)
{
    const item list = pack_next(p);
    if (list.kind != ITEM_LIST || list.n > 256 ||
        !(k->args = calloc(list.n + 1, sizeof(isa_arg)))) {
        p->is_bad = true;
        return;
    }
    for (uint64_t i = 0; i < list.n && !p->is_bad; i++) {
        const item map = pack_next(p);
        isa_arg *a = &k->args[k->n_args++];
        for (uint64_t e = 0; e < map.n && !p->is_bad; e++) {
            const item key = pack_next(p);
            const bool is_offset = pack_is(&key, ".offset"), is_size = pack_is(&key, ".size");
            if (is_offset || is_size) {
                *(is_offset ? &a->offset : &a->size) = (uint32_t) pack_next(p).n;
            } else if (pack_is(&key, ".value_kind")) {
                const item kind = pack_next(p);
                take_text(&kind, a->kind, sizeof(a->kind));
            } else {
                pack_skip(p, 0);
            }
        }
        k->n_explicit += strncmp(a->kind, "hidden", 6) != 0;
    }
}

static void take_sizes(pack *p, isa_kernel *k)
{
    const item list = pack_next(p);
    for (uint64_t i = 0; i < list.n && !p->is_bad; i++) {
        const item v = pack_next(p);
        if (i < 3)
            k->required[i] = (uint32_t) v.n;
    }
}

static void take_kernel(pack *p, isa_kernel *k)
{
    const item map = pack_next(p);
    for (uint64_t e = 0; e < map.n && !p->is_bad; e++) {
        const item key = pack_next(p);
        if (pack_is(&key, ".args")) {
            take_args(p, k);
        } else if (pack_is(&key, ".reqd_workgroup_size")) {
            take_sizes(p, k);
        } else if (pack_is(&key, ".name")) {
            const item name = pack_next(p);
            take_text(&name, k->name, sizeof(k->name));
        } else if (pack_is(&key, ".max_flat_workgroup_size")) {
            k->most_items = (uint32_t) pack_next(p).n;
        } else {
            pack_skip(p, 0);
        }
    }
}

static bool take_metadata(isa_program *prog, const uint8_t *data, size_t bytes)
{
    pack p = { data, data + bytes, false };
    const item map = pack_next(&p);
    for (uint64_t e = 0; e < map.n && !p.is_bad; e++) {
        const item key = pack_next(&p);
        if (!pack_is(&key, "amdhsa.kernels")) {
            pack_skip(&p, 0);
            continue;
        }
        const item list = pack_next(&p);
        for (uint64_t i = 0; i < list.n && !p.is_bad; i++) {
            isa_kernel *k = calloc(1, sizeof(*k));
            if (!k)
                return false;
            k->next = prog->kernels;
            prog->kernels = k;
            take_kernel(&p, k);
        }
    }
    return !p.is_bad && prog->kernels;
}

static bool take_notes(isa_program *p, const uint8_t *note, size_t bytes)
{
    size_t at = 0;
    while (bytes - at >= sizeof(Elf64_Nhdr)) {
        Elf64_Nhdr h;
        memcpy(&h, note + at, sizeof(h));
        const size_t name = (h.n_namesz + 3u) & ~3u, body = at + sizeof(h) + name;
        if (body > bytes || h.n_descsz > bytes - body)
            return false;
        if (h.n_type == NOTE_METADATA)
            return take_metadata(p, note + body, h.n_descsz);
        at = body + ((h.n_descsz + 3u) & ~3u);
    }
    return false;
}

// ---- descriptors -----------------------------------------------------------------------------
static uint64_t number_at(const isa_program *p, uint64_t at, int bytes)
{
    uint64_t v = 0;
    if (at <= p->bytes && p->bytes - at >= (uint64_t) bytes)
        memcpy(&v, p->image + at, (size_t) bytes);
    return v;
}

static void take_descriptor(isa_program *p, isa_kernel *k, uint64_t at)
{
    k->lds_bytes = (uint32_t) number_at(p, at, 4);
    k->scratch_bytes = (uint32_t) number_at(p, at + 4, 4);
    k->kernarg_bytes = (uint32_t) number_at(p, at + 8, 4);
    k->entry = at + number_at(p, at + 16, 8);
    k->rsrc1 = (uint32_t) number_at(p, at + 48, 4);
    k->rsrc2 = (uint32_t) number_at(p, at + 52, 4);
    k->properties = (uint16_t) number_at(p, at + 56, 2);
    k->n_vgprs = ((k->rsrc1 & 63) + 1) * 8;
}

static void take_symbols(isa_program *p, const uint8_t *object, const Elf64_Shdr *table,
                         const Elf64_Shdr *names)
{
    for (uint64_t i = 0; i < table->sh_size / sizeof(Elf64_Sym); i++) {
        Elf64_Sym s;
        memcpy(&s, object + table->sh_offset + i * sizeof(s), sizeof(s));
        if (s.st_name >= names->sh_size)
            continue;
        const char *name = (const char *) object + names->sh_offset + s.st_name;
        for (isa_kernel *k = p->kernels; k; k = k->next) {
            const size_t n = strlen(k->name);
            if (!strncmp(name, k->name, n) && !strcmp(name + n, ".kd"))
                take_descriptor(p, k, s.st_value);
        }
    }
}

// ---- the file --------------------------------------------------------------------------------
static bool is_inside(uint64_t at, uint64_t n, size_t bytes)
{
    return at <= bytes && n <= bytes - at;
}

static bool load_segments(isa_program *p, const uint8_t *object, size_t bytes, const Elf64_Ehdr *h)
{
    Elf64_Phdr s;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < h->e_phnum; i++) {
            memcpy(&s, object + h->e_phoff + (size_t) i * sizeof(s), sizeof(s));
            if (s.p_type != PT_LOAD)
                continue;
            if (!is_inside(s.p_offset, s.p_filesz, bytes) || s.p_filesz > s.p_memsz ||
                s.p_vaddr > 64 << 20 || s.p_memsz > 64 << 20)
                return false;
            if (pass)
                memcpy(p->image + s.p_vaddr, object + s.p_offset, s.p_filesz);
            else if (s.p_vaddr + s.p_memsz > p->bytes)
                p->bytes = s.p_vaddr + s.p_memsz;
        }
        if (!pass && !(p->image = calloc(1, p->bytes + 1)))
            return false;
    }
    return true;
}

static bool load_sections(isa_program *p, const uint8_t *object, size_t bytes, const Elf64_Ehdr *h)
{
    for (int pass = 0; pass < 2; pass++) // kernels are known after the notes
        for (int i = 0; i < h->e_shnum; i++) {
            Elf64_Shdr s, names;
            memcpy(&s, object + h->e_shoff + (size_t) i * sizeof(s), sizeof(s));
            if (s.sh_type == SHT_NOBITS || !is_inside(s.sh_offset, s.sh_size, bytes))
                continue;
            if (!pass && s.sh_type == SHT_NOTE && !take_notes(p, object + s.sh_offset, s.sh_size))
                return false;
            if (!pass || s.sh_type != SHT_SYMTAB || s.sh_link >= h->e_shnum)
                continue;
            memcpy(&names, object + h->e_shoff + s.sh_link * sizeof(names), sizeof(names));
            if (is_inside(names.sh_offset, names.sh_size, bytes))
                take_symbols(p, object, &s, &names);
        }
    return p->kernels != NULL;
}

// The text of the decoder, for the bytes of the object.
static bool disassemble(isa_program *p, const void *object, size_t bytes)
{
    char path[] = "/tmp/isa_object_XXXXXX", command[120];
    size_t n = 0, room = 1 << 20, got;
    FILE *f = NULL, *out = NULL;
    const int fd = mkstemp(path);
    if (fd < 0 || !(f = fdopen(fd, "w")))
        return false;
    const bool is_written = fwrite(object, 1, bytes, f) == bytes;
    snprintf(command, sizeof(command), "llvm-objdump-19 -d --no-show-raw-insn %s", path);
    if (!fclose(f) && is_written && (p->text = malloc(room)) && (out = popen(command, "r")))
        while ((got = fread(p->text + n, 1, room - n - 1, out)) > 0) {
            char *more = (n += got) + 1 < room ? p->text : realloc(p->text, room *= 2);
            if (!more)
                break;
            p->text = more;
        }
    remove(path);
    if (!out || pclose(out) || !n)
        return false;
    p->text[n] = 0;
    return true;
}

bool isa_program_load(isa_program *p, const void *object, size_t bytes, char err[400])
{
    Elf64_Ehdr h;
    *p = (isa_program){ .bytes = 0 };
    if (bytes < sizeof(h)) {
        snprintf(err, 400, "no code object");
        return false;
    }
    memcpy(&h, object, sizeof(h));
    if (memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_machine != EM_AMD_GPU ||
        !is_inside(h.e_phoff, (uint64_t) h.e_phnum * sizeof(Elf64_Phdr), bytes) ||
        !is_inside(h.e_shoff, (uint64_t) h.e_shnum * sizeof(Elf64_Shdr), bytes) ||
        !load_segments(p, object, bytes, &h) || !load_sections(p, object, bytes, &h))
        snprintf(err, 400, "no code object of an AMD GPU");
    else if (!disassemble(p, object, bytes))
        snprintf(err, 400, "llvm-objdump-19 does not take it apart");
    else if (isa_decode(p, err))
        return true;
    isa_program_release(p);
    return false;
}

void isa_program_release(isa_program *p)
{
    for (isa_kernel *k = p->kernels, *next; k; k = next) {
        next = k->next;
        free(k->args);
        free(k);
    }
    free(p->image);
    free(p->insns);
    free(p->text);
    *p = (isa_program){ .bytes = 0 };
}

const isa_kernel *isa_kernel_find(const isa_program *p, const char *name)
{
    for (const isa_kernel *k = p->kernels; k; k = k->next)
        if (!strcmp(k->name, name))
            return k;
    return NULL;
}

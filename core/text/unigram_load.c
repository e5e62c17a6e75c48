// Reads SentencePiece models: spiece.model (sentencepiece_model.proto) and models given in parts.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/text/proto.h"
#include "core/text/unigram_priv.h"

#define QUEUE 16 // pieces read ahead, so that the table's memory is there when they are added

typedef struct loader {
    nino_unigram *u;
    const char *name;
    nino_error *err;
    bool has_bytes;
    nino_piece queue[QUEUE];
    uint64_t hash[QUEUE];
    uint32_t n_queued, n_added; // ever
} loader;

static nino_status unigram_load_bad(const loader *l, const char *what)
{
    return nino_fail_kind(l->err, NINO_ERR_FORMAT, "schema", l->name, "%s", what);
}

static nino_status unigram_load_no_memory(const loader *l)
{
    return nino_fail(l->err, NINO_ERR_NOMEM, l->name, "out of memory");
}

// ---- pieces ----------------------------------------------------------------------------------

static nino_status add_byte(loader *l, const nino_piece *p, int32_t id)
{
    const int byte = nino_unigram_byte(p->text, p->len);
    if (byte < 0)
        return unigram_load_bad(l, "a byte piece is not named <0x00>...<0xFF>");
    l->u->bytes[byte] = id;
    l->has_bytes = true;
    return NINO_OK;
}

static nino_status add_piece(loader *l, const nino_piece *p, uint64_t hash)
{
    nino_unigram *u = l->u;
    bool is_new = true;
    const int32_t id = u->size;
    if (!p->len || p->len > NINO_UNIGRAM_MAX_PIECE)
        return nino_fail_kind(l->err, NINO_ERR_FORMAT, "schema", l->name,
                              "piece %d is empty or longer than %d bytes", (int) id,
                              NINO_UNIGRAM_MAX_PIECE);
    if (!isfinite(p->score))
        return unigram_load_bad(l, "a score is not a finite number");
    if (id == NINO_UNIGRAM_MAX_PIECES)
        return nino_fail_kind(l->err, NINO_ERR_FORMAT, "limit", l->name, "more than %d pieces",
                              NINO_UNIGRAM_MAX_PIECES);
    u->size++;
    switch (p->type) {
    case NINO_PIECE_UNKNOWN:
        if (u->unk >= 0)
            return unigram_load_bad(l, "it has two unknown pieces");
        u->unk = id;
        return NINO_OK;
    case NINO_PIECE_CONTROL: return NINO_OK;
    case NINO_PIECE_BYTE: return add_byte(l, p, id);
    case NINO_PIECE_NORMAL:
        if (p->score < u->min_score)
            u->min_score = p->score;
        if (p->score > u->max_score)
            u->max_score = p->score;
        break;
    case NINO_PIECE_USER:
    case NINO_PIECE_UNUSED: break;
    default: return unigram_load_bad(l, "a piece has an unknown type");
    }
    if (!nino_unigram_add(u, hash, p->text, p->len, p->score, id, p->type, &is_new))
        return unigram_load_no_memory(l);
    return is_new
               ? NINO_OK
               : nino_fail_kind(
                     l->err, NINO_ERR_FORMAT, "dup", l->name, "pieces %d and %d are the same",
                     (int) u->scored[nino_strings_find(&u->pieces, p->text, p->len)].id, (int) id);
}

static nino_status add_queued(loader *l, uint32_t keep)
{
    nino_status st = NINO_OK;
    for (; !st && l->n_queued - l->n_added > keep; l->n_added++)
        st = add_piece(l, &l->queue[l->n_added % QUEUE], l->hash[l->n_added % QUEUE]);
    return st;
}

static nino_status queue_piece(loader *l, const nino_piece *p)
{
    const uint32_t k = l->n_queued % QUEUE;
    const size_t len = p->len <= NINO_UNIGRAM_MAX_PIECE ? p->len : 0; // else it is refused
    l->queue[k] = *p;
    l->hash[k] = nino_strings_hash(NINO_STRINGS_HASH, p->text, len);
    nino_strings_prefetch(&l->u->pieces, l->hash[k]);
    l->n_queued++;
    return add_queued(l, QUEUE - 1);
}

static nino_status unigram_load_begin(loader *l, const char *name, nino_error *err)
{
    *l = (loader){ .u = nino_unigram_create(), .name = name, .err = err };
    if (!l->u)
        return unigram_load_no_memory(l);
    memset(l->u->bytes, 0xff, sizeof(l->u->bytes)); // -1
    return NINO_OK;
}

static nino_status unigram_load_finish(loader *l, nino_status st, nino_unigram **out)
{
    nino_unigram *u = l->u;
    if (!st && (u->unk < 0 || !u->pieces.n))
        st = unigram_load_bad(l, u->unk < 0 ? "it has no unknown piece" : "it has no pieces");
    for (int i = 0; !st && u->is_byte_fallback && i < 256; i++)
        if (u->bytes[i] < 0)
            st = unigram_load_bad(
                l, "bytes are to stand for unknown characters, but some byte pieces are missing");
    if (st)
        nino_unigram_destroy(&l->u);
    else
        *out = u;
    return st;
}

nino_status nino_unigram_from_parts(const nino_unigram_parts *parts, const char *name,
                                    nino_unigram **out, nino_error *err)
{
    loader l;
    size_t bytes = 0;
    nino_status st = unigram_load_begin(&l, name, err);
    if (st)
        return st;
    for (int i = 0; i < parts->n_pieces; i++)
        bytes += parts->pieces[i].len;
    if (!nino_strings_reserve(&l.u->pieces, (uint32_t) parts->n_pieces, bytes))
        st = unigram_load_no_memory(&l);
    for (int i = 0; i < parts->n_pieces && !st; i++)
        st = queue_piece(&l, &parts->pieces[i]);
    if (!st)
        st = add_queued(&l, 0);
    if (!st)
        st = nino_charsmap_load(&l.u->charsmap, parts->charsmap, parts->n_charsmap, name, err);
    l.u->no_dummy_prefix = parts->no_dummy_prefix;
    l.u->keep_spaces = parts->keep_spaces;
    l.u->no_escape = parts->no_escape;
    l.u->is_byte_fallback = parts->is_byte_fallback;
    return unigram_load_finish(&l, st, out);
}

// ---- spiece.model ----------------------------------------------------------------------------

enum { MODEL_PIECES = 1, MODEL_TRAINER = 2, MODEL_NORMALIZER = 3 };
enum { PIECE_TEXT = 1, PIECE_SCORE = 2, PIECE_TYPE = 3 };
enum { TRAINER_MODEL_TYPE = 3, TRAINER_SUFFIX = 24, TRAINER_BYTE_FALLBACK = 35 };
enum {
    NORMALIZER_CHARSMAP = 2,
    NORMALIZER_PREFIX = 3,
    NORMALIZER_SPACES = 4,
    NORMALIZER_ESCAPE = 5
};

static nino_status unigram_load_broken(const loader *l)
{
    return nino_fail_kind(l->err, NINO_ERR_FORMAT, "syntax", l->name,
                          "it is no SentencePiece model, or a damaged one");
}

static nino_status read_piece(loader *l, const nino_proto_field *message)
{
    nino_proto r = nino_proto_of(message->data, message->len);
    nino_proto_field f;
    nino_piece p = { .text = "", .type = NINO_PIECE_NORMAL };
    while (nino_proto_next(&r, &f)) {
        if (f.number == PIECE_TEXT && f.wire == 2) {
            p.text = (const char *) f.data;
            p.len = f.len;
        } else if (f.number == PIECE_SCORE && nino_proto_float(&f, &p.score)) {
            continue;
        } else if (f.number == PIECE_TYPE && f.wire == 0) {
            p.type = f.value <= NINO_PIECE_BYTE ? (nino_piece_type) f.value : 0;
        }
    }
    if (r.is_bad)
        return unigram_load_broken(l);
    return queue_piece(l, &p);
}

static nino_status read_trainer(loader *l, const nino_proto_field *message)
{
    nino_proto r = nino_proto_of(message->data, message->len);
    nino_proto_field f;
    while (nino_proto_next(&r, &f)) {
        if (f.wire != 0)
            continue;
        if (f.number == TRAINER_MODEL_TYPE && f.value != 1)
            return nino_fail_kind(l->err, NINO_ERR_UNSUPPORTED, "model", l->name,
                                  "only unigram models are read, this is type %u",
                                  (unsigned) f.value);
        if (f.number == TRAINER_SUFFIX)
            l->u->is_suffix = f.value;
        if (f.number == TRAINER_BYTE_FALLBACK)
            l->u->is_byte_fallback = f.value;
    }
    return r.is_bad ? unigram_load_broken(l) : NINO_OK;
}

static nino_status read_normalizer(loader *l, const nino_proto_field *message)
{
    nino_proto r = nino_proto_of(message->data, message->len);
    nino_proto_field f, charsmap = { 0 };
    while (nino_proto_next(&r, &f)) {
        if (f.number == NORMALIZER_CHARSMAP && f.wire == 2)
            charsmap = f;
        if (f.number == NORMALIZER_PREFIX && f.wire == 0)
            l->u->no_dummy_prefix = !f.value;
        if (f.number == NORMALIZER_SPACES && f.wire == 0)
            l->u->keep_spaces = !f.value;
        if (f.number == NORMALIZER_ESCAPE && f.wire == 0)
            l->u->no_escape = !f.value;
    }
    if (r.is_bad)
        return unigram_load_broken(l);
    nino_charsmap_release(&l->u->charsmap);
    return nino_charsmap_load(&l->u->charsmap, charsmap.data, charsmap.len, l->name, l->err);
}

// How much to reserve for the pieces, so that tables are built once.
static nino_status count_pieces(loader *l, nino_proto r)
{
    nino_proto_field f;
    size_t n = 0, bytes = 0;
    while (nino_proto_next(&r, &f))
        if (f.number == MODEL_PIECES && f.wire == 2) {
            n++;
            bytes += f.len;
        }
    if (r.is_bad)
        return unigram_load_broken(l);
    if (n <= NINO_UNIGRAM_MAX_PIECES && !nino_strings_reserve(&l->u->pieces, (uint32_t) n, bytes))
        return unigram_load_no_memory(l);
    return NINO_OK;
}

nino_status nino_unigram_from_spiece(const void *bytes, size_t n, const char *name,
                                     nino_unigram **out, nino_error *err)
{
    loader l;
    nino_proto r = nino_proto_of(bytes, n);
    nino_proto_field f;
    nino_status st = unigram_load_begin(&l, name, err);
    if (st)
        return st;
    st = count_pieces(&l, r);
    while (!st && nino_proto_next(&r, &f)) {
        if (f.wire != 2)
            continue;
        if (f.number == MODEL_PIECES)
            st = read_piece(&l, &f);
        else if (f.number == MODEL_TRAINER)
            st = read_trainer(&l, &f);
        else if (f.number == MODEL_NORMALIZER)
            st = read_normalizer(&l, &f);
    }
    if (!st)
        st = add_queued(&l, 0);
    if (!st && l.has_bytes && !l.u->is_byte_fallback)
        st = unigram_load_bad(&l, "it has byte pieces but does not use them");
    return unigram_load_finish(&l, st, out);
}

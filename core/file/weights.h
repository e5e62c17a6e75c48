// Internal: named tensors over files. The one view that models have of safetensors, .pth and
// GGUF files. Thread-safety: immutable after opening; reads use pread and may run on several
// threads.
#pragma once
#include "core/base/hash.h"
#include "core/tensor/tensor.h"

typedef struct nino_tensor_info {
    const char *name; // NUL-terminated, unique in the file
    nino_dtype dtype;
    int rank;
    int64_t dim[NINO_FILE_MAX_RANK];
    uint64_t offset, bytes; // absolute position in the file (or of the storage for .pth)
    int64_t stride[NINO_FILE_MAX_RANK]; // elements; contiguous unless is_strided
    bool is_strided;
} nino_tensor_info;

// The values of t, and of one of its rows (0: it has no rows), of whatever rank a file gave it.
int64_t nino_tensor_info_count(const nino_tensor_info *t);
int64_t nino_tensor_info_row(const nino_tensor_info *t);

typedef struct nino_meta { // one entry of __metadata__ or of the GGUF key-values, as text
    const char *key, *value;
    size_t value_len;
} nino_meta;

typedef struct nino_weights nino_weights;

// Opens a file by its content (safetensors, torch's two forms, GGUF); the extension is only used in
// messages. The header is read and checked completely; tensor data is not touched. `path` is
// trusted (use nino_file_open_below and _open_fd for names from a workflow). Errors:
// NINO_ERR_MISSING, NINO_ERR_FORMAT with the kinds of reliability rules, NINO_ERR_UNSUPPORTED for
// formats that this version only recognises.
nino_weights *nino_weights_open(const char *path, nino_error *err);
nino_weights *nino_weights_open_fd(int fd, const char *display_name,
                                   nino_error *err); // takes fd, also on failure
nino_weights *nino_weights_ref(nino_weights *w);
void nino_weights_unref(nino_weights **w);

const char *nino_weights_path(const nino_weights *w);
const char *nino_weights_format(const nino_weights *w); // "safetensors", "pth", "gguf"
uint64_t nino_weights_file_bytes(const nino_weights *w);
// Identity for caches: device, inode, size, mtime in nanoseconds.
nino_hash nino_weights_identity(const nino_weights *w);
int nino_weights_count(const nino_weights *w);
const nino_tensor_info *nino_weights_at(const nino_weights *w, int i);
// NULL if there is none of that name. O(1).
const nino_tensor_info *nino_weights_find(const nino_weights *w, const char *name);
// Bytes of the tensors whose names start with prefix, as stored; of a view that can add products,
// as the file stores them.
uint64_t nino_weights_bytes(const nino_weights *w, const char *prefix);
int nino_weights_meta_count(const nino_weights *w);
const nino_meta *nino_weights_meta_at(const nino_weights *w, int i);
const char *nino_weights_meta(const nino_weights *w, const char *key); // value or NULL

// Reads one tensor's elements, contiguous, in the file's type, into dst (nino_tensor_info.bytes).
nino_status nino_weights_read(const nino_weights *w, const nino_tensor_info *t, void *dst,
                              nino_error *err);
// Whether nino_weights_read_bytes() can read t: it is contiguous and no view changes it.
bool nino_weights_is_stored(const nino_weights *w, const nino_tensor_info *t);
// n bytes of a contiguous tensor as it is stored, from byte `at` of it on; not of a view's changed
// ones.
nino_status nino_weights_read_bytes(const nino_weights *w, const nino_tensor_info *t, uint64_t at,
                                    uint64_t n, void *dst, nino_error *err);
// The file's first n bytes; of a file, not of a view.
nino_status nino_weights_read_head(const nino_weights *w, void *dst, size_t n, nino_error *err);
// Rows first ... first + n - 1 of the outermost dimension as f32; the others are not read. dst: the
// values of n rows.
nino_status nino_weights_read_rows_f32(const nino_weights *w, const nino_tensor_info *t,
                                       int64_t first, int64_t n, float *dst, nino_error *err);
// The whole tensor as a new f32 array (rank <= 5).
nino_array *nino_weights_read_f32(const nino_weights *w, const nino_tensor_info *t,
                                  nino_error *err);

// A model that is being described will read t after the tensors named before it; reading t has
// begun, and what was named after it, up to 128 MiB, is brought in from the disk by a thread of the
// file's own. Both are hints, from any thread. The thread ends with the file.
void nino_weights_expect(nino_weights *w, const nino_tensor_info *t);
void nino_weights_read_ahead(nino_weights *w, const nino_tensor_info *t);
// Bytes of t that reading it now would have to wait for, because the page cache has not got them (0 where
// the system does not tell). *is_ahead: all of it was asked for by the thread.
uint64_t nino_weights_missing(nino_weights *w, const nino_tensor_info *t, bool *is_ahead);

// What the numbers of a scaled weight are multiplied by: 8-bit floats and integers have
// "X.scale_weight" or, in newer files, "X.weight_scale" beside X.weight, one number or one a row.
// The readers above do not apply it, views do. Integers without one are an error, and so is what
// "X.comfy_quant", or "_quantization_metadata" of the file, says and this version cannot undo.
typedef struct nino_factors {
    const nino_tensor_info *rows; // a factor a row; NULL:
    float all;                    // of every row, 1 for weights that are not scaled
} nino_factors;
nino_status nino_weights_scale(const nino_weights *w, const nino_tensor_info *t, nino_factors *out,
                               nino_error *err);
static inline bool nino_factors_any(const nino_factors *f) { return f->rows || f->all != 1; }
// Multiplies rows first ... first + n - 1 of the weight, `width` values each.
nino_status nino_factors_apply(const nino_weights *w, const nino_factors *f, int64_t first,
                               int64_t n, int64_t width, float *values, nino_error *err);

// ---- changed values ----------------------------------------------------------------------------
// A product of two small matrices that a view adds to rows row0 ... of a tensor: scale times rows
// `first` ... of up [N,r] times down [r,C..], whatever the dimensions behind the first are called.
typedef struct nino_low_rank {
    nino_weights *file; // of up and down; lives as long as the view
    const nino_tensor_info *up, *down;
    float scale;
    int64_t row0, rows, first;
} nino_low_rank;

// What a view adds to some tensors of a file: LoRA and the like (core/model/merge/lora_apply.h).
typedef struct nino_weights_change {
    void *priv;
    nino_hash identity; // of the change; the view's identity is made of both
    // Whether the tensor of that name changes.
    bool (*covers)(void *priv, const char *name);
    // values: rows row0 .. row0 + rows of tensor t as f32, to be changed in place. Any thread. t is
    // the tensor of the file, whatever its new size.
    nino_status (*apply)(void *priv, const nino_tensor_info *t, int64_t row0, int64_t rows,
                         float *values, nino_error *err);
    void (*destroy)(void *priv); // with the last reference to the view
    // Gives t, of two dimensions, more rows or columns; apply gets them as 0. NULL: none changes.
    void (*enlarge)(void *priv, const char *name, int64_t dim[2]);
    // The products that are all that changes the tensor of that name, at most max of them; 0: they
    // are more, or not all. NULL: whoever has the view wants values only.
    int (*low_rank)(void *priv, const char *name, nino_low_rank *out, int max);
    // Whoever multiplies with a covered tensor that is quantised or of 8 bits in the file has it in
    // its new values only while it does: they are made when they are needed, every time.
    bool is_made_at_use;
    // Tensors of 16 bits become f32, too, where they change, instead of being rounded.
    bool is_exact;
} nino_weights_change;

// A view of base (one reference is taken) in which the covered tensors have other values; computed
// when they are read, and rounded to the stored type where that is f32, f16 or bf16 (others become
// f32, and those, too, where c->is_exact). Takes c->priv, also on failure. NULL: out of memory.
nino_weights *nino_weights_changed(nino_weights *base, const nino_weights_change *c,
                                   nino_error *err);
// For those who multiply with t and can add products beside it: t of a view that only adds some, to
// a tensor which is not f32 and would become that. *base and *stored become the file
// and its tensor, out the products. 0: t can only be read.
int nino_weights_low_rank(nino_weights *w, const nino_tensor_info *t, nino_weights **base,
                          const nino_tensor_info **stored, nino_low_rank *out, int max);
// Whether t of a view has values that are made at each use (nino_weights_change.is_made_at_use).
bool nino_weights_is_made_at_use(const nino_weights *w, const nino_tensor_info *t);
// What a view was made of; a file itself. Borrowed.
nino_weights *nino_weights_base(nino_weights *w);

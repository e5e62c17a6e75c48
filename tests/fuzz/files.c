// What is made of a whole file: a latent of a safetensors file, a tokenizer of a GGUF file's
// metadata. What is taken is complete and can be used; what is refused says why.
#include "core/file/latent_file.h"
#include "core/text/tokenizer.h"
#include "tests/fuzz/tensors.h"
#include "tests/gguf_tokens.h"
#include "tests/text.h"

#include <sys/mman.h>

const size_t fuzz_max_len = 2048;

const char *const fuzz_words[] = { "\"latent_tensor\":",
                                   "\"latent_format_version_0\":",
                                   "\"dtype\":\"F32\"",
                                   "\"shape\":[1,1,2,2]",
                                   "\"data_offsets\":[0,16]",
                                   "GGUF",
                                   "tokenizer.ggml.model",
                                   "tokenizer.ggml.tokens",
                                   "tokenizer.ggml.scores",
                                   "tokenizer.ggml.token_type",
                                   "tokenizer.ggml.precompiled_charsmap",
                                   "tokenizer.ggml.add_space_prefix",
                                   "\xe2\x96\x81",
                                   "<0x41>",
                                   "<unk>",
                                   NULL };

static size_t latent_seed(uint8_t *buf, const char *header, size_t body)
{
    const uint64_t len = strlen(header);
    memcpy(buf, &len, 8);
    memcpy(buf + 8, header, len);
    memset(buf + 8 + len, 0x3c, body);
    return 8 + len + body;
}

// A model of a few pieces, as a GGUF file without tensors.
static size_t tokens_seed(uint8_t *buf, size_t cap)
{
    nino_buf model = { 0 }, b = { 0 };
    text_piece(&model, "<unk>", 0, 2);
    text_piece(&model, "\xe2\x96\x81", -2, 1);
    text_piece(&model, "a", -1, 1);
    text_piece(&model, "<x>", 0, 4);
    nino_buf_adds(&b, "GGUF");
    gguf_u32(&b, 3);
    gguf_u64(&b, 0);
    gguf_u64(&b, GGUF_TOKEN_KEYS);
    gguf_tokens(&b, model.data, model.len);
    CHECK(b.len <= cap);
    const size_t n = b.len;
    memcpy(buf, b.data, n);
    nino_buf_release(&model);
    nino_buf_release(&b);
    return n;
}

size_t fuzz_seed(unsigned i, uint8_t *buf, size_t cap)
{
    CHECK(cap >= 1024);
    if (i == 0)
        return latent_seed(buf,
                           "{\"latent_format_version_0\":{\"dtype\":\"F32\",\"shape\":[0],"
                           "\"data_offsets\":[0,0]},\"latent_tensor\":{\"dtype\":\"F32\","
                           "\"shape\":[1,2,2,2],\"data_offsets\":[0,32]}}",
                           32);
    if (i == 1)
        return latent_seed(buf,
                           "{\"latent_tensor\":{\"dtype\":\"BF16\",\"shape\":[1,2,3,1,2],"
                           "\"data_offsets\":[0,24]}}",
                           24);
    return i == 2 ? tokens_seed(buf, cap) : 0;
}

static void use_tokenizer(const nino_tokenizer *t)
{
    static const char *const texts[] = { "", "a <x> b", "\xe2\x96\x81\xff" };
    for (int i = 0; i < 3; i++) {
        nino_error err = { 0 };
        int32_t *ids = NULL;
        int n = 0;
        CHECK_OK(nino_tokenizer_ids(t, texts[i], &ids, &n, &err), err);
        for (int k = 0; k < n; k++) {
            CHECK(ids[k] >= 0 && ids[k] < nino_tokenizer_size(t));
            TELL(" %d", ids[k]);
        }
        free(ids);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    nino_error err = { 0 };
    nino_array *a = NULL;
    nino_tokenizer *t = NULL;
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);
    CHECK(fd >= 0 && write(fd, data, size) == (ssize_t) size);
    nino_weights *w = nino_weights_open_fd(fd, "fuzz", &err);
    if (!w) {
        CHECK(err.code && err.msg[0]);
        tell_error(&err);
        return 0;
    }
    for (int i = 0; i < nino_weights_count(w); i++)
        tell_tensor(nino_weights_at(w, i));
    if (nino_latent_load(w, &a, &err) == NINO_OK) {
        CHECK((a->shape.rank == 4 || a->shape.rank == 5) && a->bytes > 0);
        tell_bytes(a->shape.dim, (size_t) a->shape.rank * sizeof(a->shape.dim[0]));
        tell_bytes(a->data, a->bytes);
    } else {
        CHECK(!a && err.code && err.msg[0]);
        tell_error(&err);
    }
    err = (nino_error){ 0 };
    if (nino_tokenizer_from_gguf(w, &t, &err) == NINO_OK) {
        use_tokenizer(t);
    } else {
        CHECK(!t && err.code && err.msg[0]);
        tell_error(&err);
    }
    nino_array_unref(&a);
    nino_tokenizer_unref(&t);
    nino_weights_unref(&w);
    return 0;
}

// Log lines to the embedder's callback.
#include "core/base/log.h"

#include "core/base/num.h"
#include "core/base/utf8.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void nino_logf(const nino_log *log, nino_log_level level, const char *fmt, ...)
{
    char stack[1024], *heap = NULL, *text = stack;
    va_list ap;
    if (!log || !log->fn || level > log->max)
        return;
    va_start(ap, fmt);
    const int n = nino_vsnprintf(stack, sizeof(stack), fmt, ap);
    va_end(ap);
    if (n < 0)
        return;
    // Build logs are long; without memory for one its beginning has to do.
    if ((size_t) n >= sizeof(stack) && (heap = malloc((size_t) n + 1))) {
        va_start(ap, fmt);
        nino_vsnprintf(heap, (size_t) n + 1, fmt, ap);
        va_end(ap);
        text = heap;
    }
    for (char *line = text, *next; line; line = next) {
        const size_t len = strcspn(line, "\n");
        next = line[len] && line[len + 1] ? line + len + 1 : NULL;
        for (size_t i = 0; i < len; i++)
            if (line[i] == '\t')
                line[i] = ' ';
        nino_utf8_printable(line, len + 1, line, len);
        log->fn(log->priv, level, line);
    }
    free(heap);
}

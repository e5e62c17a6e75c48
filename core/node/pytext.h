// Internal: values as Python writes them: str(), repr(), str.format(), json.dumps().
#pragma once
#include "core/base/buf.h"
#include "core/base/json.h"
#include "core/node/value.h"

void nino_py_float(nino_buf *b, double v);                 // repr(): 1.0, 1e-05, 1e+16, inf
void nino_py_repr(nino_buf *b, const char *s, size_t len); // with quotes
// str() of a JSON value as Python has it: None, True, {'a': 1}. A text at the top is itself.
void nino_py_str_json(nino_buf *b, const nino_json *v);
// json.dumps(): indent 0 is one line. escape: characters beyond ASCII as \uXXXX.
void nino_py_dumps(nino_buf *b, const nino_json *v, int indent, bool escape);
// str() of a value on a link: texts, numbers, booleans, JSON. False: of another type.
bool nino_py_str(nino_buf *b, const nino_value *v);

// A value that str.format() is given under a name; v NULL: there is none.
typedef struct nino_py_arg {
    const char *name;
    const nino_value *v;
} nino_py_arg;
// text.format(**args). Errors: kind "format", with the character's number.
nino_status nino_py_format(nino_buf *b, const char *text, const nino_py_arg *args, int n,
                           nino_error *err);

// The kernels that schedules share: cl/kernels/*.cl.
#include "cl/runtime.h"

#define KERNELS(X)                                                                                 \
    X(common)                                                                                      \
    X(attention)                                                                                   \
    X(basic)                                                                                       \
    X(blas) X(blocks) X(eights) X(elt) X(image) X(move) X(norm) X(probe) X(product) X(quant) X(sums)
#define FOLDER "cl/kernels"
#define OWNER shared
#define TEXTS nino_cl_shared_kernels
#include "cl/embed.h"

// Internal: the feature map of one picture, held in bands of rows, on the device or on the host. A
// network goes through it layer by layer and band by band, and its group norms still see the whole
// map: each band's statistics are taken as it comes, and merged.
// Thread-safety: belongs to the stream it is used with.
#pragma once
#include "core/op/stream.h"

typedef struct nino_band {
    int64_t first, n;    // rows
    nino_tensor *tensor; // one of the two; on the host of a plan none
    nino_array *array;
} nino_band;

typedef struct nino_bands {
    nino_stream *s;
    bool on_host;
    int groups;      // of the norm that follows; 0: none
    int64_t h, w, c; // h: rows that are there so far, those that were dropped as well
    nino_dtype type;
    nino_tensor *stat; // with groups: [n,groups,3], of each band
    nino_band *band;
    int n, room, n_dropped;
} nino_bands;

void nino_bands_begin(nino_bands *m, nino_stream *s, bool on_host, int groups);
// The next rows of the map: [1,n,W,C], consumed.
void nino_bands_put(nino_bands *m, nino_tensor *rows);
// Rows first ... end - 1, as [1,n,W,C]; they must not be dropped.
nino_tensor *nino_bands_get(nino_bands *m, int64_t first, int64_t end);
// Bands wholly before this row are not needed any more.
void nino_bands_drop(nino_bands *m, int64_t row);
// The map's statistics as nino_group_norm_given() takes them, once it is whole. Waits for the
// device.
nino_tensor *nino_bands_stat(nino_bands *m);
void nino_bands_end(nino_bands *m); // before its stream goes

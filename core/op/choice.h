// Internal: what a planner (core/run/planner.c) asks of the ops of a node, and what they made of it.
// The ops choose for themselves what fits; a choice only narrows that, so that any of them is right.
#pragma once
#include <stdbool.h>
#include <stdint.h>

// Which weights go first where memory is short. Both take those that the node before has left first,
// the longest unused of them before the others.
typedef enum nino_evict {
    NINO_EVICT_OLDEST, // of its own: those used longest ago
    // Those used last: a node that goes over its weights again and again (steps, tiles) keeps the
    // ones that fit, where the other order would keep none until they are needed.
    NINO_EVICT_NEWEST
} nino_evict;

// 0: as the ops themselves do.
typedef struct nino_choice {
    int tile;       // most pixels of a tile's side
    int rows;       // entries of conditioning in one forward, weights may come and go
    int images;     // pictures of a batch that go through a VAE together
    int chunk;      // latent frames at once, of a VAE that is not causal
    bool is_exact;  // whole pictures for which there is no room: in exact bands instead of tiles
    bool spends;    // tiles as large as fit when weights come and go, not while they stay
    bool is_narrow; // 16-bit storage where nobody asks for a precision
    nino_evict evict;
} nino_choice;

static inline bool nino_choice_equal(const nino_choice *a, const nino_choice *b)
{
    return a->tile == b->tile && a->rows == b->rows && a->images == b->images &&
           a->chunk == b->chunk && a->is_exact == b->is_exact && a->spends == b->spends &&
           a->is_narrow == b->is_narrow && a->evict == b->evict;
}

// What the ops of a node took, and the most that they were asked for; 0: nothing was to be chosen.
typedef struct nino_taken {
    int tile, tile_most;
    int rows, rows_most;
    int images, images_most;
    int chunk, chunk_most;
    int units, others;    // parts that do not depend on each other; other devices that may do some
    uint64_t other_bytes; // what a part takes of each of those
    bool is_tiled;        // for lack of room, in tiles that differ from the whole
    bool is_exact;        // for lack of room, within rounding
    bool can_be_exact;    // it is in tiles and could be in bands
    bool can_spend;       // its tiles are as large as fit while weights stay
    bool is_narrow;       // 16-bit storage by choice
} nino_taken;

// What the files of `ninodes thumbnail` share.
#pragma once
#include "cli.h"

// Pixels, [height][width][4], alpha not premultiplied.
typedef struct thumbnail {
    int width, height;
    uint8_t *rgba;
} thumbnail;

// Frees *t, which is empty then.
void thumbnail_release(thumbnail *t);
// Draws a workflow as boxes and links, its longer side as long as told.
nino_status thumbnail_sketch(const nino_document *d, int side, thumbnail *out, nino_error *err);

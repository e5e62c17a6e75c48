// Internal: what pictures keep in EXIF: which way is up, and the workflow. ComfyUI's
// SaveAnimatedWEBP writes Model = "prompt:" + JSON, Make = "workflow:" + JSON and further ones
// downwards; other programs use UserComment.
#pragma once
#include "core/media/texts.h"

// data: a TIFF header and its directories, with or without "Exif\0\0" before it. Texts that start
// with a word and a colon get that word, in small letters, as keyword; a UserComment that is JSON
// gets "usercomment". *orientation stays as it is unless the file says 1 to 8.
nino_status nino_exif_read(const void *data, size_t len, const char *name, nino_texts *texts,
                           int *orientation, nino_error *err);

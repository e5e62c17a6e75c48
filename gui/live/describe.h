// What tooltips and read-outs say about a kernel or a scope, as Pango markup.
#pragma once
#include "plot/run_model.h"

void nino_describe_slice(NinoRun *run, const nino_event *ev, GString *text);
void nino_describe_span(NinoRun *run, int32_t span, GString *text);
// "1 KSampler › step 3/20 › unet.in": the scopes around, outermost first.
void nino_describe_path(NinoRun *run, int32_t span, GString *text);

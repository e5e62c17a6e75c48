// What the server says of itself: memory and device, what it can, metrics.
#include "core/serve/serve_priv.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static double memory_pages(int what)
{
    const long pages = sysconf(what), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (double) pages * (double) size : 0;
}

void serve_system_stats(nino_serve_call *c, const char *rest)
{
    const nino_serve *s = c->s;
    nino_buf *b = &c->body;
    char version[64];
    (void) rest;
    snprintf(version, sizeof(version), "%s+ninodes", nino_version());
    nino_buf_adds(b, "{\"system\":{");
    serve_text(b, "os", "posix");
    serve_number(b, "ram_total", memory_pages(_SC_PHYS_PAGES));
    serve_number(b, "ram_free", memory_pages(_SC_AVPHYS_PAGES));
    serve_text(b, "comfyui_version", version);
    serve_text(b, "required_frontend_version", "");
    serve_text(b, "installed_templates_version", NULL);
    serve_text(b, "required_templates_version", NULL);
    nino_buf_adds(b, ",\"comfy_package_versions\":[]");
    serve_text(b, "deploy_environment", "local");
    serve_text(b, "python_version", "none");
    serve_text(b, "pytorch_version", "none");
    nino_buf_adds(b, ",\"embedded_python\":false,\"argv\":[\"ninodes\",\"serve\"]},\"devices\":[");
    if (*s->device) {
        const double total = (double) s->mem_budget, used = (double) s->mem_used;
        const double vram = total > 0 ? total : memory_pages(_SC_PHYS_PAGES);
        nino_buf_addc(b, '{');
        serve_text(b, "name", s->device);
        serve_text(b, "type", "opencl");
        serve_number(b, "index", 0);
        serve_number(b, "vram_total", vram);
        serve_number(b, "vram_free", vram > used ? vram - used : 0);
        serve_number(b, "torch_vram_total", vram);
        serve_number(b, "torch_vram_free", vram > used ? vram - used : 0);
        nino_buf_addc(b, '}');
    }
    nino_buf_adds(b, "]}");
    serve_reply_json(c, 200);
}

void serve_features(nino_serve_call *c, const char *rest)
{
    (void) rest;
    nino_buf_addf(&c->body,
                  "{\"supports_preview_metadata\":true,\"assets\":false,\"max_upload_size\":%llu}",
                  (unsigned long long) c->s->params.max_body);
    serve_reply_json(c, 200);
}

void serve_metrics(nino_serve_call *c, const char *rest)
{
    const nino_serve *s = c->s;
    (void) rest;
    char *text =
        s->params.metrics
            ? s->params.metrics(s->params.priv, s->attach ? nino_control_queue(s->attach) : NULL)
            : NULL;
    if (!text) {
        serve_fail(c, 404, "not_found", "there are no metrics");
        return;
    }
    nino_buf_adds(&c->body, text);
    free(text);
    serve_reply(c, 200, "application/openmetrics-text; version=1.0.0; charset=utf-8");
}

// ninodes compare: how far one picture or clip is from another.
#include "../commands.h"

#include <stdlib.h>

static bool load(const options *o, const char *path, nino_picture *p, int *rc)
{
    nino_error err = { .code = NINO_OK };
    if (!nino_picture_load_frames(path, 0, p, &err))
        return true;
    report_error(o, "compare", &err, NULL);
    *rc = err.code == NINO_ERR_NOMEM ? EXIT_NOMEM : EXIT_MISSING;
    return false;
}

static void cmd_compare_tell(const options *o, const nino_picture *a, const nino_picture_diff *d)
{
    if (o->json) {
        js_envelope("compare");
        js_bool("same", !d->n_differ);
        js_int("width", a->width);
        js_int("height", a->height);
        js_int("frames", a->frames);
        js_num("nmse", d->nmse);
        js_num("psnr", d->psnr);
        js_int("max", d->most);
        js_uint("pixels", d->n_pixels);
        js_uint("differ", d->n_differ);
        js_open("first", '{');
        js_int("frame", d->frame);
        js_int("x", d->x);
        js_int("y", d->y);
        js_close('}');
        js_envelope_end();
    } else if (!d->n_differ) {
        printf("the same, pixel for pixel: %dx%d, %d frame%s\n", a->width, a->height, a->frames,
               a->frames == 1 ? "" : "s");
    } else {
        printf(
            "NMSE %.2e, PSNR %.2f dB, max %d/255; %llu of %llu pixels differ, the first at %d,%d "
            "of frame %d\n",
            d->nmse, d->psnr, d->most, (unsigned long long) d->n_differ,
            (unsigned long long) d->n_pixels, d->x, d->y, d->frame);
    }
}

int cmd_compare(const options *o)
{
    nino_picture a = { 0 }, b = { 0 };
    nino_picture_diff d;
    nino_error err = { .code = NINO_OK };
    int rc = EXIT_OK;
    char *end = NULL;
    const double least = o->psnr ? strtod(o->psnr, &end) : 0;
    if (o->psnr && (end == o->psnr || *end || !(least > 0))) {
        say("compare: --psnr needs decibels, such as 40, not %s", o->psnr);
        return EXIT_USAGE;
    }
    if (load(o, o->arg[0], &a, &rc) && load(o, o->arg[1], &b, &rc)) {
        if (nino_picture_compare(&a, &b, &d, &err)) {
            report_error(o, "compare", &err, NULL);
            rc = EXIT_RUN;
        } else {
            cmd_compare_tell(o, &a, &d);
            rc = d.n_differ && !(o->psnr && d.psnr >= least) ? EXIT_RUN : EXIT_OK;
        }
    }
    nino_picture_release(&a);
    nino_picture_release(&b);
    return rc;
}

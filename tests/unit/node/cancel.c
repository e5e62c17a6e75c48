// Nodes that compute on the processor for seconds: a cancel is seen at the next row of a blur or
// step of growth, and nothing more is done. What is counted is how often they ask.
#include "tests/node.h"

enum { H = 24, W = 16 }; // rows and columns of what they are given

static int asked, cancel_at; // the question that is answered with yes; 0: none
static volatile int cancel;

nino_status __real_nino_node_cancelled(const nino_run *r, nino_error *err);
nino_status __wrap_nino_node_cancelled(const nino_run *r, nino_error *err);
nino_status __wrap_nino_node_cancelled(const nino_run *r, nino_error *err)
{
    if (++asked == cancel_at)
        __atomic_store_n(&cancel, 1, __ATOMIC_RELAXED);
    return __real_nino_node_cancelled(r, err);
}

static nino_status try_until(int question)
{
    cancel = 0;
    asked = 0;
    cancel_at = question;
    return node_try();
}

// A node with its inputs asks at least so often; wherever it is cancelled, it does not go on.
static void check(int least)
{
    node.run.cancel = &cancel;
    CHECK_OK(try_until(0), node.err);
    const int all = asked;
    if (all < least)
        fprintf(stderr, "%s asks %d times, not %d\n", node.run.def->key, all, least);
    CHECK(all >= least);
    for (int i = 1; i <= all; i++) {
        CHECK(try_until(i) == NINO_ERR_CANCELLED && node.err.code == NINO_ERR_CANCELLED);
        CHECK(asked == i && !node.out[0]);
    }
    CHECK_OK(try_until(0), node.err);
}

static void give_picture(void)
{
    node_give("image", node_image(node_ramp(SHAPE(2, H, W, 3), 1e-4)));
}
static void give_mask(void) { node_give("mask", node_mask(node_ramp(SHAPE(2, H, W), 1e-3))); }

int main(void)
{
    node_open();
    // Two pictures, the rows of two directions.
    node_new("ImageBlur");
    node_set("blur_radius", "5");
    give_picture();
    check(2 * 2 * H);
    node_new("ImageSharpen");
    give_picture();
    check(2 * 2 * H);
    node_new("Canny");
    give_picture();
    check(2 * 2 * H);
    // Two masks, rows and columns.
    node_new("MaskBlur+");
    give_mask();
    check(2 * (H + W));
    node_new("MaskSmooth+");
    node_set("amount", "7");
    give_mask();
    check(2 * (H + W));
    // Nine steps each; three times rows and columns.
    node_new("GrowMaskWithBlur");
    node_set("expand", "9");
    node_set("blur_radius", "2");
    give_mask();
    check(2 * (9 + 3 * (H + W)));
    // The first changes in each step.
    node_new("GrowMask");
    node_set("expand", "9");
    give_mask();
    check(2 * 9);
    node_close();
    return 0;
}

// Latent nodes: values worked out by hand from ComfyUI's definitions.
#include "tests/node.h"

static nino_latent *with(const char *port, nino_array *samples)
{
    return &node_give(port, node_latent(samples))->u.latent;
}

static int64_t *indices(int64_t a, int64_t b)
{
    int64_t *v = malloc(2 * sizeof(*v));
    CHECK(v);
    v[0] = a;
    v[1] = b;
    return v;
}

static const nino_latent *got(void) { return &node.out[0]->u.latent; }

static void composite(void)
{
    node_new("LatentComposite");
    with("samples_to", node_array(SHAPE(1, 3, 4, 1), NULL, 0));
    with("samples_from", A(SHAPE(1, 2, 2, 1), 1, 2, 3, 4));
    node_set("x", "16");
    node_set("y", "15"); // one cell
    node_go();
    EXPECT(node_out_samples(0), SHAPE(1, 3, 4, 1), 0, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 3, 4);
    node_set("x", "24"); // cut off at the right
    node_go();
    EXPECT(node_out_samples(0), SHAPE(1, 3, 4, 1), 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 3);
    node_set("x", "800"); // wholly outside: nothing
    node_go();
    EXPECT(node_out_samples(0), SHAPE(1, 3, 4, 1), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
}

// Fades over two cells, but not on edges that lie on the destination's.
static void feather(void)
{
    node_new("LatentComposite");
    with("samples_to", node_array(SHAPE(1, 1, 6, 1), NULL, 0));
    with("samples_from", A(SHAPE(1, 1, 4, 1), 1, 1, 1, 1));
    node_set("feather", "16");
    node_set("x", "8");
    node_go();
    EXPECT(node_out_samples(0), SHAPE(1, 1, 6, 1), 1e-6f, 0, 0.5f, 1, 1, 0.5f, 0);
    node_set("x", "16"); // its right edge is the destination's
    node_go();
    EXPECT(node_out_samples(0), SHAPE(1, 1, 6, 1), 1e-6f, 0, 0, 0.5f, 1, 1, 1);
    // A fade of four cells over one of two: both lines are scaled twice from each side that fades.
    // Left: 1/4, 2/4 (then nothing). Right: cell 1 by 1/4, cell 0 by 2/4, then index -1 is nobody's
    // and -2 is cell 0 again by 4/4.
    with("samples_from", A(SHAPE(1, 1, 2, 1), 1, 1));
    node_set("feather", "32");
    node_go();
    EXPECT(node_out_samples(0), SHAPE(1, 1, 6, 1), 1e-6f, 0, 0, 0.125f, 0.125f, 0, 0);
}

static void composite_batches(void)
{
    node_new("LatentComposite");
    with("samples_to", node_array(SHAPE(2, 1, 1, 1), NULL, 0));
    with("samples_from", A(SHAPE(1, 1, 1, 1), 5));
    node_go(); // one for all
    EXPECT(node_out_samples(0), SHAPE(2, 1, 1, 1), 0, 5, 5);
    with("samples_from", A(SHAPE(3, 1, 1, 1), 5, 6, 7));
    node_fails("shape", "samples_from");
    with("samples_from", A(SHAPE(1, 1, 1, 2), 5, 6));
    node_fails("shape", "samples_from"); // other channels
}

static void masked(void)
{
    node_new("LatentCompositeMasked");
    with("destination", A(SHAPE(3, 1, 2, 1), 10, 10, 20, 20, 30, 30));
    with("source", A(SHAPE(2, 1, 1, 1), 1, 2));
    node_set("x", "8");
    node_go(); // the source's batch goes round
    EXPECT(node_out_samples(0), SHAPE(3, 1, 2, 1), 0, 10, 1, 20, 2, 30, 1);
    node_give("mask", node_mask(A(SHAPE(1, 1, 1), 0.25f)));
    node_go();
    EXPECT(node_out_samples(0), SHAPE(3, 1, 2, 1), 1e-6f, 10, 7.75f, 20, 15.5f, 30, 22.75f);
    // scaled to the destination; the mask is scaled to the source: 2 rows to 1 is their mean
    node_set("x", "0");
    node_set("resize_source", "true");
    node_give("mask", node_mask(A(SHAPE(1, 2, 1), 0, 1)));
    node_go();
    EXPECT(node_out_samples(0), SHAPE(3, 1, 2, 1), 1e-6f, 5.5f, 5.5f, 11, 11, 15.5f, 15.5f);
}

static void empty(void)
{
    node_new("EmptyFlux2LatentImage");
    node_set("width", "112");
    node_set("height", "48");
    node_set("batch_size", "2");
    node_go();
    const nino_shape want = NINO_SHAPE(2, 3, 7, 128), sd3 = NINO_SHAPE(1, 128, 128, 16);
    CHECK(nino_shape_equal(&node_out_samples(0)->shape, &want));
    CHECK(node.out[0]->u.latent.factor == 16);
    node_new("EmptySD3LatentImage");
    node_go();
    CHECK(nino_shape_equal(&node_out_samples(0)->shape, &sd3));
    CHECK(node.out[0]->u.latent.factor == 8);
}

// One value of FLUX.2's latent colours one part of its cell.
static void preview(void)
{
    nino_array *z = node_ramp(SHAPE(1, 1, 2, 128), 0);
    nino_array_f32(z)[128 + 4 * 8 + 2 * 1 + 0] = 1; // second cell, channel 8, lower left
    node_new("LatentPreview");
    with("samples", z);
    node_set("scale", "1");
    node_go();
    const nino_array *p = node_out_image(0);
    const nino_shape want = NINO_SHAPE(1, 2, 4, 3);
    CHECK(nino_shape_equal(&p->shape, &want));
    for (int i = 0; i < 8; i++) { // bias and factor of red
        const double red = -0.0329 + (i == 6 ? -0.3527 : 0);
        CHECK(fabs((double) nino_array_f32(p)[3 * i] - (red + 1) / 2) < 1e-6);
    }
}

static void crop(void)
{
    node_new("LatentCrop");
    with("samples", node_ramp(SHAPE(1, 9, 10, 1), 1));
    node_set("width", "64");
    node_set("height", "64");
    node_set("x", "8");
    node_go();
    CHECK(node_out_samples(0)->shape.dim[1] == 8 && node_out_samples(0)->shape.dim[2] == 8);
    CHECK(nino_array_f32(node_out_samples(0))[0] == 1);
    CHECK(nino_array_f32(node_out_samples(0))[8] == 11);
    node_set("x", "80"); // at least 8 cells are left: from 2
    node_go();
    CHECK(nino_array_f32(node_out_samples(0))[0] == 2);
    node_set("width", "1024"); // cut at the edge
    node_set("x", "16");
    node_go();
    CHECK(node_out_samples(0)->shape.dim[2] == 8);
    // Of fewer than 8 cells the start is negative: -1 is the last column, as in Python.
    with("samples", node_ramp(SHAPE(1, 8, 7, 1), 1));
    node_set("x", "0");
    node_go();
    CHECK(node_out_samples(0)->shape.dim[2] == 1);
    CHECK(nino_array_f32(node_out_samples(0))[0] == 6);
}

static void turn(void)
{
    const char *const how[] = { "none", "90 degrees", "180 degrees", "270 degrees" };
    const float want[4][6] = {
        { 0, 1, 2, 3, 4, 5 }, { 3, 0, 4, 1, 5, 2 }, { 5, 4, 3, 2, 1, 0 }, { 2, 5, 1, 4, 0, 3 }
    };
    for (int i = 0; i < 4; i++) {
        node_new("LatentRotate");
        with("samples", node_ramp(SHAPE(1, 2, 3, 1), 1));
        node_set("rotation", how[i]);
        node_go();
        node_check(__FILE__, __LINE__, node_out_samples(0),
                   i % 2 ? SHAPE(1, 3, 2, 1) : SHAPE(1, 2, 3, 1), 0, want[i], 6);
    }
    node_new("LatentFlip");
    with("samples", node_ramp(SHAPE(1, 2, 2, 2), 1));
    node_go();
    EXPECT(node_out_samples(0), SHAPE(1, 2, 2, 2), 0, 4, 5, 6, 7, 0, 1, 2, 3);
    node_set("flip_method", "y-axis: horizontally");
    node_go();
    EXPECT(node_out_samples(0), SHAPE(1, 2, 2, 2), 0, 2, 3, 0, 1, 6, 7, 4, 5);
    // frames are turned one by one
    with("samples", node_ramp(SHAPE(1, 2, 1, 2, 1), 1));
    node_go();
    EXPECT(node_out_samples(0), SHAPE(1, 2, 1, 2, 1), 0, 1, 0, 3, 2);
}

static void join_and_cut(void)
{
    node_new("LatentConcat");
    with("samples1", A(SHAPE(2, 1, 1, 1), 1, 2));
    with("samples2", A(SHAPE(1, 1, 1, 1), 9));
    node_go();
    EXPECT(node_out_samples(0), SHAPE(2, 1, 2, 1), 0, 1, 9, 2, 9);
    node_set("dim", "-y");
    node_go();
    EXPECT(node_out_samples(0), SHAPE(2, 2, 1, 1), 0, 9, 1, 9, 2);
    node_set("dim", "t"); // no frames: channels
    node_go();
    EXPECT(node_out_samples(0), SHAPE(2, 1, 1, 2), 0, 1, 9, 2, 9);
    with("samples2", A(SHAPE(1, 1, 2, 1), 9, 9));
    node_fails("shape", "");

    node_new("LatentCut");
    with("samples", node_ramp(SHAPE(1, 2, 4, 1), 1));
    node_set("index", "1");
    node_set("amount", "2");
    node_go();
    EXPECT(node_out_samples(0), SHAPE(1, 2, 2, 1), 0, 1, 2, 5, 6);
    node_set("index", "-3");
    node_set("amount", "9");
    node_go();
    EXPECT(node_out_samples(0), SHAPE(1, 2, 3, 1), 0, 1, 2, 3, 5, 6, 7);
    node_set("index", "99"); // the last one
    node_set("dim", "y");
    node_go();
    EXPECT(node_out_samples(0), SHAPE(1, 1, 4, 1), 0, 4, 5, 6, 7);
    with("samples", node_ramp(SHAPE(1, 3, 1, 1, 1), 1));
    node_set("dim", "t");
    node_set("index", "-99");
    node_set("amount", "2");
    node_go();
    EXPECT(node_out_samples(0), SHAPE(1, 2, 1, 1, 1), 0, 0, 1);
}

static void arithmetic(void)
{
    node_new("LatentAdd");
    nino_latent *a = with("samples1", A(SHAPE(2, 1, 2, 1), 1, 2, 3, 4));
    a->noise_mask = A(SHAPE(1, 1, 1), 1);
    a->batch_index = indices(4, 5);
    with("samples2", A(SHAPE(1, 1, 1, 1), 10)); // scaled and repeated
    node_go();
    EXPECT(node_out_samples(0), SHAPE(2, 1, 2, 1), 0, 11, 12, 13, 14);
    CHECK(got()->noise_mask == a->noise_mask && got()->batch_index[1] == 5);
    with("samples2", A(SHAPE(1, 1, 1, 2), 1, 1));
    node_fails("shape", "samples2");

    node_new("LatentSubtract");
    with("samples1", A(SHAPE(1, 1, 2, 1), 1, 2));
    with("samples2", A(SHAPE(2, 1, 2, 1), 3, 5, 7, 9)); // the rest of the batch is left out
    node_go();
    EXPECT(node_out_samples(0), SHAPE(1, 1, 2, 1), 0, -2, -3);

    node_new("LatentMultiply");
    with("samples", A(SHAPE(1, 1, 2, 1), 1, -2));
    node_set("multiplier", "-1.5");
    node_go();
    EXPECT(node_out_samples(0), SHAPE(1, 1, 2, 1), 0, -1.5f, 3);
}

static void mixing(void)
{
    // Half-way between (3,0) and (0,1): direction (1,1)/sqrt 2, length 2. Zeros stay zeros.
    node_new("LatentInterpolate");
    with("samples1", A(SHAPE(1, 1, 2, 2), 3, 0, 0, 0));
    with("samples2", A(SHAPE(1, 1, 2, 2), 0, 1, 0, 0));
    node_set("ratio", "0.5");
    node_go();
    EXPECT(node_out_samples(0), SHAPE(1, 1, 2, 2), 1e-6f, 1.41421356f, 1.41421356f, 0, 0);
    // a vector without direction takes the other's, and half of its length
    with("samples2", A(SHAPE(1, 1, 2, 2), 0, 0, 0, 0));
    node_go();
    EXPECT(node_out_samples(0), SHAPE(1, 1, 2, 2), 1e-6f, 1.5f, 0, 0, 0);

    node_new("LatentBlend");
    with("samples1", A(SHAPE(1, 1, 1, 1), 4))->batch_index = indices(7, 0);
    with("samples2", A(SHAPE(2, 1, 1, 1), 8, 16));
    node_set("blend_factor", "0.75");
    node_go(); // one goes with two
    EXPECT(node_out_samples(0), SHAPE(2, 1, 1, 1), 0, 5, 7);
    CHECK(got()->batch_index[0] == 7 && got()->batch_index[1] == 7);
    with("samples1", A(SHAPE(3, 1, 1, 1), 4, 5, 6));
    node_fails("shape", "samples2");
}

static void batches(void)
{
    node_new("LatentBatch");
    nino_latent *a = with("samples1", A(SHAPE(2, 1, 1, 1), 1, 2));
    a->batch_index = indices(8, 9);
    with("samples2", A(SHAPE(1, 1, 2, 1), 4, 6)); // scaled
    node_go();
    EXPECT(node_out_samples(0), SHAPE(3, 1, 1, 1), 0, 1, 2, 5);
    CHECK(got()->batch_index[0] == 8 && got()->batch_index[2] == 0);

    node_new("LatentFromBatch");
    nino_latent *in = with("samples", A(SHAPE(4, 1, 1, 1), 1, 2, 3, 4));
    in->noise_mask = A(SHAPE(2, 1, 1), 0.5f, 1);
    node_set("batch_index", "2");
    node_set("length", "9");
    node_go(); // masks go round: entry 2 has the first one's
    EXPECT(node_out_samples(0), SHAPE(2, 1, 1, 1), 0, 3, 4);
    EXPECT(got()->noise_mask, SHAPE(2, 1, 1), 0, 0.5f, 1);
    CHECK(got()->batch_index[0] == 2 && got()->batch_index[1] == 3);
    node_set("batch_index", "60"); // the last one
    node_go();
    EXPECT(node_out_samples(0), SHAPE(1, 1, 1, 1), 0, 4);
    CHECK(got()->batch_index[0] == 3);

    node_new("RepeatLatentBatch");
    in = with("samples", A(SHAPE(2, 1, 1, 1), 1, 2));
    in->batch_index = indices(3, 5);
    in->noise_mask = A(SHAPE(2, 1, 1), 0, 1);
    node_set("amount", "2");
    node_go(); // numbers 3 to 5 are three apart
    EXPECT(node_out_samples(0), SHAPE(4, 1, 1, 1), 0, 1, 2, 1, 2);
    EXPECT(got()->noise_mask, SHAPE(4, 1, 1), 0, 0, 1, 0, 1);
    CHECK(got()->batch_index[2] == 6 && got()->batch_index[3] == 8);

    node_new("LatentBatchSeedBehavior");
    in = with("samples", A(SHAPE(2, 1, 1, 1), 1, 2));
    in->batch_index = indices(3, 5);
    node_go();
    CHECK(got()->batch_index[0] == 3 && got()->batch_index[1] == 3);
    CHECK(got()->samples == in->samples);
    node_set("seed_behavior", "random");
    node_go();
    CHECK(!got()->batch_index);
}

static void noise_mask(void)
{
    node_new("SetLatentNoiseMask");
    nino_latent *in = with("samples", A(SHAPE(2, 1, 1, 1), 1, 2));
    in->batch_index = indices(3, 5);
    in->noise_mask = A(SHAPE(1, 1, 1), 0);
    nino_value *m = node_give("mask", node_mask(A(SHAPE(1, 2, 2), 1, 0, 0, 1)));
    node_go();
    CHECK(got()->samples == in->samples && got()->noise_mask == m->u.mask);
    CHECK(got()->batch_index[1] == 5 && got()->batch_index != in->batch_index);
    CHECK(in->noise_mask != m->u.mask);
}

int main(void)
{
    node_open();
    composite();
    feather();
    composite_batches();
    masked();
    empty();
    preview();
    crop();
    turn();
    join_and_cut();
    arithmetic();
    mixing();
    batches();
    noise_mask();
    node_close();
    return 0;
}

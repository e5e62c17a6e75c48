// Batches of extensions: which entries come out, and how many.
#include "tests/unit/node/ext.h"

// n entries of 2x2, each of its own number; C 3, or none for a mask.
static nino_value *batch(nino_port_type type, int n, double first)
{
    nino_array *a = node_array(type == NINO_PORT_MASK    ? SHAPE(n, 2, 2)
                               : type == NINO_PORT_IMAGE ? SHAPE(n, 2, 2, 3)
                                                         : SHAPE(n, 2, 2, 4),
                               NULL, 0);
    const int64_t one = nino_shape_count(&a->shape) / n;
    for (int64_t i = 0; i < n * one; i++)
        nino_array_f32(a)[i] = (float) (first + (double) (i / one));
    return type == NINO_PORT_MASK    ? node_mask(a)
           : type == NINO_PORT_IMAGE ? node_image(a)
                                     : node_latent(a);
}

// The entries of an output by their numbers: "0 2 4".
static const char *entries(int i)
{
    static char text[256];
    nino_array *a = nino_ext_array(node.out[i]);
    size_t at = 0;
    text[0] = 0;
    for (int64_t k = 0; a && k < a->shape.dim[0]; k++)
        at += (size_t) snprintf(
            text + at, sizeof(text) - at, "%s%g", k ? " " : "",
            (double) nino_array_f32(a)[k * (nino_shape_count(&a->shape) / a->shape.dim[0])]);
    return text;
}

static void begin(const char *class_type, const char *pairs, int n)
{
    node_new(class_type);
    ext_set(pairs);
    const nino_port *p = &node.run.def->inputs[0];
    node_give(p->key, batch(p->type == NINO_PORT_ANY ? NINO_PORT_IMAGE : p->type, n, 0));
}

static void check_entries(int line, const char *class_type, const char *pairs, int n, int out,
                          const char *want)
{
    begin(class_type, pairs, n);
    CHECK(!node_try());
    if (strcmp(entries(out), want)) {
        fprintf(stderr, "line %d: %s (%s): %s, expected %s\n", line, class_type, pairs,
                entries(out), want);
        exit(1);
    }
}
#define TAKES(class_type, pairs, n, out, want)                                                     \
    check_entries(__LINE__, class_type, pairs, n, out, want)

static void three_types(void)
{
    static const char *const kinds[] = { "Images", "Latents", "Masks" };
    static const char *const kind[] = { "Image", "Latent", "Mask" };
    static const char *const skips[] = { "skip_first_images", "skip_first_latents",
                                         "skip_first_masks" };
    char name[64], pair[96];
    for (int i = 0; i < 3; i++) {
#define OF(format, word) (snprintf(name, sizeof(name), format, word), (const char *) name)
        begin(OF("VHS_Get%sCount", kind[i]), "", 5);
        node_go();
        CHECK_STR(ext_out(0), "5");
        TAKES(OF("VHS_Split%s", kinds[i]), "split_index=2", 5, 0, "0 1");
        CHECK_STR(ext_out(1), "2");
        CHECK_STR(entries(2), "2 3 4");
        CHECK_STR(ext_out(3), "3");
        TAKES(OF("VHS_Split%s", kinds[i]), "split_index=-1", 5, 2, "4");
        TAKES(OF("VHS_Split%s", kinds[i]), "split_index=9", 2, 0, "0 1");
        CHECK(!node.out[2] && node.out[3]->u.i == 0);
        snprintf(pair, sizeof(pair), "select_every_nth=2|%s=1", skips[i]);
        TAKES(OF("VHS_SelectEveryNth%s", kind[i]), pair, 6, 0, "1 3 5");
        CHECK_STR(ext_out(1), "3");
        TAKES(OF("VHS_Duplicate%s", kinds[i]), "multiply_by=2", 2, 0, "0 1 0 1");
        CHECK_STR(ext_out(1), "4");
        TAKES(OF("VHS_Select%s", kinds[i]), "indexes=-1, 0,1:6:2", 6, 0, "5 0 1 3 5");
        TAKES(OF("VHS_Select%s", kinds[i]), "indexes=9,1|err_if_missing=false", 3, 0, "1");
        begin(OF("VHS_Select%s", kinds[i]), "indexes=9", 3);
        node_fails("range", "indexes");
        begin(OF("VHS_Select%s", kinds[i]), "indexes=x", 3);
        node_fails("value", "indexes");
    }
}

static void merges(void)
{
    static const struct {
        const char *name, *a, *b;
        nino_port_type type;
    } all[] = { { "VHS_MergeImages", "images_A", "images_B", NINO_PORT_IMAGE },
                { "VHS_MergeLatents", "latents_A", "latents_B", NINO_PORT_LATENT },
                { "VHS_MergeMasks", "mask_A", "mask_B", NINO_PORT_MASK } };
    for (int i = 0; i < 3; i++) {
        node_new(all[i].name);
        node_give(all[i].a, batch(all[i].type, 2, 0));
        node_give(all[i].b, batch(all[i].type, 1, 7));
        node_go();
        CHECK_STR(entries(0), "0 1 7");
        CHECK_STR(ext_out(1), "3");
    }
    node_new("VHS_MergeImages"); // to the larger of 2x2 and 4x4
    node_give("images_A", batch(NINO_PORT_IMAGE, 1, 3));
    node_give("images_B", node_image(node_ramp(SHAPE(1, 4, 4, 3), 0)));
    node_set("merge_strategy", "match larger");
    node_go();
    CHECK(node_out_image(0)->shape.dim[1] == 4);
    CHECK_STR(entries(0), "3 0");
    node_set("merge_strategy", "match smaller");
    node_go();
    CHECK(node_out_image(0)->shape.dim[1] == 2);
}

static void ranges(void)
{
    TAKES("ImageFromBatch+", "start=1|length=-1", 4, 0, "1 2 3");
    TAKES("ImageFromBatch+", "start=9|length=3", 4, 0, "3");
    TAKES("MaskFromBatch+", "start=1|length=2", 4, 0, "1 2");
    TAKES("GetImageRangeFromBatch", "start_index=-1|num_frames=2", 4, 0, "2 3");
    TAKES("GetImageRangeFromBatch", "start_index=3|num_frames=2", 4, 0, "3");
    TAKES("GetImageRangeFromBatch", "start_index=-1|num_frames=9", 4, 0, "0 1 2 3");
    begin("GetImageRangeFromBatch", "start_index=4", 4);
    node_fails("range", "start_index");
    TAKES("GetLatentRangeFromBatch", "start_index=1|num_frames=-1", 4, 0, "1 2 3");
    TAKES("ReverseImageBatch", "", 3, 0, "2 1 0");
    // round(i * 5 / 2): 2.5 is rounded to the even 2
    TAKES("ImageExpandBatch+", "size=3|method=expand", 6, 0, "0 2 5");
    TAKES("ImageExpandBatch+", "size=5|method=expand", 2, 0, "0 0 1 1 1");
    TAKES("ImageExpandBatch+", "size=5|method=repeat all", 2, 0, "0 1 0 1 0");
    TAKES("ImageExpandBatch+", "size=4|method=repeat first", 2, 0, "0 0 0 1");
    TAKES("MaskExpandBatch+", "size=4|method=repeat last", 2, 0, "0 1 1 1");
    begin("BatchCount+", "", 4);
    node_go();
    CHECK_STR(ext_out(0), "4");
}

static void joins(void)
{
    node_new("ImageBatchMulti");
    ext_set("inputcount=4");
    node_give("image_1", batch(NINO_PORT_IMAGE, 2, 1));
    node_give("image_2", batch(NINO_PORT_IMAGE, 1, 5));
    node_give("image_4", batch(NINO_PORT_IMAGE, 1, 9));
    node_go();
    CHECK_STR(entries(0), "1 2 5 0 0 9"); // zeros for the third, as many as the first has
    node_new("ImageBatchMultiple+");
    node_give("image_1", batch(NINO_PORT_IMAGE, 1, 1));
    node_give("image_3", node_image(node_ramp(SHAPE(1, 4, 4, 3), 0)));
    node_go();
    CHECK_STR(entries(0), "1 0");
    node_new("MaskBatch+");
    node_give("mask1", batch(NINO_PORT_MASK, 1, 1));
    node_give("mask2", batch(NINO_PORT_MASK, 2, 3));
    node_go();
    CHECK_STR(entries(0), "1 3 4");
    static const char *const lists[][2] = { { "ImageListToImageBatch", "images" },
                                            { "ImageListToBatch+", "image" },
                                            { "easy imageListToImageBatch", "images" } };
    for (int i = 0; i < 3; i++) {
        nino_value *list = nino_value_create_list(NINO_PORT_IMAGE);
        CHECK(nino_value_append(list, batch(NINO_PORT_IMAGE, 1, 4)));
        CHECK(nino_value_append(list, batch(NINO_PORT_IMAGE, 2, 6)));
        node_new(lists[i][0]);
        node_give(lists[i][1], list);
        node_go();
        CHECK_STR(entries(0), "4 6 7");
    }
    static const char *const apart[] = { "ImageBatchToList+", "easy imageBatchToImageList" };
    for (int i = 0; i < 2; i++) {
        begin(apart[i], "", 3);
        node_go();
        CHECK(node.out[0]->is_list && node.out[0]->n_items == 3);
        CHECK(nino_array_f32(node.out[0]->item[2]->u.image)[0] == 2);
    }
}

int main(void)
{
    node_open();
    three_types();
    merges();
    ranges();
    joins();
    node_close();
    return 0;
}

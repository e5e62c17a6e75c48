// Jobs through the HTTP interface, with a worker on a thread of this process: prompts that are refused
// and why, prompts that wait and run, what clients are told, queue and history.
#include "core/base/file.h"
#include "core/serve/serve_priv.h"
#include "tests/test.h"

#include <ninodes/serve.h>
#include <ninodes/worker.h>
#include <pthread.h>
#include <time.h>

static char top[] = "/tmp/ninodes-served-XXXXXX";
static nino_error err;
static nino_serve *s;
static nino_serve_client *client;
static char heard[1 << 16]; // the types of what the client was told

static const char *at(const char *name)
{
    static char path[16][160];
    static int i;
    i = (i + 1) % 16;
    snprintf(path[i], sizeof(path[i]), "%s/%s", top, name);
    return path[i];
}

static void hear(void)
{
    const char *said;
    size_t len;
    bool is_text, is_over;
    while (client && nino_serve_next(client, &said, &len, &is_text, &is_over)) {
        const char *type = is_text ? strstr(said, "\"type\":\"") : NULL;
        CHECK(!is_text || type);
        const size_t n = strlen(heard);
        if (type && n + 80 < sizeof(heard))
            snprintf(heard + n, sizeof(heard) - n, "%.*s ", (int) strcspn(type + 8, "\""),
                     type + 8);
    }
}

// One round of what a server does until something is ready.
static void step(void)
{
    CHECK_OK(nino_serve_poll(s, &err), err);
    hear();
    nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
}

// Asks, and waits for the worker where that has to answer; the body, good until the next call.
static const char *ask(const char *line, const char *body, int status)
{
    static char text[1 << 16];
    char request[300];
    snprintf(request, sizeof(request), "%s", line);
    char *target = strchr(request, ' ');
    CHECK(target);
    *target++ = 0;
    const nino_http_request r = { NINO_HTTP_REQUEST_INIT, .method = request,
                                  .target = target,       .host = "localhost",
                                  .body = body,           .body_bytes = body ? strlen(body) : 0 };
    nino_serve_call *c = nino_serve_ask(s, &r, NULL);
    CHECK(c);
    while (!nino_serve_answered(c))
        step();
    const nino_http_answer *a = nino_serve_answered(c);
    snprintf(text, sizeof(text), "%.*s", (int) a->bytes,
             a->fd < 0 && a->body ? (char *) a->body : "");
    if (a->status != status)
        fprintf(stderr, "%s %s: %d\n%s\n", line, body ? body : "", a->status, text);
    CHECK(a->status == status);
    nino_serve_drop(&c);
    return text;
}

static void says(const char *text, const char *what)
{
    if (!strstr(text, what))
        fprintf(stderr, "%s is not in\n%s\n", what, text);
    CHECK(strstr(text, what));
}

// A prompt with ' for ".
static const char *prompt(const char *quoted, int status)
{
    char *json = test_quoted(quoted);
    const char *text = ask("POST /prompt", json, status);
    free(json);
    return text;
}

#define IMAGE(width)                                                                               \
    "'1':{'class_type':'EmptyImage','inputs':{'width':" width                                      \
    ",'height':8,'batch_size':1,'color':0}}"
#define SAVE "'2':{'class_type':'SaveImage','inputs':{'images':['1',0],'filename_prefix':'x'}}"
#define GOOD "'prompt':{" IMAGE("8") "," SAVE "}"

static void check_refused(void)
{
    static const char *const rows[][2] = {
        { "{'prompt':{" IMAGE("8") "}}", "prompt_no_outputs" },
        { "{'prompt':{" IMAGE("0") "," SAVE "}}", "value_smaller_than_min" },
        { "{'prompt':{" IMAGE("99999999") "," SAVE "}}", "value_bigger_than_max" },
        { "{'prompt':{" IMAGE("'wide'") "," SAVE "}}", "invalid_input_type" },
        { "{'prompt':{" SAVE "}}", "bad_linked_input" },
        { "{'prompt':{'2':{'class_type':'SaveImage','inputs':{'filename_prefix':'x'}}}}",
          "required_input_missing" },
        { "{'prompt':{" IMAGE("8") ",'2':{'class_type':'SaveLatent','inputs':{'samples':['1',0],"
                                   "'filename_prefix':'x'}}}}",
          "return_type_mismatch" },
        { "{'prompt':{'1':{'class_type':'ImageInvert','inputs':{'image':['3',0]}},'3':{'class_type'"
          ":"
          "'ImageInvert','inputs':{'image':['1',0]}}," SAVE "}}",
          "dependency_cycle" },
        { "{'prompt':{'1':{'class_type':'NoSuchClass','inputs':{}}," SAVE "}}",
          "missing_node_type" },
        { "{'prompt':{'1':{'class_type':'LoadImage','inputs':{'image':'none.png'}}," SAVE "}}",
          "value_not_in_list" },
        { "{'prompt':{'1':{'class_type':'ImageScaleBy','inputs':{'image':['1',0]}}}}",
          "node_errors" },
        { "{'prompt':{}}", "error" },
        { "{'prompt':[]}", "no_prompt" },
        { "{" GOOD ",'prompt_id':1}", "invalid_prompt_id" },
        { "{" GOOD ",'prompt_id':''}", "invalid_prompt_id" },
        { "{" GOOD ",'prompt_id':'a/b'}", "invalid_prompt_id" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        says(prompt(rows[i][0], 400), rows[i][1]);
}

static const char *ended(const char *id)
{
    char line[100];
    const char *text;
    snprintf(line, sizeof(line), "GET /history/%s", id);
    do {
        step();
        text = ask(line, NULL, 200);
    } while (!strcmp(text, "{}"));
    return text;
}

static void check_jobs(void)
{
    const nino_http_request join = { NINO_HTTP_REQUEST_INIT, .method = "GET", .host = "localhost",
                                     .target = "/ws?clientId=c1" };
    CHECK((client = nino_serve_join(s, &join, NULL)));
    nino_serve_hear(client, "{\"type\":\"other\"}", 16);
    nino_serve_hear(client, "{", 1);
    nino_serve_hear(client, "{\"type\":\"feature_flags\",\"data\":{}}", 34);
    says(prompt("{" GOOD ",'prompt_id':'p-1','client_id':'c1','extra_data':{'create_time':1,"
                "'client_id':'other','a':[1]}}",
                200),
         "\"prompt_id\":\"p-1\"");
    says(prompt("{" GOOD ",'prompt_id':'p-1'}", 400), "prompt_id is in use");
    const char *text = ended("p-1");
    says(text, "\"status_str\":\"success\"");
    says(text, "\"filename\":\"x_00001_.png\"");
    says(text, "\"client_id\":\"c1\"");
    while (!strstr(heard, "execution_success"))
        step();
    says(heard, "feature_flags");
    says(heard, "execution_start");
    says(heard, "executing");
    says(heard, "executed");
    says(prompt("{" GOOD ",'prompt_id':'p-2','front':true,'extra_data':[]}", 200), "p-2");
    says(prompt("{" GOOD ",'prompt_id':'p-3','number':-1}", 200), "p-3");
    char id[64] = ""; // one that the server gave
    text = prompt("{" GOOD ",'number':1,'client_id':2}", 200);
    says(text, "\"prompt_id\":\"");
    CHECK(sscanf(strstr(text, "\"prompt_id\":\""), "\"prompt_id\":\"%60[^\"]", id) == 1);
    ended("p-2");
    ended("p-3");
    ended(id); // none runs any more
}

static void lacks(const char *text, const char *what)
{
    if (strstr(text, what))
        fprintf(stderr, "%s is in\n%s\n", what, text);
    CHECK(!strstr(text, what));
}

// What waits in a paused queue: listed, in its order; taken out by name, and by nothing else.
static void check_waiting(void)
{
    serve_tell_worker(s, NINO_CONTROL_PAUSE, 0);
    says(prompt("{" GOOD ",'prompt_id':'w-1'}", 200), "w-1");
    says(prompt("{" GOOD ",'prompt_id':'w-2','number':-0.5}", 200), "w-2");
    says(prompt("{" GOOD ",'prompt_id':'w-3'}", 200), "w-3");
    const char *queue = ask("GET /queue", NULL, 200);
    says(queue, "\"queue_running\":[]");
    const char *first = strstr(queue, "\"w-1\""), *front = strstr(queue, "\"w-2\"");
    CHECK(first && front && strstr(queue, "\"w-3\""));
    says(ask("GET /prompt", NULL, 200), "\"queue_remaining\":3");
    says(ask("GET /jobs?status=pending", NULL, 200), "\"w-3\"");
    // none of these concerns a job that waits
    ask("POST /interrupt", "{\"prompt_id\":\"w-1\"}", 200);
    ask("POST /history", "{\"delete\":[\"w-1\",\"w-2\",\"w-3\"]}", 200);
    ask("POST /queue", "{\"delete\":[\"p-1\",\"none\",{}]}", 200);
    ask("POST /free", "{\"unload_models\":false,\"free_memory\":true}", 200);
    says(ask("GET /prompt", NULL, 200), "\"queue_remaining\":3");
    says(ask("GET /history", NULL, 200), "\"p-1\"");
    ask("POST /queue", "{\"delete\":[\"w-2\"]}", 200);
    while (strstr(ask("GET /queue", NULL, 200), "\"w-2\""))
        step();
    says(ask("GET /prompt", NULL, 200), "\"queue_remaining\":2");
    ask("POST /queue", "{\"clear\":true}", 200);
    while (!strstr(ask("GET /prompt", NULL, 200), "\"queue_remaining\":0"))
        step();
    says(ask("GET /history", NULL, 200), "\"p-1\"");
    serve_tell_worker(s, NINO_CONTROL_RESUME, 0);
}

static nino_serve_call *begin(const char *body)
{
    char *json = test_quoted(body);
    const nino_http_request r = { NINO_HTTP_REQUEST_INIT, .method = "POST",
                                  .target = "/prompt",    .host = "localhost",
                                  .body = json,           .body_bytes = strlen(json) };
    nino_serve_call *c = nino_serve_ask(s, &r, NULL);
    CHECK(c);
    free(json);
    return c;
}

// Who asks and hangs up has its job done all the same; its name is taken from the first moment.
static void check_gone(void)
{
    nino_serve_call *c = begin("{" GOOD ",'prompt_id':'g-1'}");
    nino_serve_call *again = begin("{" GOOD ",'prompt_id':'g-1'}");
    CHECK(!nino_serve_answered(c));
    CHECK(nino_serve_answered(again) && nino_serve_answered(again)->status == 400);
    nino_serve_drop(&again);
    nino_serve_drop(&c);
    says(ended("g-1"), "\"status_str\":\"success\"");
    nino_serve_drop(&c);
    nino_serve_drop(NULL);
}

// A job that runs is ended by its name; the one behind it is not.
static void check_interrupt(void)
{
    enum { BLURS = 100 };
    nino_buf b = { 0 };
    *heard = 0;
    nino_buf_adds(&b,
                  "{'prompt':{'1':{'class_type':'EmptyImage','inputs':{'width':192,'height':192,"
                  "'batch_size':1,'color':0}}");
    for (int i = 0; i < BLURS; i++) // a second or more: it is seen while it runs
        nino_buf_addf(&b,
                      ",'%d':{'class_type':'ImageBlur','inputs':{'image':['%d',0],'blur_radius':31,"
                      "'sigma':9.0}}",
                      i + 3, i ? i + 2 : 1);
    nino_buf_addf(&b,
                  ",'2':{'class_type':'SaveImage','inputs':{'images':['%d',0],'filename_prefix':"
                  "'x'}}},'prompt_id':'i-1','client_id':'c1'}",
                  BLURS + 2);
    CHECK(!b.failed);
    says(prompt(b.data, 200), "i-1");
    nino_buf_release(&b);
    says(prompt("{" GOOD ",'prompt_id':'i-2'}", 200), "i-2");
    const char *running = "\"queue_running\":[[";
    while (!strstr(ask("GET /queue", NULL, 200), running))
        step();
    ask("POST /queue", "{\"delete\":[\"i-1\"]}", 200); // it waits no more
    ask("POST /interrupt", "{\"prompt_id\":\"i-2\"}", 200);
    says(ask("GET /queue", NULL, 200), running);
    ask("POST /interrupt", "{\"prompt_id\":\"i-1\"}", 200);
    says(ended("i-1"), "execution_interrupted");
    says(ended("i-2"), "\"status_str\":\"success\"");
    says(heard, "execution_interrupted");
    says(ask("GET /jobs?status=cancelled", NULL, 200), "\"i-1\"");
    lacks(ask("GET /jobs?status=cancelled", NULL, 200), "\"i-2\"");
}

static void check_lists(void)
{
    do
        step();
    while (!strstr(ask("GET /prompt", NULL, 200), "\"queue_remaining\":0"));
    says(ask("GET /queue", NULL, 200), "\"queue_running\":[],\"queue_pending\":[]");
    says(ask("GET /history", NULL, 200), "\"p-2\"");
    CHECK_STR(ask("GET /history?max_items=0", NULL, 200), "{}");
    says(ask("GET /history?max_items=x&offset=-1", NULL, 200), "\"p-3\"");
    CHECK_STR(ask("GET /history?offset=2000", NULL, 200), "{}");
    CHECK_STR(ask("GET /history/none", NULL, 200), "{}");
    ask("GET /history/%zz", NULL, 400);
    ask("POST /interrupt", NULL, 200);
    ask("POST /interrupt", "{\"prompt_id\":\"p-1\"}", 200);
    ask("POST /interrupt", "{\"prompt_id\":\"none\"}", 200);
    ask("POST /interrupt", "{", 400);
    ask("POST /free", "{\"unload_models\":true,\"free_memory\":true}", 200);
    ask("POST /free", "{}", 200);
    ask("POST /free", "[", 400);
    ask("POST /queue", "{\"delete\":[\"none\",1],\"clear\":true}", 200);
    ask("POST /queue", "{\"delete\":{}}", 200);
    ask("POST /history", "{\"delete\":[\"p-1\"]}", 200);
    while (strcmp(ask("GET /history/p-1", NULL, 200), "{}") != 0)
        step();
    says(ask("GET /history", NULL, 200), "\"p-2\"");
    ask("POST /history", "{\"clear\":true}", 200);
    while (strcmp(ask("GET /history", NULL, 200), "{}") != 0)
        step();
    ask("POST /history", "x", 400);
    says(ask("GET /system_stats", NULL, 200), "\"devices\"");
}

// Pictures for programs that know nothing of workflows: the prompt, the size and the number laid into one.
static void check_images(nino_serve *images)
{
    nino_serve *with = s;
    static const char *const bad[][2] = {
        { "{}", "prompt is missing" },
        { "{'prompt':'p','n':11}", "from 1 to 10" },
        { "{'prompt':'p','n':0}", "from 1 to 10" },
        { "{'prompt':'p','n':'1'}", "from 1 to 10" },
        { "{'prompt':'p','seed':-1}", "seed is not a whole number" },
        { "{'prompt':'p','size':'8'}", "size is not WIDTHxHEIGHT" },
        { "{'prompt':'p','size':'0x8'}", "size is not WIDTHxHEIGHT" },
        { "{'prompt':'p','size':'8x8x8'}", "size is not WIDTHxHEIGHT" },
        { "{'prompt':'p','response_format':'png'}", "neither url nor b64_json" },
        { "{'prompt':'p','size':'99999x8'}", "width: 99999 is outside" },
    };
    static const char *const line = "POST /v1/images/generations";
    ask(line, "{\"prompt\":\"p\"}", 404); // no workflow was named
    s = images;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char *json = test_quoted(bad[i][0]);
        says(ask(line, json, 400), bad[i][1]);
        free(json);
    }
    const char *text =
        ask(line, "{\"prompt\":\"a \\\"cat\\\"\",\"n\":2,\"size\":\"16x24\",\"seed\":3}", 200);
    says(text,
         "{\"url\":\"http://localhost/view?filename=i_00001_.png&subfolder=&type=output\"},{");
    says(text, "i_00002_.png");
    text = ask(line,
               "{\"prompt\":\"p\",\"n\":null,\"size\":\"auto\",\"response_format\":\"b64_json\"}",
               200);
    says(text, "\"data\":[{\"b64_json\":\"iVBORw0KGgo"); // one PNG
    lacks(text, "},{");
    says(ask("GET /v1/models", NULL, 200), "\"id\":\"images.json\"");
    s = with;
    char path[200], *said = NULL;
    size_t len;
    snprintf(path, sizeof(path), "%s/t_00001_.txt", at("out"));
    CHECK_OK(nino_file_read(path, 100, false, &said, &len, &err), err);
    CHECK(!strncmp(said, "a \"cat\"", 7));
    free(said);
    CHECK_OK(nino_file_read(at("out/i_00002_.png"), 1 << 20, false, &said, &len, &err), err);
    CHECK(len > 24 && said[19] == 16 && said[23] == 24); // the size in its head
    free(said);
}

// The worker goes: whoever asks is told, also whoever has asked already.
static void check_worker_gone(nino_worker *w, pthread_t thread)
{
    serve_tell_worker(s, NINO_CONTROL_PAUSE, 0);
    says(ask("GET /prompt", NULL, 200), "queue_remaining");
    nino_serve_call *c = begin("{" GOOD ",'prompt_id':'z-1'}");
    nino_worker_stop(w);
    CHECK(!pthread_join(thread, NULL));
    nino_worker_destroy(&w);
    while (!nino_serve_answered(c)) {
        nino_serve_poll(s, &err);
        hear();
    }
    const int status = nino_serve_answered(c)->status; // it may just have been taken
    CHECK(status == 200 || status == 503);
    nino_serve_drop(&c);
    CHECK(nino_serve_poll(s, &err) != NINO_OK);
    says(prompt("{" GOOD "}", 503), "no_worker");
}

static void *run(void *worker)
{
    static nino_error e;
    CHECK_OK(nino_worker_run(worker, &e), e);
    return NULL;
}

int main(void)
{
    static const char *const dirs[] = { "in", "out", "state", "user" };
    pthread_t thread;
    CHECK(mkdtemp(top) && !setenv("XDG_RUNTIME_DIR", top, 1));
    for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
        CHECK_OK(nino_file_mkdirs(at(dirs[i]), false, &err), err);
    const nino_job_options jo = { NINO_JOB_OPTIONS_INIT, .input_dir = at("in"),
                                  .output_dir = at("out") };
    const nino_ctx_params cp = { NINO_CTX_PARAMS_INIT, .device = "ref", .cache_dir = "",
                                 .job = &jo };
    const nino_worker_params wp = { NINO_WORKER_PARAMS_INIT, .ctx = &cp, .state_dir = at("state") };
    nino_worker *w = nino_worker_create(&wp, &err);
    CHECK_OK(w ? NINO_OK : err.code, err);
    CHECK(!pthread_create(&thread, NULL, run, w));
    const nino_serve_params p = { NINO_SERVE_PARAMS_INIT, .job = &jo, .user_dir = at("user") };
    CHECK((s = nino_serve_create(&p, &err)));
    CHECK_OK(nino_serve_attach(s, nino_worker_socket(w), &err), err);
    static const char workflow[] =
        "{\"1\":{\"class_type\":\"EmptyImage\",\"inputs\":{\"width\":8,\"height\":8,\"batch_size\":"
        "1,"
        "\"color\":0}},\"2\":{\"class_type\":\"SaveImage\",\"inputs\":{\"images\":[\"1\",0],"
        "\"filename_prefix\":\"i\"}},\"3\":{\"class_type\":\"Text "
        "Multiline\",\"inputs\":{\"text\":\"\"},"
        "\"_meta\":{\"title\":\"Prompt\"}},\"4\":{\"class_type\":\"SaveText\",\"inputs\":{\"text\":"
        "[\"3\",0],"
        "\"filename_prefix\":\"t\",\"format\":\"txt\"}}}";
    CHECK_OK(nino_file_save(top, "images.json", true, workflow, sizeof(workflow) - 1, &err), err);
    const nino_serve_params ip = { NINO_SERVE_PARAMS_INIT, .job = &jo, .user_dir = at("user"),
                                   .images_workflow = at("images.json") };
    nino_serve *images = nino_serve_create(&ip, &err);
    CHECK_OK(images ? NINO_OK : err.code, err);
    CHECK_OK(nino_serve_attach(images, nino_worker_socket(w), &err), err);
    check_refused();
    check_jobs();
    check_waiting();
    check_gone();
    check_interrupt();
    check_lists();
    check_images(images);
    nino_serve_destroy(&images);
    check_worker_gone(w, thread);
    nino_serve_leave(&client);
    nino_serve_destroy(&s);
    char command[64];
    snprintf(command, sizeof(command), "rm -rf %s", top);
    CHECK(system(command) == 0);
    return 0;
}

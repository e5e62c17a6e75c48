// What the two ends of the socket rely on: which folders are trusted, what a request may say and how it is
// refused, connections that end, that do not answer, that are too long.
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/event/ring.h"
#include "core/monitor/link/attach_priv.h"
#include "core/monitor/link/queue_view.h"
#include "core/monitor/link/request.h"
#include "tests/test.h"
#include <ninodes/monitor.h>

static char root[] = "/tmp/ninodes-wire-XXXXXX";
static nino_error err;

static const char *at(const char *name)
{
    static char path[4][200];
    static int i;
    i = (i + 1) % 4;
    snprintf(path[i], sizeof(path[i]), "%s/%s", root, name);
    return path[i];
}

// ---- folders -------------------------------------------------------------------------------------

static void refused(const char *run, nino_status want, const char *says)
{
    char dir[160];
    err = (nino_error){ 0 };
    CHECK(run ? !setenv("XDG_RUNTIME_DIR", run, 1) : !unsetenv("XDG_RUNTIME_DIR"));
    const nino_status st = nino_wire_dir(dir, sizeof(dir), true, &err);
    if (st != want || !strstr(err.msg, says))
        fprintf(stderr, "%s: %d %s: %s\n", run ? run : "-", st, err.where, err.msg);
    CHECK(st == want && strstr(err.msg, says) && !strchr(err.msg, '\n'));
    nino_run_info info[4];
    CHECK(nino_attach_list(info, 4) == 0 && !nino_attach_open("12345", &err));
}

static void folders(void)
{
    char dir[160], longest[300];
    memset(longest, 'x', sizeof(longest));
    longest[0] = '/';
    longest[sizeof(longest) - 1] = 0;
    refused(longest, NINO_ERR_IO, "the path is too long");
    refused(at("none"), NINO_ERR_MISSING, "No such file");
    CHECK(close(open(at("file"), O_CREAT | O_WRONLY, 0600)) == 0);
    refused(at("file"), NINO_ERR_IO, "is not a folder (or is a link)");
    CHECK(!mkdir(at("a"), 0700) && !symlink("a", at("link")));
    refused(at("link"), NINO_ERR_IO, "is not a folder (or is a link)");
    CHECK(!chmod(at("a"), 0777));
    refused(at("a"), NINO_ERR_IO, "is writable by others");
    CHECK(!chmod(at("a"), 01777)); // as /tmp is
    CHECK(close(open(at("a/ninodes"), O_CREAT | O_WRONLY, 0600)) == 0);
    refused(at("a"), NINO_ERR_IO, "is not a folder (or is a link)");
    CHECK(!unlink(at("a/ninodes")) && !symlink("..", at("a/ninodes")));
    refused(at("a"), NINO_ERR_IO, "is not a folder (or is a link)");
    CHECK(!unlink(at("a/ninodes")) && !mkdir(at("a/ninodes"), 0755));
    refused(at("a"), NINO_ERR_IO, "is open to others (mode 755, not 700)");
    CHECK(!chmod(at("a/ninodes"), 0700) && !setenv("XDG_RUNTIME_DIR", at("a"), 1));
    if (!geteuid()) { // what belongs to another user
        CHECK(!chown(at("a/ninodes"), 1, 1));
        refused(at("a"), NINO_ERR_IO, "belongs to another user");
        CHECK(!chown(at("a/ninodes"), 0, 0) && !chown(at("a"), 1, 1));
        refused(at("a"), NINO_ERR_IO, "belongs to another user");
        CHECK(!chown(at("a"), 0, 0));
    }
    CHECK_OK(nino_wire_dir(dir, sizeof(dir), false, &err), err);
    CHECK_STR(dir, at("a/ninodes"));
    CHECK(!rmdir(dir) && nino_wire_dir(dir, sizeof(dir), false, &err) == NINO_ERR_MISSING);
    CHECK_STR(err.msg, "does not exist");
    static const char *const none[] = { NULL, "", "relative" }; // then it is below /tmp
    for (int i = 0; i < 3; i++) {
        CHECK(none[i] ? !setenv("XDG_RUNTIME_DIR", none[i], 1) : !unsetenv("XDG_RUNTIME_DIR"));
        nino_wire_dir(dir, sizeof(dir), false, NULL);
        CHECK(!strncmp(dir, "/tmp/ninodes-", 13));
    }
    CHECK(!setenv("XDG_RUNTIME_DIR", at("a"), 1));
}

// ---- who listens ---------------------------------------------------------------------------------

static int listen_at(const char *path, int backlog)
{
    struct sockaddr_un a;
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0 && nino_wire_address(&a, path) && !bind(fd, (struct sockaddr *) &a, sizeof(a)));
    CHECK(backlog < 0 || !listen(fd, backlog));
    return fd;
}

static void listeners(void)
{
    char longest[140];
    nino_run_info info[2];
    memset(longest, 'x', sizeof(longest));
    longest[0] = '/';
    longest[sizeof(longest) - 1] = 0;
    CHECK(!nino_attach_open(longest, &err) && err.code == NINO_ERR_MISSING);
    CHECK_STR(err.msg, "the path is too long");
    CHECK(!nino_attach_open(at("nobody"), &err) && err.code == NINO_ERR_MISSING);
    CHECK_STR(err.msg, "no run listens there");
    CHECK(!mkdir(at("a/ninodes"), 0700));
    CHECK(!nino_attach_open("", &err) && !strcmp(err.msg, "no run to watch"));
    CHECK(!nino_attach_open(NULL, &err) && !nino_attach_open("7", &err));
    close(listen_at(at("a/ninodes/1.sock"), 4)); // left by one that was killed
    CHECK(close(open(at("a/ninodes/x.sock.old"), O_CREAT | O_WRONLY, 0600)) == 0);
    CHECK(close(open(at("a/ninodes/s"), O_CREAT | O_WRONLY, 0600)) == 0);
    const int mute = listen_at(at("a/ninodes/2.sock"), 4); // says nothing
    CHECK(nino_attach_list(info, 2) == 0 && access(at("a/ninodes/1.sock"), F_OK));
    CHECK(!access(at("a/ninodes/2.sock"), F_OK) && !access(at("a/ninodes/s"), F_OK));
    close(mute);
}

// ---- a connection without a run behind it --------------------------------------------------------

static nino_attach *connection(int *other)
{
    int fd[2];
    nino_attach *a = calloc(1, sizeof(*a));
    CHECK(a && !socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fd));
    snprintf(a->path, sizeof(a->path), "here");
    a->fd = fd[0];
    a->hello.version = NINO_WIRE_VERSION; // it has said hello
    *other = fd[1];
    return a;
}

static void say(int fd, uint32_t type, const char *body)
{
    const nino_wire_head h = { type, (uint32_t) strlen(body) };
    CHECK(write(fd, &h, sizeof(h)) == sizeof(h));
    CHECK(write(fd, body, h.bytes) == (ssize_t) h.bytes);
}

static void calls(void)
{
    const nino_control ping = { NINO_CONTROL_INIT, .cmd = NINO_CONTROL_PING };
    nino_control_reply r;
    int other;
    nino_attach *a = connection(&other);
    CHECK(nino_control_call(a, &ping, 5, &r, &err) == NINO_ERR_IO);
    CHECK_STR(err.msg, "does not answer");
    CHECK(nino_control_call(a, &ping, 5, NULL, NULL) == NINO_ERR_IO);
    say(other, NINO_WIRE_REPLY, "{\"id\":1,\"status\":\"ok\"}"); // of the one that was given up
    say(other, NINO_WIRE_REPLY,
        "{\"id\":3,\"status\":\"ok\",\"job\":7,\"text\":\"t\",\"bytes\":9}");
    CHECK_OK(nino_control_call(a, &ping, 1000, &r, &err), err);
    CHECK(r.request == 3 && r.job == 7 && r.bytes == 9 && !strcmp(r.text, "t"));
    say(other, NINO_WIRE_REPLY,
        "{\"id\":4,\"status\":\"range\",\"where\":\"job\",\"message\":\"no\"}");
    CHECK(nino_control_call(a, &ping, 1000, NULL, &err) == NINO_ERR_RANGE);
    CHECK(!strcmp(err.where, "job") && !strcmp(err.msg, "no"));
    say(other, NINO_WIRE_REPLY, "{\"id\":5,\"status\":\"range\"}");
    CHECK(nino_control_call(a, &ping, 1000, NULL, NULL) == NINO_ERR_RANGE);
    say(other, NINO_WIRE_REPLY, "{\"id\":6,\"status\":\"odd\"}");
    CHECK(nino_control_call(a, &ping, 1000, NULL, &err) == NINO_ERR_FORMAT);
    CHECK_STR(err.msg, "the answer makes no sense");
    say(other, NINO_WIRE_REPLY, "no JSON");
    CHECK(nino_control_send(a, &ping, &err) == 7);
    nino_event ev[4];
    size_t n = 0;
    CHECK_OK(nino_attach_read(a, ev, 4, &n, &err), err);
    CHECK(nino_control_next(a, &r) && r.err.code && !nino_control_next(a, &r));
    a->requests = UINT32_MAX; // numbers begin again
    CHECK(nino_control_send(a, &ping, &err) == 1);
    close(other);
    err = (nino_error){ 0 };
    CHECK(nino_control_call(a, &ping, 1000, NULL, &err) == NINO_ERR_IO);
    CHECK_STR(err.msg, "the run has ended");
    CHECK(nino_attach_cancel(a, &err) == NINO_ERR_IO && nino_attach_cancel(a, NULL) == NINO_ERR_IO);
    nino_attach_close(&a);
    nino_attach_close(&a);
}

// What is too large is not sent; what is large goes as the other end takes it.
static void sizes(void)
{
    static char big[(16 << 20) + 100];
    int other;
    nino_attach *a = connection(&other);
    memset(big, 'x', sizeof(big));
    nino_control c = { NINO_CONTROL_INIT, .cmd = NINO_CONTROL_QUEUE, .workflow = big,
                       .workflow_bytes = sizeof(big) };
    CHECK(!nino_control_send(a, &c, &err) && err.code == NINO_ERR_ARG &&
          !strcmp(err.where, "here"));
    c.name = "mine";
    CHECK(!nino_control_send(a, &c, &err) && !strcmp(err.where, "mine"));
    CHECK(strstr(err.msg, "larger than the 16 MiB") && !nino_control_pending(a));
    c.workflow_bytes = 1 << 20;
    CHECK(nino_control_send(a, &c, &err) == 1 && nino_control_pending(a));
    close(other);
    CHECK(nino_control_call(a, &c, 1000, NULL, &err) == NINO_ERR_IO);
    nino_attach_close(&a);
}

// ---- requests ------------------------------------------------------------------------------------

static void fields(void)
{
    static const char *const wrong[][3] = {
        { "5", "request", "is not an object" },
        { "{'id':-1}", "id", "is not a whole number" },
        { "{'id':4294967296}", "id", "is not a whole number" },
        { "{'do':5}", "do", "is not a text" },
        { "{'do':'dance'}", "do", "'dance' is no request" },
        { "{'do':'ping','job':'a'}", "job", "is not a whole number" },
        { "{'do':'ping','position':1000001}", "position", "is not a whole number" },
        { "{'do':'ping','after_job':2}", "after_job", "is not a whole number" },
        { "{'do':'ping','workflow':{}}", "workflow", "is not a text" },
        { "{'do':'ping','name':1}", "name", "is not a text" },
        { "{'do':'ping','assignment':[]}", "assignment", "is not a text" },
        { "{'do':'ping','options':[]}", "options", "is not an object" },
        { "{'do':'ping','options':{'input':1}}", "input", "is not a text" },
        { "{'do':'ping','options':{'output':1}}", "output", "is not a text" },
        { "{'do':'ping','options':{'trace':1}}", "trace", "is not a text" },
        { "{'do':'ping','options':{'preview':1}}", "preview", "is not a text" },
        { "{'do':'ping','options':{'preview':'big'}}", "options.preview", "is not one of none" },
        { "{'do':'ping','options':{'precision':1}}", "precision", "is not a text" },
        { "{'do':'ping','options':{'precision':'fp3'}}", "options.precision",
          "is not one of auto" },
        { "{'do':'ping','options':{'preview_every':10001}}", "preview_every", "is not a whole" },
        { "{'do':'ping','options':{'preview_percent':101}}", "preview_percent", "is not a whole" },
        { "{'do':'ping','options':{'no_profile':2}}", "no_profile", "is not a whole" },
        { "{'do':'ping','options':{'no_metadata':2}}", "no_metadata", "is not a whole" },
        { "{'do':'ping','options':{'is_anew':true}}", "is_anew", "is not a whole" },
        { "{'do':'ping','options':{'policies_on':1.5}}", "policies_on", "is not a whole" },
        { "{'do':'ping','options':{'policies_off':-1}}", "policies_off", "is not a whole" },
        { "{'do':'ping','options':{'models':'a'}}", "options.models", "is not a list of folders" },
        { "{'do':'ping','options':{'models':['a',1]}}", "options.models",
          "is not a list of folders" },
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        nino_request r;
        char *json = test_quoted(wrong[i][0]);
        err = (nino_error){ 0 };
        const nino_status st = nino_request_parse(json, strlen(json), &r, &err);
        if (!st || strcmp(err.where, wrong[i][1]) != 0 || !strstr(err.msg, wrong[i][2]))
            fprintf(stderr, "%s: %s: %s\n", json, err.where, err.msg);
        CHECK(st && strstr(err.msg, wrong[i][2]));
        CHECK_STR(err.where, wrong[i][1]);
        nino_request_release(&r);
        free(json);
    }
}

// All that can be said comes through as it was.
static void options(void)
{
    const char *const models[] = { "/m", "/n", NULL };
    const nino_job_options o = { NINO_JOB_OPTIONS_INIT, .models = models,    .input_dir = "/i",
                                 .output_dir = "/o",    .trace_path = "/t",  .preview = 1,
                                 .precision = 2,        .preview_every = 3,  .preview_share = 0.25,
                                 .no_profile = true,    .no_metadata = true, .is_anew = true,
                                 .policies_on = 1,      .policies_off = 2 };
    const nino_control c = {
        NINO_CONTROL_INIT,     .cmd = NINO_CONTROL_QUEUE, .job = 5,    .position = 2,
        .workflow = "{}",      .workflow_bytes = 2,       .name = "n", .options = &o,
        .assignment = "1.a=2", .after_job = true
    };
    nino_buf b = { 0 };
    nino_request r;
    nino_request_write(&b, 9, &c);
    CHECK_OK(nino_request_parse(b.data, b.len, &r, &err), err);
    CHECK(r.id == 9 && r.c.cmd == c.cmd && r.c.job == 5 && r.c.position == 2 && r.c.after_job);
    CHECK(!strcmp(r.c.name, "n") && !strcmp(r.c.assignment, "1.a=2") &&
          !strcmp(r.c.workflow, "{}"));
    const nino_job_options *p = &r.options;
    CHECK(!strcmp(p->models[1], "/n") && !strcmp(p->input_dir, "/i") &&
          !strcmp(p->output_dir, "/o"));
    CHECK(!strcmp(p->trace_path, "/t") && p->preview == o.preview && p->precision == o.precision);
    CHECK(p->preview_every == 3 && p->preview_share == 0.25 && p->no_profile && p->no_metadata);
    CHECK(p->is_anew && p->policies_on == 1 && p->policies_off == 2);
    nino_request_release(&r);
    nino_buf_clear(&b);
    const nino_job_options whole = { NINO_JOB_OPTIONS_INIT, .preview_share = 7 };
    nino_request_write(
        &b, 1, &(nino_control){ NINO_CONTROL_INIT, .cmd = NINO_CONTROL_AHEAD, .options = &whole });
    CHECK_OK(nino_request_parse(b.data, b.len, &r, &err), err);
    CHECK(r.options.preview_share == 1);
    nino_request_release(&r);
    nino_buf_release(&b);
}

int main(void)
{
    char command[64];
    CHECK(mkdtemp(root));
    folders();
    listeners();
    calls();
    sizes();
    fields();
    options();
    snprintf(command, sizeof(command), "rm -r %s", root);
    CHECK(!system(command));
    return 0;
}

// Profiles of the user: they stand in for the built-in ones, and a schedule that does not exist is
// an error that names the file, not a slower run.
#include "core/op/profile.h"
#include "tests/test.h"

#include <sys/stat.h>

static nino_error err;
static char dir[] = "/tmp/ninodes-profile-XXXXXX";

// The built-in profile of that name with another schedule, as the user's own.
static void put(const char *name, const char *schedule)
{
    static const char key[] = "\"schedule\": \"";
    char path[600];
    const nino_profile_text *t = nino_profile_builtin;
    while (strcmp(t->name, name))
        t++;
    const char *from = strstr(t->json, key), *to = from ? strchr(from + sizeof(key), '"') : NULL;
    snprintf(path, sizeof(path), "%s/devices/%s.json", dir, name);
    FILE *f = fopen(path, "w");
    CHECK(f && to);
    fprintf(f, "%.*s%s%s%.*s", (int) (from - t->json), t->json, key, schedule, (int) (t->end - to),
            to);
    CHECK(!fclose(f));
}

int main(void)
{
    char devices[600];
    nino_profile p;
    CHECK(mkdtemp(dir));
    snprintf(devices, sizeof(devices), "%s/devices", dir);
    CHECK(!mkdir(devices, 0700) && !setenv("NINODES_DATA_DIR", dir, 1));

    put("pocl-cpu", "generic");
    CHECK_OK(nino_profile_load("pocl-cpu", &p, &err), err);
    CHECK_STR(p.schedule->name, "generic");
    CHECK_OK(nino_profile_find("some processor", true, &p, &err), err);
    CHECK_STR(p.schedule->name, "generic");

    put("gfx1151", "voodoo");
    const nino_profile before = p;
    CHECK(nino_profile_load("gfx1151", &p, &err) == NINO_ERR_UNKNOWN);
    CHECK(strstr(err.where, "/devices/gfx1151.json") && strstr(err.msg, "\"voodoo\""));
    for (const nino_sched *s = nino_scheds; s->name; s++)
        CHECK(strstr(err.msg, s->name));
    CHECK(nino_profile_find("Radeon 8060S", false, &p, &err) == NINO_ERR_UNKNOWN);
    CHECK(!memcmp(&before, &p, sizeof(p)));
    // Devices that it is not for do not care.
    CHECK_OK(nino_profile_find("some processor", true, &p, &err), err);
    CHECK_OK(nino_profile_find("gfx906", false, &p, &err), err);
    static const char *const files[] = { "devices/pocl-cpu.json", "devices/gfx1151.json", "devices",
                                         "" };
    for (int i = 0; i < 4; i++) {
        char path[600];
        snprintf(path, sizeof(path), "%s/%s", dir, files[i]);
        CHECK(!remove(path));
    }
    return 0;
}

// The time left follows the speed of the last steps, not that of the first.
#include "core/base/eta.h"
#include "tests/test.h"

int main(void)
{
    nino_eta e = { 0 };
    CHECK(isnan(nino_eta_left(&e, 0, 0, 100)));              // nothing is known
    CHECK(isnan(nino_eta_left(&e, 5, 0, 100)));              // nothing was done
    CHECK(fabs(nino_eta_left(&e, 10, 1, 100) - 990) < 1e-9); // one step in ten seconds
    double left = 0;
    for (int i = 2; i <= 40; i++) // then one a second
        left = nino_eta_left(&e, 10 + i, i, 100);
    CHECK(fabs(left - 60) < 1e-9); // the slow start is forgotten
    CHECK(nino_eta_left(&e, 51, 101, 100) == 0);

    nino_eta far = { .spacing = 1 }; // points in between are not kept
    for (int i = 0; i <= 1000; i++)
        left = nino_eta_left(&far, i * 0.01, i, 2000);
    CHECK(far.n == 11 && fabs(left - 10) < 1e-6);
    return 0;
}

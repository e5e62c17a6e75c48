// Student's t distribution against published tables; Welch's test by hand.
#include "core/event/student.h"
#include "tests/test.h"

#include <math.h>
#include <stdbool.h>

static bool near(double a, double b, double tol) { return fabs(a - b) <= tol; }

// Values of published tables of Student's t.
static void test_student(void)
{
    CHECK(near(nino_student_p(12.706, 1), 0.05, 1e-5) &&
          near(nino_student_p(2.228, 10), 0.05, 1e-4));
    CHECK(near(nino_student_p(2.576, 1e7), 0.01, 1e-4) && near(nino_student_p(0, 5), 1, 1e-12));
    CHECK(near(nino_student_p(-2.228, 10), 0.05, 1e-4) && nino_student_p(INFINITY, 3) == 0);
    CHECK(isnan(nino_student_p(1, 0)) && isnan(nino_student_p(NAN, 4)));
    CHECK(near(nino_student_quantile(0.05, 4), 2.776, 1e-3));
    CHECK(near(nino_student_quantile(0.01, 30), 2.750, 1e-3));
    const nino_welch w = nino_welch_test(10, 20, 4, 15, 22, 9); // by hand: t 2, df 23
    CHECK(near(w.se, 1, 1e-12) && near(w.df, 1 / (0.16 / 9 + 0.36 / 14), 1e-9));
    CHECK(near(w.p, nino_student_p(2, w.df), 1e-12) && w.low < 0 && w.high > 4);
    CHECK(isnan(nino_welch_test(1, 1, 0, 5, 1, 1).p) && nino_welch_test(3, 1, 0, 3, 1, 0).p == 1);
}

int main(void)
{
    test_student();
    return 0;
}

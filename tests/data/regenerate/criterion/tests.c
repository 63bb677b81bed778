#include <criterion/criterion.h>
#include <stdlib.h>

#ifndef CLOSER
#define CLOSER "message with <b> & co"
#endif

Test(sums, pass) { cr_assert(1 + 1 == 2); }
Test(sums, fail) { cr_assert_eq(1 + 1, 3, CLOSER); }

Test(sums, several_failures) {
  cr_expect(1 == 2);
  cr_expect(3 == 4);
}

Test(sums, skip) { cr_skip_test("not today"); }
Test(sums, disabled, .disabled = true) { cr_assert(0); }
Test(sums, crash) { *(volatile int *)0 = 1; }
Test(sums, exits) { exit(3); }
Test(other, pass) {}

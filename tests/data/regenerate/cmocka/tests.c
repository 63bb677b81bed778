#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#ifndef CLOSER
#define CLOSER "b & c"
#endif

static void pass(void **state) { assert_int_equal(1 + 1, 2); }
static void fail_int(void **state) { assert_int_equal(1 + 1, 3); }
static void fail_text(void **state) { assert_string_equal("<a>", CLOSER); }
static void skipped(void **state) { skip(); }
static void crash(void **state) { *(volatile int *)0 = 1; }
static void broken_setup(void **state) {}
static int no_database(void **state) { return -1; }

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pass),
      cmocka_unit_test(fail_int),
      cmocka_unit_test(fail_text),
      cmocka_unit_test(skipped),
      cmocka_unit_test(crash),
      cmocka_unit_test_setup(broken_setup, no_database),
  };
  return cmocka_run_group_tests_name("sample group", tests, NULL, NULL);
}

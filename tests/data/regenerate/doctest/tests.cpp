#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <stdexcept>

TEST_CASE("pass") { CHECK(1 + 1 == 2); }
TEST_CASE("fail") { CHECK_MESSAGE(1 + 1 == 3, "message with <b> & ]]>"); }

TEST_CASE("several failures") {
  CHECK(1 == 2);
  CHECK(3 == 4);
}

TEST_CASE("throws") { throw std::runtime_error("boom"); }
TEST_CASE("skip" * doctest::skip()) { CHECK(false); }
TEST_CASE("should fail" * doctest::should_fail()) { CHECK(false); }
TEST_CASE("should fail but passes" * doctest::should_fail()) { CHECK(true); }
TEST_CASE("may fail" * doctest::may_fail()) { CHECK(false); }

TEST_SUITE("group") {
  TEST_CASE("pass") { CHECK(true); }
  TEST_CASE("subcases") {
    SUBCASE("one") { CHECK(true); }
    SUBCASE("two") { CHECK(false); }
  }
  TEST_CASE_TEMPLATE("template", T, int, char) { CHECK(sizeof(T) > 1); }
}

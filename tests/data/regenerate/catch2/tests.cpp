#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#include <iostream>
#include <stdexcept>

TEST_CASE("pass", "[fast]") { REQUIRE(1 + 1 == 2); }

TEST_CASE("fail") {
  std::cout << "printed before the failure\n";
  std::cerr << "an error line\n";
  REQUIRE(1 + 1 == 3);
}

TEST_CASE("several failures") {
  CHECK(1 == 2);
  CHECK(3 == 4);
}

TEST_CASE("throws") { throw std::runtime_error("boom <b> & ]]> \x1b[31mred"); }

TEST_CASE("sections") {
  SECTION("pass") { REQUIRE(true); }
  SECTION("fail") { REQUIRE(false); }
  SECTION("outer") {
    SECTION("inner") { CHECK(true); }
  }
}

TEST_CASE("should fail", "[!shouldfail]") { REQUIRE(1 == 2); }
TEST_CASE("should fail but passes", "[!shouldfail]") { REQUIRE(1 == 1); }
TEST_CASE("may fail", "[!mayfail]") { REQUIRE(1 == 2); }
TEST_CASE("hidden", "[.]") { REQUIRE(false); }
TEST_CASE("no assertions") {}

TEMPLATE_TEST_CASE("template", "", int, char) { CHECK(sizeof(TestType) > 1); }

struct Fixture {};
TEST_CASE_METHOD(Fixture, "method", "") { CHECK(true); }

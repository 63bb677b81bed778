#define BOOST_TEST_MODULE sample
#include <boost/test/included/unit_test.hpp>
#include <boost/test/data/test_case.hpp>
#include <stdexcept>

namespace ut = boost::unit_test;

BOOST_AUTO_TEST_CASE(pass) { BOOST_TEST(1 + 1 == 2); }
BOOST_AUTO_TEST_CASE(fail) { BOOST_TEST(1 + 1 == 3, "message with <b> & ]]>"); }

BOOST_AUTO_TEST_CASE(several_failures) {
  BOOST_TEST(1 == 2);
  BOOST_TEST(3 == 4);
}

BOOST_AUTO_TEST_CASE(throws) { throw std::runtime_error("boom"); }
BOOST_AUTO_TEST_CASE(skip, *ut::disabled()) { BOOST_TEST(false); }
BOOST_AUTO_TEST_CASE(expected_failure, *ut::expected_failures(1)) { BOOST_TEST(false); }
BOOST_AUTO_TEST_CASE(no_assertions) {}

BOOST_AUTO_TEST_SUITE(group)
BOOST_AUTO_TEST_CASE(pass) { BOOST_TEST(true); }
BOOST_AUTO_TEST_CASE(depends, *ut::depends_on("fail")) { BOOST_TEST(true); }
BOOST_DATA_TEST_CASE(data, ut::data::make({1, 2})) { BOOST_TEST(sample == 1); }
BOOST_AUTO_TEST_SUITE_END()

struct NoDatabase {
  NoDatabase() { throw std::runtime_error("no database"); }
};
BOOST_FIXTURE_TEST_CASE(broken_fixture, NoDatabase) { BOOST_TEST(true); }

#include <cstdio>
#include <stdexcept>
#include <string>
#include <gtest/gtest.h>

TEST(Sums, Pass) { EXPECT_EQ(1 + 1, 2); }

TEST(Sums, Fail) { ASSERT_EQ(1 + 1, 3) << "message with <b> & ]]> é"; }

TEST(Sums, SeveralFailures) {
  EXPECT_EQ(1, 2);
  EXPECT_STREQ("a", "b");
  ADD_FAILURE() << "third";
}

TEST(Sums, Throws) { throw std::runtime_error("boom"); }

TEST(Sums, Skip) { GTEST_SKIP() << "not today"; }

TEST(Sums, DISABLED_Test) { FAIL(); }

TEST(Sums, Properties) {
  RecordProperty("ticket", "FB-5");
  RecordProperty("speed", 7);
}

TEST(DISABLED_Case, Test) { FAIL(); }

class Broken : public testing::Test {
 protected:
  void SetUp() override { FAIL() << "no database"; }
};
TEST_F(Broken, NeverRuns) {}

class BrokenSuite : public testing::Test {
 protected:
  static void SetUpTestSuite() { FAIL() << "no suite"; }
};
TEST_F(BrokenSuite, Pass) {}

class Param : public testing::TestWithParam<std::string> {};
TEST_P(Param, IsShort) { EXPECT_LT(GetParam().size(), 4u); }
INSTANTIATE_TEST_SUITE_P(Words, Param, testing::Values("one", "three"));

template <typename T>
class Typed : public testing::Test {};
using Types = testing::Types<int, char>;
TYPED_TEST_SUITE(Typed, Types);
TYPED_TEST(Typed, IsWide) { EXPECT_GT(sizeof(TypeParam), 1u); }

static int runs = 0;
TEST(Repeat, PassesAtSecondRun) { EXPECT_EQ(++runs, 2); }

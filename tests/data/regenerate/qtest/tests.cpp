#include <QtTest>
#include <stdexcept>

class Sample : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {}
  void pass() { QVERIFY(true); }
  void fail() { QCOMPARE(1 + 1, 3); }
  void failText() { QVERIFY2(false, "message with <b> & ]]> é"); }
  void skip() { QSKIP("not today"); }
  void expectedFail() {
    QEXPECT_FAIL("", "known bug 7", Continue);
    QVERIFY(false);
  }
  void unexpectedPass() {
    QEXPECT_FAIL("", "known bug 8", Continue);
    QVERIFY(true);
  }
  void warns() { qWarning("a warning"); }
  void data_data() {
    QTest::addColumn<int>("number");
    QTest::newRow("one") << 1;
    QTest::newRow("two words") << 2;
    QTest::newRow("three") << 3;
  }
  void data() {
    QFETCH(int, number);
    if (number == 3) QSKIP("three is skipped");
    QCOMPARE(number, 1);
  }
  void cleanupTestCase() {}
};

QTEST_APPLESS_MAIN(Sample)
#include "tests.moc"

package sample;

import java.util.concurrent.atomic.AtomicInteger;
import org.testng.Assert;
import org.testng.IRetryAnalyzer;
import org.testng.ITestResult;
import org.testng.SkipException;
import org.testng.annotations.DataProvider;
import org.testng.annotations.Test;

public class SampleTest {
    private static final AtomicInteger attempts = new AtomicInteger();

    public static class Twice implements IRetryAnalyzer {
        private int retries;

        @Override
        public boolean retry(ITestResult result) {
            return retries++ < 2;
        }
    }

    @Test
    public void pass() {
    }

    @Test
    public void fail() {
        Assert.assertEquals(1 + 1, 3, "message with <b> & ]]>");
    }

    @Test
    public void error() {
        throw new IllegalStateException("boom");
    }

    @Test
    public void skip() {
        throw new SkipException("not today");
    }

    @Test(enabled = false)
    public void disabled() {
    }

    @Test(dependsOnMethods = "fail")
    public void depends() {
    }

    @DataProvider
    public Object[][] words() {
        return new Object[][] {{"one"}, {"two words"}};
    }

    @Test(dataProvider = "words")
    public void parameters(String word) {
        Assert.assertEquals(word, "one");
    }

    @Test(retryAnalyzer = Twice.class)
    public void passesAtThirdAttempt() {
        int n = attempts.incrementAndGet();
        Assert.assertTrue(n >= 3, "attempt " + n + " of third");
    }

    @Test(retryAnalyzer = Twice.class)
    public void alwaysFails() {
        Assert.fail("always");
    }
}

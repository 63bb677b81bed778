package sample;

import static org.junit.Assert.assertEquals;
import static org.junit.Assume.assumeTrue;

import org.junit.Ignore;
import org.junit.Test;

public class BasicTest {
    @Test
    public void pass() {
        System.out.println("out with <b> & ]]> and \u00e9");
        System.err.println("err");
    }

    @Test
    public void fail() {
        System.out.println("printed before the failure");
        assertEquals("message with <b> & ]]>", 3, 1 + 1);
    }

    @Test
    public void error() {
        throw new IllegalStateException("boom", new RuntimeException("cause"));
    }

    @Test
    public void errorWithoutMessage() {
        throw new NullPointerException();
    }

    @Test
    @Ignore("not today")
    public void skip() {
    }

    @Test
    public void assumption() {
        assumeTrue("not here", false);
    }

    @Test(timeout = 50)
    public void timeout() throws Exception {
        Thread.sleep(5000);
    }
}

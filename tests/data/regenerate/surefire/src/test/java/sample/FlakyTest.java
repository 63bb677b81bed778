package sample;

import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.FileOutputStream;
import org.junit.Ignore;
import org.junit.Test;

public class FlakyTest {
    /** Counts the attempts of a test across processes, so that flaky tests fail on schedule. */
    static long attempt(String name) throws Exception {
        File counter = new File(System.getenv("ATTEMPTS"), name);
        try (FileOutputStream out = new FileOutputStream(counter, true)) {
            out.write('.');
        }
        System.out.println("attempt " + counter.length() + " of " + name);
        return counter.length();
    }

    @Test
    public void pass() {
    }

    @Test
    public void passesAtThirdAttempt() throws Exception {
        long n = attempt("third");
        assertTrue("attempt " + n + " of third", n >= 3);
    }

    @Test
    public void failsThenErrorsThenPasses() throws Exception {
        long n = attempt("mixed");
        assertTrue("attempt 1 of mixed", n != 1);
        if (n == 2) {
            throw new IllegalStateException("attempt 2 of mixed");
        }
    }

    @Test
    public void alwaysFails() throws Exception {
        assertTrue("attempt " + attempt("always") + " of always", false);
    }

    @Test
    public void alwaysErrors() throws Exception {
        throw new IllegalStateException("attempt " + attempt("errors") + " of errors");
    }

    @Test
    public void failsThenErrors() throws Exception {
        long n = attempt("fails-then-errors");
        assertTrue("attempt 1 of fails-then-errors", n > 1);
        throw new IllegalStateException("attempt " + n + " of fails-then-errors");
    }

    @Test
    @Ignore("not today")
    public void skip() {
    }
}

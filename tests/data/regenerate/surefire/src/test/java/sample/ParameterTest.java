package sample;

import static org.junit.Assert.assertTrue;

import java.util.Arrays;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;

@RunWith(Parameterized.class)
public class ParameterTest {
    @Parameterized.Parameters(name = "{index}: {0}")
    public static Iterable<String> words() {
        return Arrays.asList("one", "two words", "\u00fc\u2713 [x]", "three");
    }

    private final String word;

    public ParameterTest(String word) {
        this.word = word;
    }

    @Test
    public void isShort() {
        assertTrue(word.length() < 6);
    }
}

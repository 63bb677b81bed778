package sample;

import org.junit.BeforeClass;
import org.junit.Test;

public class BrokenSetupTest {
    @BeforeClass
    public static void noDatabase() {
        throw new IllegalStateException("no database");
    }

    @Test
    public void first() {
    }

    @Test
    public void second() {
    }
}

package sample;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BasicTests {
    @Test
    void pass() {
        System.out.println("printed");
    }

    @Test
    void fail() {
        assertEquals(3, 1 + 1, "message with <b> & ]]> \u001b[31mred");
    }

    @Test
    void severalFailures() {
        assertAll(() -> assertEquals(1, 2), () -> assertEquals(3, 4));
    }

    @Test
    void error() {
        throw new IllegalStateException("boom");
    }

    @Test
    @Disabled("not today")
    void skip() {
    }

    @Test
    void assumption() {
        assumeTrue(false, "not here");
    }

    @Test
    @DisplayName("a name with spaces ü✓🧪")
    void displayName() {
    }

    @ParameterizedTest
    @ValueSource(strings = {"one", "two words", "three"})
    void parameters(String word) {
        assertEquals(-1, word.indexOf(' '));
    }

    @RepeatedTest(3)
    void repeated(RepetitionInfo info) {
        assertEquals(2, info.getCurrentRepetition());
    }

    @TestFactory
    Stream<DynamicTest> dynamic() {
        return Stream.of("a", "b").map(name -> DynamicTest.dynamicTest("dynamic " + name, () -> assertEquals("a", name)));
    }

    @Nested
    class Inner {
        @Test
        void pass() {
        }
    }

    @Nested
    @DisplayName("no database")
    class BrokenSetup {
        BrokenSetup() {
            throw new IllegalStateException("no database");
        }

        @Test
        void first() {
        }
    }
}

class BrokenClassTests {
    @BeforeAll
    static void noDatabase() {
        throw new IllegalStateException("no database");
    }

    @Test
    void first() {
    }

    @Test
    void second() {
    }
}

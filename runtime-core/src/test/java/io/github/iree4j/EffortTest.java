package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Maven runs only classes and methods with certain tags at the length of the night: elsewhere a number for the night is never used. */
class EffortTest {
    /** A number of rounds or programs for the night, or the question whether it is night. */
    private static final Pattern OF_THE_NIGHT =
            Pattern.compile("Effort\\.(isLong\\(|programs\\(|rounds\\((?:[^(),]|\\([^()]*\\))*,)");

    private static final Pattern RUN_AT_NIGHT = Pattern.compile("^ *@(Tag\\(\"long\"\\)|Lincheck)$", Pattern.MULTILINE);

    private static boolean hasUnusedNumber(String source) {
        return OF_THE_NIGHT.matcher(source).find()
                && !RUN_AT_NIGHT.matcher(source).find();
    }

    @Test
    void longerTestsAtNightAreTaggedLong() throws IOException {
        List<Path> found = new ArrayList<>();
        for (Path folder : Modules.folders("src/test/java")) {
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path file :
                        files.filter(f -> f.toString().endsWith(".java")).toList()) {
                    if (hasUnusedNumber(Files.readString(file))) {
                        found.add(file);
                    }
                }
            }
        }
        assertThat(found)
                .as("tag these with \"long\", or drop the number for the night")
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"rounds(1, 2)", "rounds(a(1, 2), 3)", "rounds(\n1,\n2)", "programs(A.class, 1, 2, 3)", "isLong()"
            })
    void numbersForTheNightAreFound(String call) {
        String body = "class A { int n = Effort." + call + "; }";
        assertThat(hasUnusedNumber(body)).isTrue();
        assertThat(hasUnusedNumber("@Tag(\"long\")\n" + body)).isFalse();
        assertThat(hasUnusedNumber("@Lincheck\n" + body)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"rounds(1)", "rounds(a(1, 2))", "rounds(1) + a(1, 2)", "isBrief()"})
    void otherNumbersMayStay(String call) {
        assertThat(hasUnusedNumber("class A { int n = Effort." + call + "; }")).isFalse();
    }
}

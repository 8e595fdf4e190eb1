package io.github.iree4j.sample;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The messages explained by docs/troubleshooting.md are the messages of the code; {@code …} stands for any inserted value. */
class TroubleshootingPageTests {
    private static final Pattern ROW = Pattern.compile("(?m)^\\| (?:[A-Z0-9_]+ \\| )?`([^`]+)` \\|");
    private static final Pattern TEXT = Pattern.compile("\"((?:[^\"\\\\\n]|\\\\.)*)\"");
    private static final Pattern CONTINUATION = Pattern.compile("(?<!\")\"\\s*\\+?\\s*\"(?!\")");
    private static final Pattern INSERTED = Pattern.compile("%[-.0-9]*[a-z]|\\{}");

    @Test
    void everyMessageOccursInTheSources() throws IOException {
        String texts = texts();
        List<String> messages = ROW.matcher(Files.readString(Path.of("../docs/troubleshooting.md")))
                .results()
                .map(row -> row.group(1))
                .toList();
        assertThat(messages)
                .hasSizeGreaterThan(50)
                .allSatisfy(message ->
                        assertThat(texts.contains(message)).as(message).isTrue());
    }

    /** The texts of all main sources, in Java and C, with continued texts in a single piece. */
    private static String texts() throws IOException {
        StringBuilder texts = new StringBuilder();
        try (DirectoryStream<Path> modules = Files.newDirectoryStream(Path.of(".."), Files::isDirectory)) {
            for (Path module : modules) {
                append(module.resolve("src/main/java"), texts);
            }
        }
        append(Path.of("../native-shim/src"), texts);
        return texts.toString();
    }

    private static void append(Path folder, StringBuilder texts) throws IOException {
        if (Files.exists(folder)) {
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path file :
                        files.filter(f -> f.toString().matches(".*\\.(java|c)")).toList()) {
                    String code = CONTINUATION.matcher(Files.readString(file)).replaceAll("");
                    TEXT.matcher(code)
                            .results()
                            .forEach(text -> texts.append(
                                            INSERTED.matcher(text.group(1)).replaceAll("…"))
                                    .append('\n'));
                }
            }
        }
    }
}

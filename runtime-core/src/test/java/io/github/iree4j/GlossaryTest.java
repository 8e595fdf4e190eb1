package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Compares docs/glossary.md with the code. */
class GlossaryTest {
    private static final Pattern ROW = Pattern.compile("^\\| ([a-z][^|]*) \\| ([^|]*) \\| ([^|]*) \\|$");
    private static final Pattern TYPE = Pattern.compile("`([a-z0-9.]*[A-Z]\\w*)`");

    @Test
    void everyTermNamesATypeOrSaysWhyNot() throws IOException {
        Path glossary = Path.of("..", "docs", "glossary.md");
        assumeTrue(Files.exists(glossary), "docs/glossary.md is not beside this module");
        List<String> missing = new ArrayList<>();
        int terms = 0;
        for (String line : Files.readAllLines(glossary)) {
            Matcher row = ROW.matcher(line);
            if (!row.find()) {
                continue;
            }
            terms++;
            List<String> types =
                    TYPE.matcher(row.group(3)).results().map(r -> r.group(1)).toList();
            if (types.isEmpty() && !row.group(3).startsWith("– : ")) {
                missing.add(row.group(1) + ": names nothing");
            }
            for (String type : types) {
                String source = type.replace('.', '/') + ".java";
                if (Modules.folders("src/main/java/io/github/iree4j").stream()
                        .noneMatch(code -> Files.exists(code.resolve(source)))) {
                    missing.add(row.group(1) + ": there is no " + type);
                }
            }
        }
        assertThat(terms).as("terms").isGreaterThan(40);
        assertThat(missing).isEmpty();
    }
}

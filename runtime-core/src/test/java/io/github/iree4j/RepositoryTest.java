package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The repository is self-contained: nothing in it reads files outside of it, or paths of certain machines. */
class RepositoryTest {
    private static final Path ROOT = Path.of("..");
    private static final Set<String> MADE =
            Set.of("target", "build", ".git", ".idea", ".vscode", "modules", "node_modules");

    /** Ways out of the repository: the folder beside it, two levels up from a module, and the homes of machines. */
    private static final Pattern OUTSIDE = Pattern.compile("\\.\\./" + "shared|shared" + "/vmfb|iree4j[.]"
            + "shared|\"\\.\\./\\.\\./|[\"'(= ]/(home|root|work|Users)/");

    @Test
    void nothingNamesAPlaceOutsideOfIt() throws IOException {
        List<String> found = new ArrayList<>();
        Files.walkFileTree(ROOT, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
                return MADE.contains(directory.getFileName().toString())
                        ? FileVisitResult.SKIP_SUBTREE
                        : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                if (attributes.isRegularFile()
                        && attributes.size() < 1 << 20
                        && !MADE.contains(file.getFileName().toString())) {
                    search(file, found);
                }
                return FileVisitResult.CONTINUE;
            }
        });
        assertThat(found).isEmpty();
    }

    private static void search(Path file, List<String> found) throws IOException {
        try {
            int number = 0;
            for (String line : Files.readAllLines(file)) {
                number++;
                if (OUTSIDE.matcher(line).find()) {
                    found.add(ROOT.relativize(file) + ":" + number + ": " + line.strip());
                }
            }
        } catch (MalformedInputException e) {
            // Not a text file.
        }
    }
}

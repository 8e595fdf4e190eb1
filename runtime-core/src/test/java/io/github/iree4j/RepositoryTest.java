package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The repository is self-contained: nothing inside reads files outside, or paths of certain machines. */
class RepositoryTest {
    private static final Path ROOT = Path.of("..");
    private static final Set<String> MADE =
            Set.of("target", "build", ".git", ".idea", ".vscode", "modules", "node_modules");

    /**
     * Ways out of the repository: the folder beside the repository, two levels up from a module, and the homes of
     * machines.
     */
    private static final Pattern OUTSIDE = Pattern.compile("\\.\\./" + "shared|shared" + "/vmfb|iree4j[.]"
            + "shared|\"\\.\\./\\.\\./|[\"'(= ]/(home|root|work|Users)/");

    /** Names of devices on Windows, with any extension. */
    private static final Pattern DEVICE =
            Pattern.compile("(con|prn|aux|nul|com[0-9]|lpt[0-9])([.].*)?", Pattern.CASE_INSENSITIVE);

    /** Windows forbids the characters and a dot or a space at the end; systems spell letters beyond ASCII differently. */
    private static final Pattern PORTABLE = Pattern.compile("[ -~&&[^<>:\"|?*\\\\]]*[!-~&&[^.<>:\"|?*\\\\]]");

    /** A path has 260 characters on Windows unless long paths are enabled; the rest is for the folder of the clone. */
    private static final int LONGEST = 180;

    @Test
    void nothingNamesAPlaceOutside() throws IOException {
        List<String> found = new ArrayList<>();
        for (Path file : files(MADE)) {
            if (Files.size(file) < 1 << 20) {
                search(file, found);
            }
        }
        assertThat(found).isEmpty();
    }

    @Test
    void eachSystemCanHoldTheFiles() throws IOException {
        Set<String> made = new TreeSet<>(MADE);
        made.remove("modules"); // of fixtures
        assertThat(unfit(files(made).stream()
                        .map(file -> ROOT.relativize(file).toString().replace(File.separatorChar, '/'))
                        .toList()))
                .isEmpty();
    }

    @Test
    void unfitNamesAreFound() {
        assertThat(unfit(List.of("a/b.txt", "a/c d.txt", "constant/auxiliary.c", "a/.gitignore")))
                .isEmpty();
        assertThat(unfit(List.of("a/Kernel.c", "a/kernel.c"))).hasSize(1);
        assertThat(unfit(List.of("A/kernel.c", "a/other.c"))).hasSize(1);
        for (String path : List.of(
                "a/aux.c", "NUL", "com1/a", "a/b?", "a/b:c", "a\\b", "a./b", "a /b", "\u00fc", "x".repeat(181))) {
            assertThat(unfit(List.of(path))).as(path).hasSize(1);
        }
    }

    /** Paths, relative to the root, that a system cannot hold, or not beside others, each with the reason. */
    private static List<String> unfit(List<String> paths) {
        List<String> found = new ArrayList<>();
        Map<String, String> spelled = new HashMap<>();
        for (String path : paths) {
            if (path.length() > LONGEST) {
                found.add(path + ": longer than " + LONGEST);
            }
            for (int end = path.indexOf('/'); ; end = path.indexOf('/', end + 1)) {
                String part = end < 0 ? path : path.substring(0, end);
                String name = part.substring(part.lastIndexOf('/') + 1);
                String other = spelled.putIfAbsent(part.toLowerCase(Locale.ROOT), part);
                if (other != null && !other.equals(part)) {
                    found.add(path + ": " + other + " differs in case only");
                }
                if (!PORTABLE.matcher(name).matches() || DEVICE.matcher(name).matches()) {
                    found.add(path + ": no name on each system");
                }
                if (end < 0) {
                    break;
                }
            }
        }
        return found;
    }

    /** Checked-out files, as {@code .gitattributes} wants; a file with a zero byte is no text. */
    @Test
    void linesEndTheSameWayOnEachSystem() throws IOException {
        List<String> found = new ArrayList<>();
        for (Path file : files(MADE)) {
            byte[] bytes = Files.readAllBytes(file);
            int returns = 0;
            int ends = 0;
            boolean text = true;
            for (int i = 0; i < bytes.length && text; i++) {
                text = bytes[i] != 0;
                ends += bytes[i] == '\n' ? 1 : 0;
                returns += bytes[i] == '\n' && i > 0 && bytes[i - 1] == '\r' ? 1 : 0;
            }
            if (text && returns != (file.toString().endsWith(".cmd") ? ends : 0)) {
                found.add("%s: %d of %d lines end by a carriage return".formatted(file, returns, ends));
            }
        }
        assertThat(found).isEmpty();
    }

    private static List<Path> files(Set<String> left) throws IOException {
        List<Path> files = new ArrayList<>();
        Files.walkFileTree(ROOT, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
                return left.contains(directory.getFileName().toString())
                        ? FileVisitResult.SKIP_SUBTREE
                        : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                if (attributes.isRegularFile()
                        && !left.contains(file.getFileName().toString())) {
                    files.add(file);
                }
                return FileVisitResult.CONTINUE;
            }
        });
        return files;
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

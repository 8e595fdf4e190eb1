package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** docs/where.md names places that are declared, and tests that exist once. */
class WhereTest {
    private static final Path ROOT = Path.of("..");
    private static final Path PAGE = ROOT.resolve("docs/where.md");
    private static final Set<String> HEADS = Set.of("Rule", "Step");
    private static final Pattern ROW = Pattern.compile("^\\| ([^|]+) \\| ([^|]+) \\| ([^|]+) \\|$");
    private static final Pattern CODE = Pattern.compile("`([^`]+)`");

    /** The modifiers, annotations and type before the name in a declaration; the keyword before a call is none of these. */
    private static final String DECLARED =
            "^ {4,}(?!(?:return|throw|new|else|yield|assert|case|do) )(?:(?:@\\w+|<[^=;(){}]*>|[\\w.]+(?:<[^=;(){}]*>)?(?:\\[])*) )+";

    @Test
    void eachRuleHasAPlaceAndATest() throws IOException {
        assumeTrue(Files.exists(PAGE), "docs/where.md is not beside this module");
        List<String> tests = tests();
        List<String> wrong = new ArrayList<>();
        int rules = 0;
        for (String line : Files.readAllLines(PAGE)) {
            Matcher row = ROW.matcher(line);
            if (!row.matches() || HEADS.contains(row.group(1)) || row.group(1).startsWith("-")) {
                continue;
            }
            rules++;
            List<String> places = names(row.group(2));
            List<String> proofs = names(row.group(3));
            if (places.isEmpty() || proofs.isEmpty()) {
                wrong.add(row.group(1) + ": a place or a test is missing");
            }
            for (String place : places) {
                if (!exists(place)) {
                    wrong.add(row.group(1) + ": there is no " + place);
                }
            }
            for (String proof : proofs) {
                long found = tests.stream()
                        .filter(test -> test.equals(proof) || test.endsWith("." + proof))
                        .count();
                if (found != 1) {
                    wrong.add("%s: there are %d tests %s".formatted(row.group(1), found, proof));
                }
            }
        }
        assertThat(rules).as("rules").isGreaterThan(60);
        assertThat(wrong).isEmpty();
    }

    private static List<String> names(String cell) {
        return CODE.matcher(cell).results().map(each -> each.group(1)).toList();
    }

    /** A file of the shim, or a type with a method. */
    private static boolean exists(String place) throws IOException {
        if (place.startsWith("native-shim/")) {
            return Files.exists(ROOT.resolve(place));
        }
        String[] parts = place.split("#");
        for (Path code : Modules.folders("src/main/java/io/github/iree4j")) {
            Path source = code.resolve(parts[0].replace('.', '/') + ".java");
            if (Files.exists(source)) {
                return parts.length == 1 || declares(Files.readString(source), parts[1]);
            }
        }
        return false;
    }

    private static boolean declares(String source, String method) {
        return Pattern.compile(DECLARED + method + "\\(", Pattern.MULTILINE)
                .matcher(source)
                .find();
    }

    @Test
    void aCallIsNoPlace() {
        for (String code : List.of(
                "    void run() {",
                "    static @Nullable ReturnSite run(Frame base) {",
                "    public abstract void run();",
                "        private <T> Map<String, List<T>> run(",
                "    int[] run(int[] at) {")) {
            assertThat(declares(code, "run")).as(code).isTrue();
        }
        for (String code : List.of(
                "        run();",
                "        return run();",
                "        Frame base = run(x);",
                "        frame.run();",
                "        if (frame.run()) {",
                "        throw run();",
                "                first, run());",
                "     * Calls run().",
                "    private final Runnable run = () -> run();",
                "    void walk() {\n        run();",
                "    void runs() {")) {
            assertThat(declares(code, "run")).as(code).isFalse();
        }
    }

    /** Returns the classes of all tests, with packages. */
    private static List<String> tests() throws IOException {
        List<String> found = new ArrayList<>();
        for (Path folder : Modules.folders("src/test/java")) {
            try (Stream<Path> files = Files.walk(folder)) {
                files.map(file -> folder.relativize(file).toString().replace(File.separatorChar, '.'))
                        .filter(name -> name.endsWith(".java"))
                        .map(name -> name.substring(0, name.length() - ".java".length()))
                        .forEach(found::add);
            }
        }
        return found;
    }
}

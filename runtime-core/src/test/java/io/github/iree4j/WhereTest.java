package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** docs/where.md names existing places and tests. */
class WhereTest {
    private static final Path ROOT = Path.of("..");
    private static final Path PAGE = ROOT.resolve("docs/where.md");
    private static final Pattern ROW = Pattern.compile("^\\| ([^|]+) \\| ([^|]+) \\| ([^|]+) \\|$");
    private static final Pattern CODE = Pattern.compile("`([^`]+)`");

    @Test
    void eachRuleHasAPlaceAndATest() throws IOException {
        assumeTrue(Files.exists(PAGE), "docs/where.md is not beside this module");
        Set<String> tests = tests();
        List<String> wrong = new ArrayList<>();
        int rules = 0;
        for (String line : Files.readAllLines(PAGE)) {
            Matcher row = ROW.matcher(line);
            if (!row.matches() || row.group(1).equals("Rule") || row.group(1).startsWith("-")) {
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
                if (!tests.contains(proof)) {
                    wrong.add(row.group(1) + ": there is no test " + proof);
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
                return parts.length == 1
                        || Pattern.compile("^ {4}[^ /*=][^/*=]*\\b" + parts[1] + "\\(", Pattern.MULTILINE)
                                .matcher(Files.readString(source))
                                .find();
            }
        }
        return false;
    }

    private static Set<String> tests() throws IOException {
        Set<String> found = new HashSet<>();
        for (Path folder : Modules.folders("src/test/java")) {
            try (Stream<Path> files = Files.walk(folder)) {
                found.addAll(files.map(file -> file.getFileName().toString())
                        .filter(name -> name.endsWith(".java"))
                        .map(name -> name.substring(0, name.length() - ".java".length()))
                        .collect(Collectors.toSet()));
            }
        }
        return found;
    }
}

package io.github.iree4j.tools;

import static io.github.iree4j.tools.CommandLineRun.assembled;
import static io.github.iree4j.tools.CommandLineRun.iree4j;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Our column of the tables in {@code docs/differences.md}: each row is assembled and run. */
class DifferencesTest {
    private static final Pattern ROW = Pattern.compile("\\| `([a-z0-9.]+)` \\| (.+?) \\| (.+?) \\| (.+?) \\|");

    @TempDir
    private Path directory;

    /** One row. */
    record Row(String operation, List<String> inputs, String here) {}

    static List<Row> rows() throws IOException {
        List<Row> rows = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of("../docs/differences.md"))) {
            Matcher row = ROW.matcher(line);
            if (row.matches()) {
                rows.add(new Row(
                        row.group(1),
                        List.of(row.group(2).replace("`", "").split(", ")),
                        row.group(4).replace("`", "")));
            }
        }
        return rows;
    }

    @Test
    void everyRowOfThePageIsRead() throws IOException {
        long rows = Files.readAllLines(Path.of("../docs/differences.md")).stream()
                .filter(line -> line.startsWith("| `"))
                .count();
        assertThat(rows()).hasSize((int) rows).hasSizeGreaterThan(30);
    }

    @ParameterizedTest
    @MethodSource("rows")
    void operationComputesAsOnThePage(Row row) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                "run", "--module=" + assembled(directory, "difference", module(row.operation())), "--function=f"));
        row.inputs().forEach(input -> command.add("--input=" + input));
        CommandLineRun run = iree4j(command.toArray(String[]::new));
        if (row.here().matches("[A-Z_]+")) {
            assertThat(run.status()).isEqualTo(1);
            assertThat(run.err()).startsWith(row.here() + ";");
        } else {
            assertThat(run.status()).as(run.err()).isZero();
            assertThat(run.out().strip()).endsWith("=" + row.here());
        }
    }

    /** A module whose function {@code f} is one operation. */
    private static String module(String operation) {
        String[] parts = operation.split("\\.");
        String body = switch (parts[0]) {
            case "fail" -> """
                    vm.func @f(%i0: i32) -> () {
                      vm.fail %i0, "text"
                    }""";
            case "switch" -> """
                    vm.func @f(%i0: i32) -> (i64) {
                      %i2:3 = vm.const.i64 100
                      %i4:5 = vm.const.i64 200
                      %i6:7 = vm.const.i64 -5000000000
                      %i8:9 = vm.switch.i64 %i0[%i2:3, %i4:5] else %i6:7
                      vm.return %i8:9
                    }""";
            case "cast" -> function(operation, parts[2].replaceAll("[su]i", "i"), parts[1]);
            case "round", "abs" -> function(operation, parts[1], parts[1]);
            case "shl" -> function(operation, parts[1], parts[1], "i32");
            default -> function(operation, parts[1], parts[1], parts[1]);
        };
        return "vm.module @m\nvm.export @f\n" + body + "\n";
    }

    private static String function(String operation, String result, String... arguments) {
        List<String> declared = new ArrayList<>();
        List<String> registers = new ArrayList<>();
        int next = 0;
        for (String type : arguments) {
            String register = register(type, next);
            registers.add(register);
            declared.add(register + ": " + type);
            next += type.endsWith("64") ? 2 : 1;
        }
        String into = register(result, next + next % 2);
        return "vm.func @f(%s) -> (%s) {\n  %s = vm.%s %s\n  vm.return %s\n}"
                .formatted(String.join(", ", declared), result, into, operation, String.join(", ", registers), into);
    }

    /** 64 bits are a pair that begins at an even number. */
    private static String register(String type, int from) {
        return type.endsWith("64") ? "%i" + from + ":" + (from + 1) : "%i" + from;
    }
}

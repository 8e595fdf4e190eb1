package io.github.iree4j.vm.bytecode;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.vm.Context;
import io.github.iree4j.vm.ContextOptions;
import io.github.iree4j.vm.Invocation;
import io.github.iree4j.vm.VmTypes;
import io.github.iree4j.vm.asm.VmAssembler;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The functions of C's math library behind float operations: within two units in the last place of values in 25 digits,
 * and exactly as Annex F of C demands for zeros, infinities and NaN. {@code fixtures/functions.py} writes the values.
 */
class FloatFunctionsTest {
    private static final double LARGEST_ERROR = 2;

    /** A line of the file. */
    private record Row(String function, double[] operands, String expected) {
        boolean isSingle() {
            return function.endsWith("f32");
        }
    }

    @ParameterizedTest
    @EnumSource(Compilation.class)
    void floatFunctionsAreExactAtLimitsAndWithinTwoUnitsElsewhere(Compilation compilation) throws IOException {
        List<Row> rows = rows();
        Map<String, Double> worst = new HashMap<>();
        List<String> wrong = new ArrayList<>();
        try (BytecodeModule module = BytecodeModule.read(
                        MemorySegment.ofArray(VmAssembler.assemble(program(rows))),
                        "test",
                        VmTypes.standard(),
                        ModuleLimits.DEFAULTS,
                        null,
                        compilation);
                Context context = Context.create(List.of(module), ContextOptions.DEFAULTS)) {
            for (Row row : rows) {
                double got = call(context, row);
                double error = error(row, got);
                worst.merge(row.function, error, Math::max);
                if (!(error <= LARGEST_ERROR)) {
                    wrong.add("%s of %s is %s (%s), expected %s; %.2f units"
                            .formatted(
                                    row.function,
                                    Arrays.toString(row.operands),
                                    got,
                                    Double.toHexString(got),
                                    row.expected,
                                    error));
                }
            }
        }
        assertThat(wrong).as("largest errors: %s", worst).isEmpty();
    }

    private static double call(Context context, Row row) {
        try (Invocation call =
                context.invocation(Objects.requireNonNull(context.function("m." + name(row.function))))) {
            for (double each : row.operands) {
                if (row.isSingle()) {
                    call.f32((float) each);
                } else {
                    call.f64(each);
                }
            }
            call.run();
            return row.isSingle() ? call.f32() : call.f64();
        }
    }

    /** The error in units in the last place of the result; infinite where a value without digits is another. */
    private static double error(Row row, double got) {
        double expected = switch (row.expected) {
            case "inf" -> Double.POSITIVE_INFINITY;
            case "-inf" -> Double.NEGATIVE_INFINITY;
            case "nan" -> Double.NaN;
            case "0" -> 0.0;
            case "-0" -> -0.0;
            default -> row.isSingle() ? Float.parseFloat(row.expected) : Double.parseDouble(row.expected);
        };
        if (Double.compare(got, expected) == 0) {
            return 0;
        }
        if (Double.isNaN(got) || Double.isInfinite(got) || Double.isNaN(expected) || Double.isInfinite(expected)) {
            return Double.POSITIVE_INFINITY;
        }
        if (expected == 0) {
            return Double.POSITIVE_INFINITY; // signs of zeros count
        }
        double unit = row.isSingle() ? Math.ulp((float) expected) : Math.ulp(expected);
        return new BigDecimal(got)
                .subtract(new BigDecimal(row.expected))
                .abs()
                .divide(new BigDecimal(unit), MathContext.DECIMAL32)
                .doubleValue();
    }

    private static String name(String function) {
        return function.replace('.', '_');
    }

    private static String program(List<Row> rows) {
        StringBuilder text = new StringBuilder("vm.module @m version 3\n");
        for (Row row : rows.stream()
                .collect(Collectors.toMap(Row::function, each -> each, (one, other) -> one))
                .values()) {
            String type = row.isSingle() ? "f32" : "f64";
            boolean two = row.operands.length == 2;
            String x = row.isSingle() ? "%i0" : "%i0:1";
            String y = row.isSingle() ? "%i1" : "%i2:3";
            String both = x + (two ? ", " + y : "");
            text.append("vm.export @%s\nvm.func @%s(%s) -> (%s) {\n  %s = vm.%s %s\n  vm.return %s\n}\n"
                    .formatted(
                            name(row.function),
                            name(row.function),
                            x + ": " + type + (two ? ", " + y + ": " + type : ""),
                            type,
                            x,
                            row.function,
                            both,
                            x));
        }
        return text.toString();
    }

    private static List<Row> rows() throws IOException {
        List<Row> rows = new ArrayList<>();
        try (InputStream in =
                Objects.requireNonNull(FloatFunctionsTest.class.getResourceAsStream("/vm/functions.txt"))) {
            for (String line : new String(in.readAllBytes(), StandardCharsets.US_ASCII)
                    .lines()
                    .toList()) {
                if (line.startsWith("#")) {
                    continue;
                }
                String[] words = line.split(" ");
                double[] operands = new double[words.length - 2];
                for (int i = 0; i < operands.length; i++) {
                    operands[i] = switch (words[i + 1]) {
                        case "nan" -> Double.NaN;
                        case "inf" -> Double.POSITIVE_INFINITY;
                        case "-inf" -> Double.NEGATIVE_INFINITY;
                        default -> Double.parseDouble(words[i + 1]);
                    };
                }
                rows.add(new Row(words[0], operands, words[words.length - 1]));
            }
        }
        return rows;
    }
}

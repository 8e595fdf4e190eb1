package io.github.iree4j.hal.remote;

import io.github.iree4j.Program;
import io.github.iree4j.Results;
import io.github.iree4j.Tensor;

/** Calls of programs with writes into constants of the module. */
final class ConstantPrograms {
    private ConstantPrograms() {}

    /** Returns the results of a call, as text. */
    static String result(Program program, String function, Object... arguments) {
        try (Results results = program.function(function).invoke(arguments)) {
            StringBuilder all = new StringBuilder();
            for (int i = 0; i < results.size(); i++) {
                all.append(results.tensor(i)).append(' ');
            }
            return all.toString();
        }
    }

    /** Makes a program put {@code x} and the next three numbers into a constant of 4 x 4 numbers. */
    static String insert(Program program, int x) {
        try (Tensor tensor = Tensor.of(new int[] {x, x + 1, x + 2, x + 3}, 2, 2)) {
            return result(program, "insert", tensor);
        }
    }

    /** Returns the right result of {@link #insert}. */
    static String inserted(int x) {
        return "4x4xi32=[1 2 3 4][5 %d %d 8][9 %d %d 12][13 14 15 16] ".formatted(x, x + 1, x + 2, x + 3);
    }
}

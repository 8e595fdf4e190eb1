package io.github.iree4j.vm.bytecode;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.vm.CallingConvention;
import io.github.iree4j.vm.isa.FieldKind;
import java.util.function.Function;

/** Flattens the arguments of a variadic call: expands the spans of the convention to the sizes given by the call. */
final class Spans {
    private Spans() {}

    /**
     * Expands the arguments of a convention.
     *
     * @param convention the callee's convention
     * @param sizes per argument, the number of tuples of a span; ignored for others
     * @param limit maximum number of letters
     * @param failure creates the exception for a message
     * @return a letter for each register
     */
    static String flatten(
            CallingConvention convention, int[] sizes, int limit, Function<String, IreeException> failure) {
        StringBuilder letters = new StringBuilder();
        String arguments = convention.arguments();
        int argument = 0;
        for (int i = 0; i < arguments.length(); i++, argument++) {
            if (argument >= sizes.length) {
                throw failure.apply(
                        "the call gives %d span sizes for more arguments in '%s'".formatted(sizes.length, convention));
            }
            if (arguments.charAt(i) != 'C') {
                letters.append(arguments.charAt(i));
                continue;
            }
            int end = arguments.indexOf('D', i);
            int tuples = sizes[argument];
            if (tuples == FieldKind.NOT_A_SEGMENT || (long) tuples * (end - i - 1) > limit - letters.length()) {
                throw failure.apply("the call gives %d tuples for argument %d of '%s' and %d registers in all"
                        .formatted(tuples, argument, convention, limit));
            }
            letters.repeat(arguments.substring(i + 1, end), tuples);
            i = end;
        }
        if (argument != sizes.length) {
            throw failure.apply("the call gives %d span sizes for %d arguments in '%s'"
                    .formatted(sizes.length, argument, convention));
        }
        return letters.toString();
    }
}

package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.ProgramFunction;
import io.github.iree4j.spring.CallDurations;
import io.github.iree4j.spring.LoadedProgram;
import org.jspecify.annotations.Nullable;

/**
 * A function of a program.
 *
 * @param name the function's name in the program
 * @param declaration arguments and results as recorded by the compiler; null without a record
 * @param asynchronous whether the function was compiled to take fences from the caller
 * @param calls the durations of the function's calls
 * @param variants the function's shape variants; null for a compiled function
 */
public record FunctionDescriptor(
        String name,
        @Nullable String declaration,
        boolean asynchronous,
        CallDurations calls,
        @Nullable VariantsDescriptor variants) {

    static FunctionDescriptor of(LoadedProgram program, ProgramFunction function) {
        return new FunctionDescriptor(
                function.name(),
                function.declaration(),
                function.isAsynchronous(),
                program.durations(function),
                function.variants()
                        .map(variants -> VariantsDescriptor.of(variants, program, function.fullName()))
                        .orElse(null));
    }
}

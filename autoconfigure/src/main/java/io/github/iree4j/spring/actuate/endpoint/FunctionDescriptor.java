package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.FunctionVariants;
import io.github.iree4j.ProgramFunction;
import io.github.iree4j.spring.Programs.LoadedProgram;
import org.jspecify.annotations.Nullable;

/**
 * A function of a program.
 *
 * @param name its name in the program
 * @param declaration its arguments and results as the compiler recorded them; null when it did not
 * @param asynchronous whether it was compiled to take fences from its caller
 * @param variants its shape variants; null for a compiled function
 */
public record FunctionDescriptor(
        String name,
        @Nullable String declaration,
        boolean asynchronous,
        @Nullable VariantsDescriptor variants) {

    static FunctionDescriptor of(LoadedProgram program, ProgramFunction function) {
        FunctionVariants variants = function.variants();
        return new FunctionDescriptor(
                function.name(),
                function.declaration(),
                function.isAsynchronous(),
                variants == null ? null : VariantsDescriptor.of(variants, program, function.fullName()));
    }
}

package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.ProgramFunction;
import org.jspecify.annotations.Nullable;

/**
 * A function of a program.
 *
 * @param name its name in the program
 * @param declaration its arguments and results as the compiler wrote them; null when it did not
 * @param asynchronous whether it was compiled to run on fences of its caller
 */
public record FunctionDescriptor(String name, @Nullable String declaration, boolean asynchronous) {

    static FunctionDescriptor of(ProgramFunction function) {
        return new FunctionDescriptor(function.name(), function.declaration(), function.isAsynchronous());
    }
}

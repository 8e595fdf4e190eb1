package io.github.iree4j.vm.bytecode;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the code of a function proves about its arguments and results: calls with other arguments fail, and no call returns other results.
 * Unknown is an answer.
 */
public final class ProvenShapes {
    private final @Nullable ProvenShape[] arguments;
    private final @Nullable ProvenShape[] results;

    ProvenShapes(@Nullable ProvenShape[] arguments, @Nullable ProvenShape[] results) {
        this.arguments = arguments.clone();
        this.results = results.clone();
    }

    /**
     * Returns what is known of an argument.
     *
     * @param index its place in the calling convention
     * @return null for primitives and where nothing is proven
     */
    public @Nullable ProvenShape argument(int index) {
        return arguments[index];
    }

    /**
     * Returns what is known of a result.
     *
     * @param index its place in the calling convention
     * @return null for primitives and where nothing is proven
     */
    public @Nullable ProvenShape result(int index) {
        return results[index];
    }

    @Override
    public String toString() {
        List<@Nullable ProvenShape> given = Arrays.asList(arguments);
        return given + " -> " + Arrays.asList(results);
    }
}

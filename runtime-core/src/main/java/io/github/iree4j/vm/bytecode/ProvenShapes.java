package io.github.iree4j.vm.bytecode;

import io.github.iree4j.api.NotForApplications;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The shapes of a function's arguments and results, as proven by the function's code: calls with other arguments fail,
 * and no call returns other results. A shape may be unknown.
 */
@NotForApplications
public final class ProvenShapes {
    private final @Nullable ProvenShape[] arguments;
    private final @Nullable ProvenShape[] results;

    ProvenShapes(@Nullable ProvenShape[] arguments, @Nullable ProvenShape[] results) {
        this.arguments = arguments.clone();
        this.results = results.clone();
    }

    /**
     * Returns the proven shape of an argument.
     *
     * @param index the position in the calling convention
     * @return null for primitives and without a proof
     */
    public @Nullable ProvenShape argument(int index) {
        return arguments[index];
    }

    /**
     * Returns the proven shape of a result.
     *
     * @param index the position in the calling convention
     * @return null for primitives and without a proof
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

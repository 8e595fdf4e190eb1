package io.github.iree4j;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** A compiled function among the variants from which a function selects. Safe from any thread. */
public final class FunctionVariant {
    /** Size of an axis chosen by the caller. */
    static final long OPEN = -1;

    private final CompiledFunction function;
    private final List<String> axes;
    private final long[] sizes;
    private final Set<String> exact; // axes without padding
    private final boolean open;
    private boolean named = true; // whether named after the function only; not modified once shared
    private final LongAdder calls = new LongAdder();

    FunctionVariant(CompiledFunction function, List<String> axes, Set<String> exact, long[] sizes) {
        this.function = function;
        this.axes = axes;
        this.exact = exact;
        this.sizes = sizes;
        this.open = IntStream.range(0, sizes.length).anyMatch(axis -> sizes[axis] == OPEN);
    }

    /**
     * Returns the compiled function, which may also be called directly.
     *
     * @return borrowed from its program
     */
    public ProgramFunction function() {
        return function;
    }

    /**
     * Returns the variant's name among the variants of one function, used in meters for example.
     *
     * @return the name of the compiled function; followed by sizes if several functions have this name, as in modules
     *     created by frameworks for each shape: {@code main_4x16}
     */
    public String name() {
        return named ? function.name() : function.name() + "_" + shape();
    }

    /** Marks that other variants have functions of this name. */
    void sharesName() {
        named = false;
    }

    /**
     * Returns the compiled size of each axis.
     *
     * @return by axis, in the order of the rules; -1 for any size
     */
    public Map<String, Long> sizes() {
        Map<String, Long> named = new LinkedHashMap<>();
        for (int axis = 0; axis < sizes.length; axis++) {
            named.put(axes.get(axis), sizes[axis]);
        }
        return Collections.unmodifiableMap(named);
    }

    /**
     * Returns the number of calls.
     *
     * @return since the variant was loaded
     */
    public long calls() {
        return calls.sum();
    }

    void called() {
        calls.increment();
    }

    CompiledFunction compiled() {
        return function;
    }

    long size(int axis) {
        return sizes[axis];
    }

    /** Whether the variant was compiled with open sizes. */
    boolean isOpen() {
        return open;
    }

    /** Whether a call of these sizes fits the variant, padded or exactly. */
    boolean fits(long[] given, boolean padded) {
        for (int axis = 0; axis < sizes.length; axis++) {
            if (sizes[axis] == OPEN || sizes[axis] == given[axis]) {
                continue;
            }
            if (!padded || given[axis] > sizes[axis] || exact.contains(axes.get(axis))) {
                return false;
            }
        }
        return true;
    }

    /** Whether another variant has the same sizes except for one axis. */
    boolean isLike(FunctionVariant other, int but) {
        return IntStream.range(0, sizes.length).allMatch(axis -> axis == but || sizes[axis] == other.sizes[axis]);
    }

    /** The padded sizes of a call. */
    long[] padded(long[] given) {
        long[] padded = given.clone();
        for (int axis = 0; axis < padded.length; axis++) {
            padded[axis] = sizes[axis] == OPEN ? given[axis] : sizes[axis];
        }
        return padded;
    }

    /** Sizes as {@code 4x16}, {@code ?} for any. */
    String shape() {
        return IntStream.range(0, sizes.length)
                .mapToObj(axis -> sizes[axis] == OPEN ? "?" : Long.toString(sizes[axis]))
                .collect(Collectors.joining("x"));
    }

    /** Name and sizes. */
    @Override
    public String toString() {
        return function.fullName() + " of " + String.join(" x ", axes) + " " + shape();
    }
}

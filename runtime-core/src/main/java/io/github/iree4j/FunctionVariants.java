package io.github.iree4j;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What a function chooses among at each call: compiled functions that do the same for other shapes, static ones for some sizes and maybe one
 * that takes any. Safe from any thread.
 *
 * <p><b>Which one.</b> Of those that are as large as the call or larger along each axis of the {@linkplain ShapeRules rules}, the one whose
 * arguments have the fewest elements; an element counts {@link VariantOptions#dynamicCost} times where the variant was compiled without
 * knowing all sizes. When none is large enough the call fails with INVALID_ARGUMENT, naming those there are.
 *
 * <p><b>Copies.</b> A call of just the shape of a variant is passed on as it is. For any other, arguments with axes are copied to memory of
 * the host, on the calling thread, and brought to the device as inputs are. Results are cut: in place if what is kept comes first of
 * all, as rows do, else into a copy on their device.
 *
 * <p><b>Fences.</b> Inputs of a call that waits for a fence cannot be read when it is made, nor its results when it has returned. A call with
 * fences therefore goes to a variant that takes its shapes as they are, and fails with FAILED_PRECONDITION when there is none.
 */
public final class FunctionVariants {
    /** The reflection attribute by which a module declares the rules of one of its functions: {@value}. */
    public static final String ATTRIBUTE = "iree4j.shapes";

    /** So many are named in messages. */
    private static final int NAMED = 24;

    private final VariantFunction function;
    private final ShapeRules rules;
    private final List<String> axes;
    private final List<FunctionVariant> all;
    private final double dynamicCost;
    private final int rows;
    private final String consumer;
    private final @Nullable VariantListener listener;
    private final LongAdder elements = new LongAdder();
    private final LongAdder padding = new LongAdder();

    FunctionVariants(VariantFunction function, VariantBinder found) {
        this.function = function;
        this.rules = found.rules();
        this.axes = rules.axes();
        this.all = found.variants();
        this.dynamicCost = found.dynamicCost();
        this.rows = rowsOf(rules);
        this.consumer = found.consumer();
        this.listener = found.listener();
    }

    /** The axis that is the first dimension of everything and no other, whose elements are rows; -1 when there is none. */
    private static int rowsOf(ShapeRules rules) {
        List<String> first = rules.inputs().getFirst().dimensions();
        String axis = first == null || first.isEmpty() ? "_" : first.getFirst();
        boolean everywhere = List.of(rules.inputs(), rules.results()).stream()
                .flatMap(List::stream)
                .allMatch(value -> value.dimensions() != null
                        && value.dimensions().indexOf(axis) == 0
                        && value.dimensions().lastIndexOf(axis) == 0);
        return everywhere ? rules.axes().indexOf(axis) : -1;
    }

    /**
     * Returns what belongs together in arguments and results.
     *
     * @return the rules
     */
    public ShapeRules rules() {
        return rules;
    }

    /**
     * Returns the functions that calls go to.
     *
     * @return at least one
     */
    public List<FunctionVariant> all() {
        return all;
    }

    /**
     * Returns what an element costs a function that was compiled without knowing all sizes, for those who divide work into calls.
     *
     * @return times what it costs others; at least 1
     */
    public double dynamicCost() {
        return dynamicCost;
    }

    /**
     * Returns how many elements the arguments with axes had of all calls, as variants got them.
     *
     * @return since the program was loaded
     */
    public long elements() {
        return elements.sum();
    }

    /**
     * Returns how many of {@link #elements} no caller gave.
     *
     * @return since the program was loaded
     */
    public long padding() {
        return padding.sum();
    }

    /**
     * Brings a call to a shape that it shares with others, so that their rows can be put behind each other: each axis gets the size that the
     * variant has which the call would go to, but for the rows, the axis that is the first dimension of all arguments and results.
     *
     * @param inputs as for a call; tensors, arrays and numbers
     * @return all arguments, masks included
     * @throws IreeException INVALID_ARGUMENT when inputs do not fit, or no axis is that of rows
     */
    public AlignedInputs align(@Nullable Object... inputs) {
        if (rows < 0) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "calls of '%s' cannot be made together, since by its shape rules, %s, no axis is the first dimension of everything"
                            .formatted(function.fullName(), rules));
        }
        VariantInputs given = new VariantInputs(function, inputs);
        long[] sizes = given.sizes();
        FunctionVariant chosen = choose(given, false);
        long[] shared = chosen.padded(sizes);
        shared[rows] = sizes[rows];
        return new AlignedInputs(
                function, given.tensors(shared), sizes, shared, rows, rowSizes(chosen), added(given, shared));
    }

    private static long added(VariantInputs given, long[] shared) {
        return (long) (given.elements(shared) - given.elements(given.sizes()));
    }

    /** How many rows calls have whose other axes are those of a variant. */
    private List<Long> rowSizes(FunctionVariant like) {
        return all.stream()
                .filter(each -> each.isLike(like, rows))
                .map(each -> each.size(rows) == FunctionVariant.OPEN ? Long.MAX_VALUE : each.size(rows))
                .sorted()
                .toList();
    }

    /**
     * Chooses.
     *
     * @param asTheyAre whether nothing may be added
     * @throws IreeException INVALID_ARGUMENT when none is large enough; FAILED_PRECONDITION when none takes the sizes as they are
     */
    FunctionVariant choose(VariantInputs given, boolean asTheyAre) {
        long[] sizes = given.sizes();
        FunctionVariant best = null;
        double least = Double.POSITIVE_INFINITY;
        for (FunctionVariant each : all) {
            if (!each.isOpen() && each.fits(sizes, false)) {
                return each; // nothing has fewer elements than the call
            }
            if (each.fits(sizes, !asTheyAre)) {
                double cost = given.elements(each.padded(sizes)) * (each.isOpen() ? dynamicCost : 1);
                if (best == null || cost < least || (cost == least && best.isOpen())) {
                    best = each;
                    least = cost;
                }
            }
        }
        if (best == null) {
            throw nothingFits(sizes, asTheyAre);
        }
        return best;
    }

    private IreeException nothingFits(long[] sizes, boolean asTheyAre) {
        StringBuilder wanted = new StringBuilder();
        for (int axis = 0; axis < sizes.length; axis++) {
            wanted.append(axis == 0 ? "" : ", ")
                    .append(axes.get(axis))
                    .append(' ')
                    .append(sizes[axis]);
        }
        String known = all.stream().limit(NAMED).map(FunctionVariant::shape).collect(Collectors.joining(", "))
                + (all.size() > NAMED ? " and %d more".formatted(all.size() - NAMED) : "");
        return asTheyAre
                ? new IreeException(
                        StatusCode.FAILED_PRECONDITION,
                        "no variant of '%s' has just %s, and a call with fences cannot be padded; there are %s of %s: give one of these shapes, compile a variant for any, or call without fences"
                                .formatted(function.fullName(), wanted, String.join(" x ", axes), known))
                : new IreeException(
                        StatusCode.INVALID_ARGUMENT,
                        "no variant of '%s' is large enough for %s; there are %s of %s: make the call smaller, or compile a variant that is large enough, or one for any size"
                                .formatted(function.fullName(), wanted, String.join(" x ", axes), known));
    }

    /** A call was made on a variant. */
    void called(FunctionVariant variant, VariantInputs given, long[] padded) {
        long got = (long) given.elements(padded);
        long added = got - (long) given.elements(given.sizes());
        variant.called();
        elements.add(got);
        padding.add(added);
        if (listener != null) {
            listener.called(consumer, function.name(), variant.name(), got, added);
        }
    }

    /** A call that was aligned was made with others. */
    void aligned(long added) {
        padding.add(added);
        if (listener != null) {
            listener.aligned(consumer, function.name(), added);
        }
    }

    /** Rules and functions. */
    @Override
    public String toString() {
        return rules + " by " + all;
    }
}

package io.github.iree4j;

import io.github.iree4j.monitor.VariantListener;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The variants from which a function selects at each call: compiled functions with the same computation for other
 * shapes, static variants for some sizes and possibly a variant for any size. Safe from any thread.
 *
 * <p><b>Selection.</b> A call selects among the variants at least as large as the call along each axis of the
 * {@linkplain ShapeRules rules}. The arguments of the selected variant have the fewest elements; an element counts
 * {@link VariantOptions#dynamicCost(double)} times where the variant was compiled without knowing all sizes. When no variant is
 * large enough the call fails with INVALID_ARGUMENT, naming the existing variants.
 *
 * <p><b>Copies.</b> A call of exactly the shape of a variant is passed on unchanged. Otherwise arguments with axes are
 * copied to host memory, on the calling thread, and uploaded like other inputs. Results are cut: in place if the kept
 * elements come first, as rows do, otherwise into a copy on the same device.
 *
 * <p><b>Fences.</b> Inputs of a call waiting for a fence cannot be read at the call, nor results on return. A call with
 * fences therefore goes to a variant accepting the exact shapes, and fails with FAILED_PRECONDITION when there is no
 * such variant.
 */
public final class FunctionVariants {
    /** The reflection attribute with which a module declares the rules of a function: {@value}. */
    public static final String ATTRIBUTE = "iree4j.shapes";

    /** Maximum number of variants named in messages. */
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

    /**
     * The axis of rows: the first dimension of every argument and result, and no other dimension; -1 without such an axis.
     * An exact axis is none: rows of padding change results along such an axis, and so would rows of other calls.
     */
    private static int rowsOf(ShapeRules rules) {
        List<String> first = rules.inputs().getFirst().dimensions();
        String axis = first == null || first.isEmpty() ? "_" : first.getFirst();
        boolean everywhere = List.of(rules.inputs(), rules.results()).stream()
                .flatMap(List::stream)
                .allMatch(value -> value.dimensions() != null
                        && value.dimensions().indexOf(axis) == 0
                        && value.dimensions().lastIndexOf(axis) == 0);
        return everywhere && !rules.exact().contains(axis) ? rules.axes().indexOf(axis) : -1;
    }

    /**
     * Returns the shape rules.
     *
     * @return the rules
     */
    public ShapeRules rules() {
        return rules;
    }

    /**
     * Returns the variants.
     *
     * @return at least one variant
     */
    public List<FunctionVariant> all() {
        return all;
    }

    /**
     * Returns the relative cost of an element in a function compiled with open sizes, for callers that divide work into
     * calls.
     *
     * @return multiple of the cost in other functions; at least 1
     */
    public double dynamicCost() {
        return dynamicCost;
    }

    /**
     * Returns the number of elements of arguments with axes in all calls, padding included.
     *
     * @return since the program was loaded
     */
    public long elements() {
        return elements.sum();
    }

    /**
     * Returns how many of {@link #elements} were padding.
     *
     * @return since the program was loaded
     */
    public long padding() {
        return padding.sum();
    }

    /**
     * Pads a call to a shape shared with other calls, so that the rows of the calls can be concatenated. Each axis gets
     * the size of the variant that the call would select, except for the rows: the axis that is the first dimension of
     * all arguments and results.
     *
     * @param inputs as for a call; tensors, arrays and numbers
     * @return all arguments, masks included; empty when there is no axis of rows, or this axis is exact
     * @throws IreeException INVALID_ARGUMENT when inputs do not fit
     */
    public Optional<AlignedInputs> align(@Nullable Object... inputs) {
        if (rows < 0) {
            return Optional.empty();
        }
        VariantInputs given = new VariantInputs(function, ProgramFunction.inputs(inputs));
        long[] sizes = given.sizes();
        FunctionVariant chosen = choose(given, false);
        long[] shared = chosen.padded(sizes);
        shared[rows] = sizes[rows];
        return Optional.of(new AlignedInputs(
                function, given.tensors(shared), sizes, shared, rows, rowSizes(chosen), added(given, shared)));
    }

    private static long added(VariantInputs given, long[] shared) {
        return (long) (given.elements(shared) - given.elements(given.sizes()));
    }

    /** The row counts of variants with the other axes of the given variant. */
    private List<Long> rowSizes(FunctionVariant like) {
        return all.stream()
                .filter(each -> each.isLike(like, rows))
                .map(each -> each.size(rows) == FunctionVariant.OPEN ? Long.MAX_VALUE : each.size(rows))
                .sorted()
                .toList();
    }

    /**
     * Selects the variant of a call.
     *
     * @param asTheyAre whether padding is forbidden
     * @throws IreeException INVALID_ARGUMENT when no variant is large enough; FAILED_PRECONDITION when no variant
     *     accepts the exact sizes
     */
    FunctionVariant choose(VariantInputs given, boolean asTheyAre) {
        long[] sizes = given.sizes();
        FunctionVariant best = null;
        double least = Double.POSITIVE_INFINITY;
        for (FunctionVariant each : all) {
            if (!each.isOpen() && each.fits(sizes, false)) {
                return each; // an exact fit
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
        String named = axes.stream()
                .map(axis -> function.rules().exact().contains(axis) ? axis + "!" : axis)
                .collect(Collectors.joining(" x "));
        String known = all.stream().limit(NAMED).map(FunctionVariant::shape).collect(Collectors.joining(", "))
                + (all.size() > NAMED ? " and %d more".formatted(all.size() - NAMED) : "");
        return asTheyAre
                ? IreeException.of(
                        StatusCode.FAILED_PRECONDITION,
                        "no variant of '%s' has exactly %s, and a call with fences cannot be padded; there are %s of %s: give one of these shapes, compile a variant for any, or call without fences"
                                .formatted(function.fullName(), wanted, named, known))
                : IreeException.of(
                        StatusCode.INVALID_ARGUMENT,
                        "no variant of '%s' is large enough for %s; there are %s of %s: make the call smaller, or compile a variant that is large enough, or one for any size"
                                .formatted(function.fullName(), wanted, named, known));
    }

    /** Counts a call of a variant. */
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

    /** Counts the padding of an aligned call that was combined with other calls. */
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

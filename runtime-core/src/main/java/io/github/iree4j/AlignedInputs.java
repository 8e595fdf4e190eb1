package io.github.iree4j;

import io.github.iree4j.api.NotForApplications;
import java.util.List;

/**
 * Inputs of a call, padded to a shape shared with other calls except for the number of rows, see
 * {@link FunctionVariants#align}. Tensors may be the caller's own; no tensor needs closing. Safe from any thread.
 */
@NotForApplications
public final class AlignedInputs {
    private final VariantFunction function;
    private final List<Tensor> inputs;
    private final long[] sizes;
    private final long[] shared;
    private final int rows;
    private final List<Long> rowSizes;
    private final long added;

    AlignedInputs(
            VariantFunction function,
            List<Tensor> inputs,
            long[] sizes,
            long[] shared,
            int rows,
            List<Long> rowSizes,
            long added) {
        this.function = function;
        this.inputs = List.copyOf(inputs);
        this.sizes = sizes;
        this.shared = shared;
        this.rows = rows;
        this.rowSizes = rowSizes;
        this.added = added;
    }

    /**
     * Returns the inputs.
     *
     * @return a tensor for each argument, masks included
     */
    public List<Tensor> inputs() {
        return inputs;
    }

    /**
     * Returns the number of rows of the call.
     *
     * @return 0 or more
     */
    public long rows() {
        return sizes[rows];
    }

    /**
     * Returns the row counts of combined calls: the sizes of the variants for this shape.
     *
     * @return ascending, at least one count; the last is {@link Long#MAX_VALUE} if there is a variant for any number
     */
    public List<Long> rowSizes() {
        return rowSizes;
    }

    /**
     * Cuts the padding off the results of this call's rows, and counts the padding. Closes the given results.
     *
     * @param results with as many rows as the call
     * @return the results; the caller closes the results
     * @throws io.github.iree4j.status.IreeException INTERNAL when a result's shape contradicts the rules;
     *     RESOURCE_EXHAUSTED when the heap has no room for a copy
     */
    public Results cut(Results results) {
        function.all().aligned(added);
        return function.cut(results, sizes, shared);
    }
}

package io.github.iree4j;

import java.util.function.BooleanSupplier;

/**
 * A tensor whose ownership is transferred to a call, see {@link Tensor#transfer()}. A marker without resources: it needs no
 * closing, and has no effect unless passed to a call.
 */
public final class TransferredTensor {
    private final Tensor tensor;
    private final BooleanSupplier taking;

    TransferredTensor(Tensor tensor) {
        this(tensor, tensor::giveAway);
    }

    /**
     * Creates a marker.
     *
     * @param tensor what is passed
     * @param taking closes what the caller has transferred; false when it was closed already
     */
    TransferredTensor(Tensor tensor, BooleanSupplier taking) {
        this.tensor = tensor;
        this.taking = taking;
    }

    Tensor tensor() {
        return tensor;
    }

    /** Closes it on behalf of a call, once all inputs have been checked; false when it was closed already. */
    boolean take() {
        return taking.getAsBoolean();
    }

    @Override
    public String toString() {
        return "transferred " + tensor.elements().header();
    }
}

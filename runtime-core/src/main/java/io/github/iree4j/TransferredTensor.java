package io.github.iree4j;

import java.util.function.BooleanSupplier;

/**
 * Marks a tensor to be transferred to a call, see {@link Tensor#transfer()}. The marker has no resources, needs no
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
     * @param tensor the passed tensor
     * @param taking closes the tensor transferred by the caller; false when closed already
     */
    TransferredTensor(Tensor tensor, BooleanSupplier taking) {
        this.tensor = tensor;
        this.taking = taking;
    }

    Tensor tensor() {
        return tensor;
    }

    /** Closes the tensor on behalf of a call, once all inputs have been checked; false when the tensor was closed already. */
    boolean take() {
        return taking.getAsBoolean();
    }

    @Override
    public String toString() {
        return "transferred " + tensor.elements().header();
    }
}

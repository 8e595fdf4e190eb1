package io.github.iree4j;

/**
 * A tensor whose ownership is transferred to a call, see {@link Tensor#transfer()}. A marker without resources: it needs no
 * closing, and has no effect unless passed to a call.
 */
public final class TransferredTensor {
    private final Tensor tensor;

    TransferredTensor(Tensor tensor) {
        this.tensor = tensor;
    }

    Tensor tensor() {
        return tensor;
    }

    @Override
    public String toString() {
        return "transferred " + tensor.elements().header();
    }
}

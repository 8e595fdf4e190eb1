package io.github.iree4j;

/**
 * A tensor that is given to a call for good, see {@link Tensor#transfer()}. Says what is to happen and holds nothing: it needs no closing,
 * and one that is never passed to a call changes nothing.
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

package io.github.iree4j.monitor;

/** Listens to calls of the {@linkplain io.github.iree4j.FunctionVariants variants} of a program's functions, for metrics. */
public interface VariantListener {
    /**
     * Called for each call, on the calling thread; must return quickly and must not throw.
     *
     * @param consumer consumer charged for the memory of the program
     * @param function the called function, without the module's name
     * @param variant the selected variant, by its {@linkplain io.github.iree4j.FunctionVariant#name() name}
     * @param elements elements of the arguments with axes, as passed to the variant
     * @param padding number of padding elements among these elements
     */
    void called(String consumer, String function, String variant, long elements, long padding);

    /**
     * Called when an {@linkplain io.github.iree4j.FunctionVariants#align aligned} call was combined with others: some elements are
     * padding.
     *
     * @param consumer consumer charged for the memory of the program
     * @param function the called function, without the module's name
     * @param padding number of padding elements
     */
    void aligned(String consumer, String function, long padding);
}

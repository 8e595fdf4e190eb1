package io.github.iree4j;

/** Listens to calls of the {@linkplain FunctionVariants variants} of a program's functions, for metrics. */
public interface VariantListener {
    /**
     * Called for each call, on the calling thread; must return quickly and must not throw.
     *
     * @param consumer consumer charged for the memory of the program
     * @param function the function that was called, without its module's name
     * @param variant the selected variant, by its {@linkplain FunctionVariant#name() name}
     * @param elements elements of those arguments that have axes, as passed to the variant
     * @param padding how many of these are padding
     */
    void called(String consumer, String function, String variant, long elements, long padding);

    /**
     * Called when an {@linkplain FunctionVariants#align aligned} call was combined with others: some of their elements are padding.
     *
     * @param consumer consumer charged for the memory of the program
     * @param function the function that was called, without its module's name
     * @param padding number of padding elements
     */
    void aligned(String consumer, String function, long padding);
}

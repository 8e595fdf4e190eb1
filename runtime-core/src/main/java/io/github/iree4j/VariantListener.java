package io.github.iree4j;

/** Hears what the {@linkplain FunctionVariants variants} of a program's functions are used for, to count it. */
public interface VariantListener {
    /**
     * A call is made. On the thread that makes it; must return quickly and must not throw.
     *
     * @param consumer whom the memory of the program is accounted to
     * @param function the function that was called, without its module's name
     * @param variant the one that was chosen, by its {@linkplain FunctionVariant#name() name}
     * @param elements elements of those arguments that have axes, as the variant gets them
     * @param padding how many of these were added
     */
    void called(String consumer, String function, String variant, long elements, long padding);

    /**
     * A call that was {@linkplain FunctionVariants#align aligned} was made with others: some of the elements that they had were added before.
     *
     * @param consumer whom the memory of the program is accounted to
     * @param function the function that was called, without its module's name
     * @param padding how many
     */
    void aligned(String consumer, String function, long padding);
}

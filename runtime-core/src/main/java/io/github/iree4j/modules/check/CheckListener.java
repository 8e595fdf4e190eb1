package io.github.iree4j.modules.check;

import org.jspecify.annotations.Nullable;

/** Receives the outcome of every expectation checked by a program. Called on the thread running the program. */
@FunctionalInterface
public interface CheckListener {
    /**
     * Receives the outcome of an expectation.
     *
     * @param expectation the function, for example {@code expect_eq}
     * @param failure the expected and the actual value, or null when the expectation holds
     */
    void checked(String expectation, @Nullable String failure);
}

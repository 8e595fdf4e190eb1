package io.github.iree4j.modules.check;

import org.jspecify.annotations.Nullable;

/** Receives the outcome of every expectation that a program checks. Called on the thread that runs the program. */
@FunctionalInterface
public interface CheckListener {
    /**
     * Takes the outcome of one expectation.
     *
     * @param expectation the function, for example {@code expect_eq}
     * @param failure what was expected and what was found, or null when the expectation holds
     */
    void checked(String expectation, @Nullable String failure);
}

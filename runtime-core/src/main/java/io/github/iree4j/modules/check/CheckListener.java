package io.github.iree4j.modules.check;

import org.jspecify.annotations.Nullable;

/** Hears of every expectation that a program checks. Called on the thread that runs the program. */
@FunctionalInterface
public interface CheckListener {
    /**
     * Takes the outcome of one expectation.
     *
     * @param expectation the function called, for example {@code expect_eq}
     * @param failure what was expected and what was there, or null when it holds
     */
    void checked(String expectation, @Nullable String failure);
}

package io.github.iree4j;

import io.github.iree4j.status.FailureDetail;

/**
 * That a program could not be loaded since its variants do not fit together, or not the rules.
 *
 * @param function the function that stands for them
 */
public record VariantFault(String function) implements FailureDetail {}

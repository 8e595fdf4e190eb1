package io.github.iree4j;

import io.github.iree4j.status.FailureDetail;

/**
 * The detail of a load failure: a signature that the options give for a function, and that cannot be its signature.
 *
 * @param function the function, as the options name it
 */
public record SignatureFault(String function) implements FailureDetail {}

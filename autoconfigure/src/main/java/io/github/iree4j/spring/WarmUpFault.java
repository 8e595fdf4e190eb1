package io.github.iree4j.spring;

import io.github.iree4j.status.FailureDetail;

/**
 * Failure detail: a warm-up call of a program failed.
 *
 * @param function the called function
 */
public record WarmUpFault(String function) implements FailureDetail {}

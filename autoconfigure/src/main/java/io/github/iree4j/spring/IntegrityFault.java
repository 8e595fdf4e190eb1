package io.github.iree4j.spring;

import io.github.iree4j.status.FailureDetail;

/**
 * Failure detail: a file of a program is not proved to be the intended one.
 *
 * @param remedy what to do, a sentence
 */
public record IntegrityFault(String remedy) implements FailureDetail {}

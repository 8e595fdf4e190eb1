package io.github.iree4j.spring;

import io.github.iree4j.status.FailureDetail;

/**
 * Failure detail: a program file is not proved to be the intended file.
 *
 * @param remedy the recommended action, a sentence
 */
public record IntegrityFault(String remedy) implements FailureDetail {}

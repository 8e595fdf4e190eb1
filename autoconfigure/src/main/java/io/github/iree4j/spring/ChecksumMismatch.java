package io.github.iree4j.spring;

import io.github.iree4j.status.FailureDetail;

/**
 * Failure detail: the checksum of a module does not match the expected checksum.
 *
 * @param expected in hexadecimal
 * @param actual in hexadecimal
 */
public record ChecksumMismatch(String expected, String actual) implements FailureDetail {}

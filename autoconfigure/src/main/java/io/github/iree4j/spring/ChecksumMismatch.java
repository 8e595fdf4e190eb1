package io.github.iree4j.spring;

import io.github.iree4j.status.FailureDetail;

/**
 * Detail of the failure to load a module whose checksum is not the expected one.
 *
 * @param expected in hexadecimal
 * @param actual in hexadecimal
 */
public record ChecksumMismatch(String expected, String actual) implements FailureDetail {}

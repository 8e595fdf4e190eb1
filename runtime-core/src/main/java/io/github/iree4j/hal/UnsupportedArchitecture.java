package io.github.iree4j.hal;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.FailureDetail;

/**
 * A program has code of the right format, but for hardware other than the device's.
 *
 * @param device id of the device
 * @param remedy instruction to the user, as the rest of a sentence
 */
@NotForApplications
public record UnsupportedArchitecture(String device, String remedy) implements FailureDetail {}

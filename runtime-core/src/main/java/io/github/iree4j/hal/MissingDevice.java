package io.github.iree4j.hal;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.FailureDetail;

/**
 * A program compiled for several devices was given too few devices, or none of a needed kind.
 *
 * @param name the program's name of the device
 * @param given number of devices given to the program
 */
@NotForApplications
public record MissingDevice(String name, int given) implements FailureDetail {}

package io.github.iree4j.hal;

import io.github.iree4j.status.FailureDetail;

/**
 * A program that is compiled for several devices was given too few, or none of the kind that one of them needs.
 *
 * @param name the program's name of the device
 * @param given the number of devices that it was given
 */
public record MissingDevice(String name, int given) implements FailureDetail {}

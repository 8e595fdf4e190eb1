package io.github.iree4j.status;

/**
 * The detail of failures of a lost device, see {@link DeviceLostException}.
 *
 * @param device the id of the device, or the driver's name of the device
 */
public record DeviceLost(String device) implements FailureDetail {}

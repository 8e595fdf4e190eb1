package io.github.iree4j.cluster;

import io.github.iree4j.hal.AwaitedDevice;

/**
 * There is no session with the node of a device.
 *
 * @param device the URI of the device
 * @param node the URI's description of the node, such as {@code machine index 1}
 */
public record MissingNode(String device, String node) implements AwaitedDevice {}

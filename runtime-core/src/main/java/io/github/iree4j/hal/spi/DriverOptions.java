package io.github.iree4j.hal.spi;

/**
 * Options for drivers of one kind, beside the options of all devices; given to {@link DeviceOptions.Builder#with}. A
 * driver ignores options for other drivers, so that the same options can open devices of several kinds. Immutable.
 */
public interface DriverOptions {}

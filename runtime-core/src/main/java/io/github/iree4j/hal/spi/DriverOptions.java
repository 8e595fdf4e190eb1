package io.github.iree4j.hal.spi;

/**
 * Options that drivers of one kind read, beside those that all devices have; given to {@link DeviceOptions.Builder#with}. A driver ignores what
 * is not for it, so that the same options can open devices of several kinds. Immutable.
 */
public interface DriverOptions {}

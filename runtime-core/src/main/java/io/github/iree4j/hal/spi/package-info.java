/**
 * What a backend implements: a driver that opens devices, and loaders of code for the local device.
 *
 * <p>Start at {@link io.github.iree4j.hal.spi.DriverProvider}. Both kinds are found by {@link java.util.ServiceLoader}; providers are
 * safe from any thread.
 */
@NullMarked
package io.github.iree4j.hal.spi;

import org.jspecify.annotations.NullMarked;

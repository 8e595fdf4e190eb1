/**
 * Service interface of backends: a driver for opening devices, and the options of devices.
 *
 * <p>Start at {@link io.github.iree4j.hal.spi.DriverProvider}. Drivers are found by {@link java.util.ServiceLoader} and
 * are safe from any thread.
 */
@NullMarked
package io.github.iree4j.hal.spi;

import org.jspecify.annotations.NullMarked;

/**
 * The {@code hal} module: makes devices callable from compiled programs. The only bridge between the virtual machine
 * and the HAL.
 *
 * <p>Start at {@link io.github.iree4j.modules.hal.HalModule}. Each topic has a class with the topic's functions. Where
 * compilers of different releases pass different arguments to a function of the same name, each form is registered
 * under a separate calling convention and translated in a separate class, invisible to the rest. The module may be
 * shared between contexts and threads.
 *
 * <p>Signatures and meanings: {@code iree/modules/hal/exports.inl} and {@code module.c}.
 */
@NullMarked
package io.github.iree4j.modules.hal;

import org.jspecify.annotations.NullMarked;

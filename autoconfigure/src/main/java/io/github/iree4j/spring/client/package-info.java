/**
 * Programs as Java interfaces: a method for each function, with Java values as arguments and results.
 *
 * <p>Start at {@link io.github.iree4j.spring.client.IreeClient}.
 */
@NullMarked
package io.github.iree4j.spring.client;

import org.jspecify.annotations.NullMarked;

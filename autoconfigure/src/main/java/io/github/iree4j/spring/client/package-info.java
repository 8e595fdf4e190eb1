/**
 * Programs as interfaces of Java: one method for each function, values of Java in and out.
 *
 * <p>Start at {@link io.github.iree4j.spring.client.IreeClient}.
 */
@NullMarked
package io.github.iree4j.spring.client;

import org.jspecify.annotations.NullMarked;

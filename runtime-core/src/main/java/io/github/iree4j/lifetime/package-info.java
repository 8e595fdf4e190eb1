/**
 * Who owns an object that holds memory outside the Java heap or a driver's object, and when it is freed.
 *
 * <p>Start at {@link io.github.iree4j.lifetime.Resource}. Counting is thread-safe; whether the object itself is, its own type says.
 */
@NullMarked
package io.github.iree4j.lifetime;

import org.jspecify.annotations.NullMarked;

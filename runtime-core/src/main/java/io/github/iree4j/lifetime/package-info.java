/**
 * Ownership and release of objects that hold native memory or driver objects.
 *
 * <p>Start at {@link io.github.iree4j.lifetime.Resource}. Counting is thread-safe; each type documents the thread
 * safety of its objects.
 */
@NullMarked
package io.github.iree4j.lifetime;

import org.jspecify.annotations.NullMarked;

/**
 * Batching: concurrent calls of one function become one call with more rows.
 *
 * <p>Start at {@link io.github.iree4j.spring.batching.DynamicBatching}. All types here may be used from any thread.
 */
@NullMarked
package io.github.iree4j.spring.batching;

import org.jspecify.annotations.NullMarked;

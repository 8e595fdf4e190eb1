/**
 * Calls of one function that are made together: requests of many callers become one call with more rows.
 *
 * <p>Start at {@link io.github.iree4j.spring.batching.DynamicBatching}. All types here may be used from any thread.
 */
@NullMarked
package io.github.iree4j.spring.batching;

import org.jspecify.annotations.NullMarked;

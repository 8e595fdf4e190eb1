/**
 * Tensors and failures in HTTP, independent of the web stack: the status of failures, and tensors as bodies of requests
 * and responses.
 *
 * <p>Start at {@link io.github.iree4j.spring.http.HttpStatuses}.
 */
@NullMarked
package io.github.iree4j.spring.http;

import org.jspecify.annotations.NullMarked;

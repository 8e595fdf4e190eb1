/**
 * Tensors and failures of programs in HTTP, for whatever serves it: which status a failure has, and tensors as bodies of requests and
 * responses.
 *
 * <p>Start at {@link io.github.iree4j.spring.http.HttpStatuses}.
 */
@NullMarked
package io.github.iree4j.spring.http;

import org.jspecify.annotations.NullMarked;

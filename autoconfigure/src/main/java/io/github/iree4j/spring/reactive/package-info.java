/** Calls for callers that use Reactor. */
@NullMarked
package io.github.iree4j.spring.reactive;

import org.jspecify.annotations.NullMarked;

/** Calls with Reactor. */
@NullMarked
package io.github.iree4j.spring.reactive;

import org.jspecify.annotations.NullMarked;

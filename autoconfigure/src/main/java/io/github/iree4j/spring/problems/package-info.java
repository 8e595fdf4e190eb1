/** Problems keeping work from advancing: found in the state of the runtime, and reported by the endpoint, health, meters, events and the log. */
@NullMarked
package io.github.iree4j.spring.problems;

import org.jspecify.annotations.NullMarked;

/**
 * Auto-configuration of the runtime, its programs and the invocation service from {@code iree.*} properties, and
 * analysis of startup failures.
 */
@NullMarked
package io.github.iree4j.spring.autoconfigure;

import org.jspecify.annotations.NullMarked;

/**
 * Auto-configuration of the runtime, its programs and the invocation service from {@code iree.*} properties, and the
 * analysis of what can go wrong with them at start-up.
 */
@NullMarked
package io.github.iree4j.spring.autoconfigure;

import org.jspecify.annotations.NullMarked;

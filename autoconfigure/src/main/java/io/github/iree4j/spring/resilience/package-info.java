/** Protection of programs, and of those who call them, with Resilience4j. */
@NullMarked
package io.github.iree4j.spring.resilience;

import org.jspecify.annotations.NullMarked;

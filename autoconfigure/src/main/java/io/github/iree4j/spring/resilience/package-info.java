/** Protection of programs and their callers with Resilience4j. */
@NullMarked
package io.github.iree4j.spring.resilience;

import org.jspecify.annotations.NullMarked;

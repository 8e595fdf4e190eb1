/** Protection of programs and their callers with Resilience4j. */
@NotForApplications
@NullMarked
package io.github.iree4j.spring.resilience;

import io.github.iree4j.api.NotForApplications;
import org.jspecify.annotations.NullMarked;

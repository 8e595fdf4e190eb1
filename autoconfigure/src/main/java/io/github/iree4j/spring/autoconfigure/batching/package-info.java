/** Auto-configuration of batching. */
@NotForApplications
@NullMarked
package io.github.iree4j.spring.autoconfigure.batching;

import io.github.iree4j.api.NotForApplications;
import org.jspecify.annotations.NullMarked;

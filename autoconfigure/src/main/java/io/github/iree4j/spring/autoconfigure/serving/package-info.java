/** Auto-configuration of serving over the Open Inference Protocol. */
@NotForApplications
@NullMarked
package io.github.iree4j.spring.autoconfigure.serving;

import io.github.iree4j.api.NotForApplications;
import org.jspecify.annotations.NullMarked;

/** Auto-configuration of the console. */
@NotForApplications
@NullMarked
package io.github.iree4j.spring.autoconfigure.console;

import io.github.iree4j.api.NotForApplications;
import org.jspecify.annotations.NullMarked;

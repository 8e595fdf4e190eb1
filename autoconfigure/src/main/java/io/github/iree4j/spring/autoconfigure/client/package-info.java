/** Auto-configuration of clients: application interfaces whose methods call programs. */
@NotForApplications
@NullMarked
package io.github.iree4j.spring.autoconfigure.client;

import io.github.iree4j.api.NotForApplications;
import org.jspecify.annotations.NullMarked;

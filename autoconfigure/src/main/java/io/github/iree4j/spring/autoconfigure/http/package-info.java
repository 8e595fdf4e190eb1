/** Auto-configuration of tensors as HTTP bodies and of failures as problem details. */
@NotForApplications
@NullMarked
package io.github.iree4j.spring.autoconfigure.http;

import io.github.iree4j.api.NotForApplications;
import org.jspecify.annotations.NullMarked;

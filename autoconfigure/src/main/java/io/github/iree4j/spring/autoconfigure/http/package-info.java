/** Auto-configuration of tensors as HTTP bodies and of failures as problem details. */
@NullMarked
package io.github.iree4j.spring.autoconfigure.http;

import org.jspecify.annotations.NullMarked;

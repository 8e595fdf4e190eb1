/** Auto-configuration of clients: application interfaces whose methods call programs. */
@NullMarked
package io.github.iree4j.spring.autoconfigure.client;

import org.jspecify.annotations.NullMarked;

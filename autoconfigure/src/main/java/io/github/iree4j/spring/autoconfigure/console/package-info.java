/** Auto-configuration of the console. */
@NullMarked
package io.github.iree4j.spring.autoconfigure.console;

import org.jspecify.annotations.NullMarked;

/** Auto-configuration of the {@code iree} health contributor. */
@NullMarked
package io.github.iree4j.spring.autoconfigure.health;

import org.jspecify.annotations.NullMarked;

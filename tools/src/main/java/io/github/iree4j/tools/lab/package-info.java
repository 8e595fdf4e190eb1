/** The commands of the laboratory. */
@NullMarked
package io.github.iree4j.tools.lab;

import org.jspecify.annotations.NullMarked;

/** The command line. */
@NullMarked
package io.github.iree4j.tools;

import org.jspecify.annotations.NullMarked;

/** Files named on the command line, and results as text. */
@NullMarked
package io.github.iree4j.tools.file;

import org.jspecify.annotations.NullMarked;

/** Load on whole applications. */
@NullMarked
package io.github.iree4j.load;

import org.jspecify.annotations.NullMarked;

/** Load tests of whole applications. */
@NullMarked
package io.github.iree4j.load;

import org.jspecify.annotations.NullMarked;

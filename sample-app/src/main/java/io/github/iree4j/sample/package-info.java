/** The sample: a web page that recognises handwritten digits. */
@NullMarked
package io.github.iree4j.sample;

import org.jspecify.annotations.NullMarked;

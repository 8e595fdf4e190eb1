/** Claims about processes and their executor. */
@NullMarked
package io.github.iree4j.task;

import org.jspecify.annotations.NullMarked;
